"""Writing the reduced table."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Literal

import pyarrow as pa
from pyarrow import csv, ipc, parquet

from featuresieve.errors import TableFileError
from featuresieve.files._atomic import (
    AtomicFiles,
    check_output,
    full_disk_explained,
)
from featuresieve.files._reading import TableFile, read_arrow
from featuresieve.files._source import Compression, packed
from featuresieve.files._text_copy import copy_columns
from featuresieve.files._typed_columns import as_usual, decoded

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


def check_table_output(option: str, name: str) -> None:
    """Refuse, before any work is done, a table that cannot be written."""
    check_output(option, name)
    _kind_of(option, name)


def write_columns(
    file: TableFile, indices: Sequence[int], name: str, drafts: AtomicFiles
) -> None:
    """Write some columns of a file, in the format that the ending names.

    Text stays text, letter by letter; Parquet and Feather keep their types.
    """
    kind, _ = _kind_of("--out", name)
    if file.whole is not None:
        present = file.whole.schema.names
        names = [present[j] for j in indices]
        with table_writer(name, drafts) as write:
            for batch in file.whole.batches(names):
                write(pa.Table.from_batches([batch]))
        return
    if kind == "text" and file.dialect is not None:
        delimiter = _delimiter(name, file.dialect.delimiter)
        with _opened(name, drafts) as out:
            copy_columns(file.source, file.dialect, indices, out, delimiter)
        return
    keeps_types = file.source.format in ("parquet", "arrow")
    table = read_arrow(file.source) if keeps_types else file.table
    table = table.select(list(indices))
    write_table(_of_pandas(table), name, drafts)


def _of_pandas(table: pa.Table) -> pa.Table:
    """Return a table with what pandas noted of these columns alone.

    It restores names that are numbers from it, and the index.
    """
    metadata = dict(table.schema.metadata or {})
    try:
        about, names = json.loads(metadata.pop(b"pandas")), {*table.column_names}
        about["columns"] = [c for c in about["columns"] if c["field_name"] in names]
        index = about["index_columns"]
        about["index_columns"] = [i for i in index if isinstance(i, dict) or i in names]
        metadata[b"pandas"] = json.dumps(about).encode()
    except (KeyError, TypeError, ValueError):  # nothing, or written by others
        pass
    return table.replace_schema_metadata(metadata or None)


def write_table(table: pa.Table, name: str, drafts: AtomicFiles) -> None:
    """Write a table in the format that the ending names."""
    with table_writer(name, drafts) as write:
        write(table)


@contextmanager
def table_writer(
    name: str, drafts: AtomicFiles
) -> Iterator[Callable[[pa.Table], None]]:
    """Give a function that writes a table part by part, in the format of its ending."""
    kind, _ = _kind_of("--out", name)
    writers: list[Any] = []

    def write(part: pa.Table) -> None:
        part = part if kind != "text" else _plain(part)
        if not writers:  # it wants to know the types
            writers.append(_writer(kind, out, part.schema, name))
        writers[0].write_table(part)

    with _opened(name, drafts) as out:
        try:
            yield write
            for writer in writers:
                writer.close()
        except BaseException:  # the file will be removed
            for writer in writers:
                with suppress(OSError, pa.ArrowException):
                    writer.close()
                if isinstance(writer, parquet.ParquetWriter):
                    writer.is_open = False  # else it tries again when it is collected
            raise


@contextmanager
def _opened(name: str, drafts: AtomicFiles) -> Iterator[IO[bytes]]:
    """Give a file to write into, compressed if its name says so."""
    _, compression = _kind_of("--out", name)
    path = Path(name)
    member = path.stem if path.suffix.lower() in _COMPRESSED else path.name
    with (
        full_disk_explained(name),
        drafts.open(name) as raw,
        packed(raw, compression, member) as out,
    ):
        yield out


def _writer(kind: Kind, out: Any, schema: pa.Schema, name: str) -> Any:
    """Return what writes tables of a schema, one after the other."""
    if kind == "parquet":
        return parquet.ParquetWriter(out, schema)
    if kind == "feather":
        options = ipc.IpcWriteOptions(compression="lz4", unify_dictionaries=True)
        return ipc.new_file(out, schema, options=options)
    delimiter = _delimiter(name, ",")
    plain = csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
    return csv.CSVWriter(out, schema, write_options=plain)


def _plain(table: pa.Table) -> pa.Table:
    """Return a table with text in place of categories, which CSV has not."""
    columns = [decoded(as_usual(column)) for column in table.columns]
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
