"""Errors of the data stage.

::

    DataError
      CatalogError           a catalogue that does not say what it should
      UnknownDatasetError    no such row in the catalogue
      MissingDataError       not in the data folder, and not to be downloaded
        OfflineError         the source cannot be reached
      CorruptDataError       a file that is not what the catalogue or its source says
      SmallDataError         too few rows, in all or of a class, to be split
"""


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
    """A file differs from what it should be."""


class SmallDataError(DataError, ValueError):
    """The rows are too few for three parts."""
