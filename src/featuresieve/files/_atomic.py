"""Files are written whole, or not at all."""

import contextlib
import io
import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, cast

from featuresieve.files._errors import TableFileError


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
    """Refuse a path, the argument `name`, that the system cannot be asked for."""
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
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

    Parameters
    ----------
    option : str
        The option that names it, for the error.
    name : str
        The file, or "-".
    endings : sequence of str, default=()
        What the name may end in; anything if empty.

    Raises
    ------
    TableFileError
        If the folder is not there or the ending is none of these.
    """
    if name == "-":
        return
    path = Path(name).expanduser()
    if Path(os.path.realpath(path)).is_symlink():
        raise TableFileError(f"{option}: {name} is a link that leads to itself.")
    if path.is_dir():
        raise TableFileError(f"{option}: {name} is a folder.")
    if not path.parent.is_dir():
        raise TableFileError(f"{option}: there is no folder {str(path.parent)!r}.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise TableFileError(f"{option}: {name} may not be written: permission denied.")
    is_device = path.exists() and not path.is_file()
    if not is_device:
        try:  # a draft beside it; root is told that it may write anywhere
            tempfile.TemporaryFile(dir=path.parent).close()
        except OSError as error:
            raise TableFileError(
                f"{option}: {name} cannot be written: {error.strerror}."
            ) from error
    if endings and not is_device and path.suffix.lower() not in endings:
        raise TableFileError(
            f"{option}: {name} must end in {', '.join(endings[:-1])} or {endings[-1]}."
        )
