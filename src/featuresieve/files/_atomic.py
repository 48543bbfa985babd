"""A file is written whole, or not at all."""

import contextlib
import os
import tempfile
from pathlib import Path


def write_atomically(
    path: str | os.PathLike[str], data: bytes, *, draft_suffix: str = ".part"
) -> None:
    """Write bytes to a file that readers see either as it was or complete.

    The bytes go to a new file in the same folder, reach the disk, and then take the
    name. What stood there before is replaced; after an error or an interrupt it is
    untouched, and nothing half-written is left.

    Parameters
    ----------
    path : str or path-like
    data : bytes
    draft_suffix : str, default=".part"
        How the name of the new file ends before it takes its own.
    """
    check_no_nul("path", path)
    # A link is written through, not replaced.
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"path must name a file, got the folder {path}.")
    mode = _mode_of(target)
    descriptor, name = tempfile.mkstemp(
        dir=target.parent, prefix=draft_prefix(target), suffix=draft_suffix
    )
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(target)
    except BaseException:  # also an interrupt
        with contextlib.suppress(FileNotFoundError):
            Path(name).unlink()
        raise


def check_no_nul(name: str, path: str | os.PathLike[str]) -> None:
    """Refuse a path that the system cannot be asked for, and say which argument it is.

    Parameters
    ----------
    name : str
        Of the argument.
    path : str or path-like
    """
    if "\0" in os.fsdecode(path):
        raise ValueError(f"{name} must not hold a NUL character, got {str(path)!r}.")


def draft_prefix(target: Path) -> str:
    """Return how the names of drafts of a file begin; eight letters follow."""
    return f".{target.name[:100]}."


def _mode_of(target: Path) -> int:
    """Return the permissions of a file, or those that a new one gets."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)  # there is no way to read it without setting it
    os.umask(mask)
    return 0o666 & ~mask
