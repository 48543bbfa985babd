"""What the files of a user may have wrong with them."""

from featuresieve.errors import FeatureSieveError


class TableFileError(FeatureSieveError, ValueError):
    """A file, a column or an option that the command cannot work with."""


def one_line(error: BaseException) -> str:
    """Return the message of an error as one line that is not too long."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else f"{text[:297]}..."
