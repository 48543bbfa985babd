"""Errors of the data stage."""


class DataError(Exception):
    """Anything that keeps a data set from being loaded."""


class CatalogError(DataError, ValueError):
    """A catalogue has a mistake."""


class UnknownDatasetError(DataError, ValueError):
    """The catalogue has no row of this name."""


class MissingDataError(DataError):
    """The data set is not at hand, and the message says how to get it."""


class OfflineError(MissingDataError):
    """The source did not answer."""


class CorruptDataError(DataError):
    """A file differs from what the catalogue or its source says."""


class SmallDataError(DataError, ValueError):
    """The rows are too few, in all or of a class, for three parts."""
