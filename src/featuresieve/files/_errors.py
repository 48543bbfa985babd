"""What the files of a user may have wrong with them."""

from featuresieve.errors import FeatureSieveError


class TableFileError(FeatureSieveError, ValueError):
    """A file, a column or an option that the command cannot work with."""
