"""What a comparison refuses, in one line for the user."""


class CompareError(ValueError):
    """A file, a column or an argument that a comparison cannot work with."""
