"""Files to write, tried before any work is done."""

from collections.abc import Sequence
from pathlib import Path


class OutputError(ValueError):
    """A file cannot be written; the message says which, and why."""


def check_output(option: str, path: Path, endings: Sequence[str] = ()) -> None:
    """Raise OutputError if a file cannot be written; leave it as it is.

    Parameters
    ----------
    option : str
        The argument that names the file.
    path : Path
    endings : sequence of str, default=()
        What its name may end in; nothing allows all.
    """
    if endings and path.suffix not in endings:
        raise OutputError(
            f"{option} must end in {' or '.join(endings)}, got {str(path)!r}."
        )
    if path.is_dir():
        raise OutputError(f"{option}: {str(path)!r} is a folder.")
    if not path.parent.is_dir():
        raise OutputError(f"{option}: there is no folder {str(path.parent)!r}.")
    is_new = not path.exists()
    if not is_new and not path.is_file():  # a device or a pipe: writing is heard
        return
    try:
        # Not os.access: it lets root write where nobody can.
        path.open("ab").close()
    except OSError as error:
        raise OutputError(
            f"{option}: {str(path)!r} cannot be written: {error.strerror}."
        ) from error
    if is_new:
        path.unlink()
