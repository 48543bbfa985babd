"""Files are written whole, or not at all."""

import errno
import io
import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import IO, Any, Self, cast

from featuresieve.errors import TableFileError

# The disk, the user's share of it, or what a file may hold.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_BINARY = getattr(os, "O_BINARY", 0)  # of Windows


def write_atomically(
    path: str | os.PathLike[str], data: bytes, *, draft_suffix: str = ".part"
) -> None:
    """Write bytes to a file that readers see either as it was or complete.

    The bytes go to a new file in the same folder, reach the disk, and then take the
    name. What stood there before is replaced; after an error or an interrupt it is
    untouched, and nothing half-written is left. Until then the name of the new file
    ends in `draft_suffix`.
    """
    check_no_nul("path", path)
    # A link is written through, not replaced.
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"path must name a file, got the folder {path}.")
    if not target.parent.is_dir():  # else the error names the draft
        raise FileNotFoundError(f"there is no folder {target.parent} for {path}.")
    is_new = not target.exists()
    mode = 0o666 if is_new else target.stat().st_mode & 0o777
    draft = target.with_name(f"{draft_prefix(target)}{token_hex(4)}{draft_suffix}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if not is_new:  # the system may have made it with less
            draft.chmod(mode)
        draft.replace(target)
    except BaseException:  # also an interrupt
        draft.unlink(missing_ok=True)
        raise


def check_no_nul(name: str, path: str | os.PathLike[str]) -> None:
    """Refuse a path, the argument `name`, that the system cannot be asked for."""
    if "\0" in os.fsdecode(path):
        raise ValueError(f"{name} must not hold a NUL character, got {str(path)!r}.")


def draft_prefix(target: Path) -> str:
    """Return how the names of drafts of a file begin; eight letters follow."""
    return f".{target.name[:100]}."


class AtomicFiles:
    """Files that appear under their names when all of them are finished.

    A draft is written beside its file. Leaving the block renames all drafts, leaving
    it by an error removes them. "-" is standard output; devices and pipes are written
    as they are.
    """

    def __init__(self) -> None:
        self._renamings: list[tuple[Path, Path]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        """Rename the drafts, or remove them."""
        try:
            if kind is None:
                for draft, path in self._renamings:
                    draft.replace(path)
        finally:
            for draft, _ in self._renamings:
                draft.unlink(missing_ok=True)

    def path(self, name: str) -> Path:
        """Return where to write a file for now, with the ending of its path."""
        path = Path(os.path.realpath(Path(name).expanduser()))
        if path.exists() and not path.is_file():
            return path
        number = len(self._renamings)
        draft = path.with_name(f".{os.getpid()}-{number}-{path.name}")
        self._renamings.append((draft, path))
        return draft

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """Give a file to write into, for the path it will have or "-"."""
        if name == "-":
            sys.stdout.flush()
            yield cast("IO[bytes]", _StandardOutput())
            sys.stdout.flush()
            return
        path, final = self.path(name), Path(name).expanduser()
        with path.open("wb") as file:
            if final.is_file():  # a file that is replaced keeps its mode
                path.chmod(stat.S_IMODE(final.stat().st_mode))
            yield file


@contextmanager
def full_disk_explained(name: str) -> Iterator[None]:
    """Turn the errors of a disk without room for a file into one that says what to do.

    It is a `TableFileError`.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise TableFileError(
            f"{name} cannot be written: the disk is full, and nothing is left of it. "
            "Make room, or name a file elsewhere."
        ) from error


class _StandardOutput(io.RawIOBase):
    """Standard output for writers that close what they have written to."""

    def writable(self) -> bool:
        """Tell that this can be written to."""
        return True

    def write(self, data: Any) -> int:
        """Write bytes."""
        return sys.stdout.buffer.write(data)


def check_output(option: str, name: str, endings: Sequence[str] = ()) -> None:
    """Refuse, before any work is done, a file that cannot be written.

    "-" can; `option`, which names the file, begins the `TableFileError`. The name may
    end in `endings`, or in anything if there are none.
    """
    if name == "-":
        return
    path = Path(name).expanduser()
    is_device = path.exists() and not path.is_file()
    problem = None
    if Path(os.path.realpath(path)).is_symlink():
        problem = f"{name} is a link that leads to itself."
    elif path.is_dir():  # so is no name at all
        problem = f"{name} is a folder." if name else "the name of the file is empty."
    elif not path.parent.is_dir():
        problem = f"there is no folder {str(path.parent)!r}."
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        problem = f"{name} may not be written: permission denied."
    elif not is_device:
        try:  # a draft beside it; root is told that it may write anywhere
            tempfile.TemporaryFile(dir=path.parent).close()
        except OSError as error:
            problem = f"{name} cannot be written: {error.strerror}."
        if problem is None and endings and path.suffix.lower() not in endings:
            problem = f"{name} must end in {', '.join(endings[:-1])} or {endings[-1]}."
    if problem is not None:
        raise TableFileError(f"{option}: {problem}")
