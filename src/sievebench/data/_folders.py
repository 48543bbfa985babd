"""Where data files lie: the data folder, and the cache of downloads."""

import os
from pathlib import Path


def data_folder() -> Path | None:
    """Return the folder that FEATURESIEVE_DATA names, None if it is not set.

    Raises NotADirectoryError if it names something else.
    """
    setting = os.environ.get("FEATURESIEVE_DATA")
    if not setting:
        return None
    folder = Path(setting).expanduser()
    if not folder.is_dir():
        raise NotADirectoryError(
            f"FEATURESIEVE_DATA must name a folder that exists, got {setting!r}."
        )
    return folder


def cache_folder() -> Path:
    """Return the folder that keeps downloads, by the usual rule of the platform."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "featuresieve"
