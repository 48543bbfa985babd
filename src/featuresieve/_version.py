"""The version of the library, for modules below the public names."""

__version__ = "0.1.0"
