"""Where data files lie: the data folder, and the cache of downloads."""

import os
from pathlib import Path


def data_folder() -> Path | None:
    """Return the folder that FEATURESIEVE_DATA names, None if it is not set."""
    setting = os.environ.get("FEATURESIEVE_DATA")
    return Path(setting).expanduser() if setting else None


def cache_folder() -> Path:
    """Return the folder that keeps downloads, by the usual rule of the platform."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "featuresieve"
