"""Reading a table file of any kind."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa
from pyarrow import feather, ipc, parquet

from featuresieve._tablefile._dialect import Dialect, find_dialect, unique_names
from featuresieve._tablefile._errors import TableFileError
from featuresieve._tablefile._source import DAMAGED, Source, open_source
from featuresieve._tablefile._text_columns import Meaning, finite
from featuresieve._tablefile._text_reading import read_text


@dataclass(frozen=True)
class TableFile:
    """A table, and the file it was read from.

    Attributes
    ----------
    source : Source
        The file.
    dialect : Dialect or None
        How it is written, if it is text.
    table : pyarrow.Table
        All columns, under names that differ.
    headings : tuple of str
        What the file calls them.
    notes : tuple of str
        What was found and decided on reading, one sentence each.
    """

    source: Source
    dialect: Dialect | None
    table: pa.Table
    headings: tuple[str, ...]
    notes: tuple[str, ...]


@contextmanager
def read_file(
    name: str,
    *,
    meanings: Mapping[str, Meaning] | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
) -> Iterator[TableFile]:
    """Read a table from a file, or from standard input.

    Parameters
    ----------
    name : str
        A path, or "-".
    meanings : mapping or None, default=None
        What is known of columns of text files: "label" (words beside numbers are
        labels), "text" (all is text) or "number" (what is no number is missing).
    encoding, delimiter : str or None, default=None
        How text is written; found if None.

    Yields
    ------
    TableFile
        To be used within the block: what came from standard input is gone after it.

    Raises
    ------
    TableFileError
        If there is no such file, or it cannot be read.
    """
    with open_source(name) as source:
        if source.format == "text":
            yield _read_text(source, meanings or {}, encoding, delimiter)
        else:
            yield _read_typed(source)


def _read_text(
    source: Source,
    meanings: Mapping[str, Meaning],
    encoding: str | None,
    delimiter: str | None,
) -> TableFile:
    """Read delimited text."""
    dialect = find_dialect(source, encoding, delimiter)
    names, notes = unique_names(dialect.headings)
    table, dialect, said = read_text(source, dialect, names, meanings)
    _check_size(source, table)
    return TableFile(source, dialect, table, dialect.headings, (*notes, *said))


def _read_typed(source: Source) -> TableFile:
    """Read a file that knows the types of its columns."""
    try:
        table = read_arrow(source)
    except (*DAMAGED, pa.ArrowException) as error:
        raise source.unreadable(error) from error
    headings = tuple(table.column_names)
    names, notes = unique_names(headings)
    columns = {}
    for name, column in zip(names, table.columns, strict=True):
        if _is_nested(column.type):
            raise TableFileError(
                f"{source.name}: {name!r} holds {column.type}, and a cell must be a "
                "number, a text, a date or a truth value."
            )
        if pa.types.is_floating(column.type):
            column, said = finite(name, column)
            notes += said
        columns[name] = column
    table = pa.table(columns)
    _check_size(source, table)
    return TableFile(source, None, table, headings, tuple(notes))


def read_arrow(source: Source) -> pa.Table:
    """Read Parquet, Feather or Arrow as it is.

    Parameters
    ----------
    source : Source
        Such a file.

    Returns
    -------
    pyarrow.Table
    """
    with source.open() as file:
        if source.compression is not None:  # these readers must be able to jump
            file = pa.BufferReader(file.read())
        if source.format == "parquet":
            return parquet.ParquetFile(file).read()
        if source.first_bytes(4) == b"\xff\xff\xff\xff":
            return ipc.open_stream(file).read_all()
        return feather.read_table(file, memory_map=False)


def _is_nested(kind: pa.DataType) -> bool:
    """Tell whether cells hold more than one value, or bytes."""
    is_binary = (
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
    )
    return bool(pa.types.is_nested(kind) or is_binary)


def _check_size(source: Source, table: pa.Table) -> None:
    """Refuse a table without rows or columns."""
    if table.num_rows == 0 or table.num_columns == 0:
        what = "rows" if table.num_columns else "columns"
        raise TableFileError(f"{source.name} has a header but no {what}.")
