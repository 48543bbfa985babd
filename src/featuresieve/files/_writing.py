"""Writing files whole or not at all, and the reduced table."""

import io
import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, Self, cast

import pyarrow as pa
from pyarrow import csv, feather, parquet

from featuresieve.files._arrow_types import as_usual
from featuresieve.files._errors import TableFileError
from featuresieve.files._reading import TableFile, read_arrow
from featuresieve.files._source import Compression, packed
from featuresieve.files._text_copy import copy_columns

Kind = Literal["text", "parquet", "feather"]
_ENDINGS: dict[str, Kind] = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt", ".dat", ".data"), "text"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".feather", ".arrow", ".ipc"), "feather"),
}
_COMPRESSED: dict[str, Compression] = {
    **{".gz": "gz", ".bz2": "bz2", ".xz": "xz", ".zip": "zip"},
    **{".zst": "zst", ".zstd": "zst"},
}


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
        """Return where to write a file for now.

        Parameters
        ----------
        name : str
            The path it will have.

        Returns
        -------
        Path
            With the same ending.
        """
        path = Path(os.path.realpath(Path(name).expanduser()))
        if path.exists() and not path.is_file():
            return path
        number = len(self._renamings)
        draft = path.with_name(f".{os.getpid()}-{number}-{path.name}")
        self._renamings.append((draft, path))
        return draft

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """Give a file to write into.

        Parameters
        ----------
        name : str
            The path it will have, or "-".

        Yields
        ------
        binary file
        """
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


def check_table_output(option: str, name: str) -> None:
    """Refuse, before any work is done, a table that cannot be written.

    Parameters
    ----------
    option : str
        The option that names it, for the error.
    name : str
        The file, or "-".

    Raises
    ------
    TableFileError
        If the folder is not there or the ending is unknown.
    """
    check_output(option, name)
    if name != "-" and not (Path(name).exists() and not Path(name).is_file()):
        _kind_of(option, name)


def write_columns(
    file: TableFile, places: Sequence[int], name: str, drafts: AtomicFiles
) -> None:
    """Write some columns of a file, in the format that the ending names.

    Text stays text, letter by letter; Parquet and Feather keep their types.

    Parameters
    ----------
    file : TableFile
        The original.
    places : sequence of int
        Positions of the columns.
    name : str
        The new file, or "-" for text on standard output.
    drafts : AtomicFiles
        Where it is prepared.
    """
    kind, compression = _kind_of("--out", name)
    if kind == "text" and file.dialect is not None:
        delimiter = _delimiter(name, file.dialect.delimiter)
        with drafts.open(name) as raw, packed(raw, compression, _member(name)) as out:
            copy_columns(file.source, file.dialect, places, out, delimiter)
        return
    table = file.table if file.dialect is not None else read_arrow(file.source)
    table = table.select(list(places))
    metadata = {
        k: v for k, v in (table.schema.metadata or {}).items() if k != b"pandas"
    }
    write_table(table.replace_schema_metadata(metadata or None), name, drafts)


def write_table(table: pa.Table, name: str, drafts: AtomicFiles) -> None:
    """Write a table in the format that the ending names.

    Parameters
    ----------
    table : pyarrow.Table
        What to write.
    name : str
        The file, or "-" for CSV on standard output.
    drafts : AtomicFiles
        Where it is prepared.
    """
    kind, compression = _kind_of("--out", name)
    with drafts.open(name) as raw, packed(raw, compression, _member(name)) as out:
        if kind == "parquet":
            parquet.write_table(table, out)
        elif kind == "feather":
            feather.write_feather(table, cast("Any", out))
        else:
            delimiter = _delimiter(name, ",")
            options = csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
            csv.write_csv(_plain(table), out, options)


def _plain(table: pa.Table) -> pa.Table:
    """Return a table with text in place of categories, which CSV has not."""
    columns = [
        column.cast(column.type.value_type)
        if pa.types.is_dictionary(column.type)
        else column
        for column in map(as_usual, table.columns)
    ]
    return pa.table(columns, names=table.column_names)


def _kind_of(option: str, name: str) -> tuple[Kind, Compression | None]:
    """Return the format and the compression that the endings of a name ask for."""
    path = Path(name)
    if name == "-" or (path.exists() and not path.is_file()):
        return "text", None
    endings = [ending.lower() for ending in path.suffixes]
    compression = _COMPRESSED.get(endings[-1]) if endings else None
    if compression is not None:
        endings.pop()
    kind = _ENDINGS.get(endings[-1]) if endings else None
    if kind is None or (compression is not None and kind != "text"):
        raise TableFileError(
            f"{option}: {name} must end in .csv, .tsv (also .gz, .bz2, .xz, .zip or "
            ".zst after it), .parquet or .feather."
        )
    return kind, compression


def _delimiter(name: str, original: str) -> str:
    """Return the delimiter for a text file of this name."""
    endings = {ending.lower() for ending in Path(name).suffixes}
    if endings & {".tsv", ".tab"}:
        return "\t"
    return "," if ".csv" in endings and original == "\t" else original


def _member(name: str) -> str:
    """Return the name of a file inside its archive."""
    path = Path(name)
    return path.stem if path.suffix.lower() in _COMPRESSED else path.name
