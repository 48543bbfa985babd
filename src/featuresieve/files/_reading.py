"""Reading a table file of any kind."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import feather, ipc, parquet

from featuresieve.files._arrow_types import as_usual, is_single_value
from featuresieve.files._asked_types import has_meaning, read_as
from featuresieve.files._column_types import ColumnType
from featuresieve.files._dialect import Dialect, find_dialect, unique_names
from featuresieve.files._errors import TableFileError
from featuresieve.files._naming import find_columns
from featuresieve.files._source import DAMAGED, Source, open_source
from featuresieve.files._text_columns import ColumnHint, finite, refined, without_marks
from featuresieve.files._text_reading import read_text


@dataclass(frozen=True)
class TableFile:
    """A table, and the file it was read from."""

    source: Source
    dialect: Dialect | None  # how it is written, if it is text
    table: pa.Table  # all columns, under names that differ
    headings: tuple[str, ...]  # what the file calls them
    notes: tuple[str, ...]  # what was found and decided, one sentence each

    def check_columns(self, names: Iterable[str]) -> None:
        """Refuse columns that hold what is no single value."""
        for name in names:
            kind = self.table.schema.field(name).type
            if not is_single_value(kind):
                raise TableFileError(
                    f"{self.source.name}: {name!r} holds {kind}, and a cell must be a "
                    "number, a text, a date or a truth value; leave it out: --drop."
                )


@contextmanager
def read_file(
    name: str,
    *,
    meanings: Mapping[str, ColumnHint] | None = None,
    types: Mapping[str, ColumnType] | None = None,
    missing: Sequence[str] = (),
    encoding: str | None = None,
    delimiter: str | None = None,
    skip: int = 0,
) -> Iterator[TableFile]:
    """Read a table from a file, or from standard input.

    Parameters
    ----------
    name : str
        A path, or "-".
    meanings : mapping or None, default=None
        What is known of columns: "label" (words beside numbers are labels), "text" (all
        is text), "number" (what is no number is missing) or "date".
    types : mapping or None, default=None
        What columns, by name or pattern, must be read as: "number", "category", "date"
        or "text".
    missing : sequence of str, default=()
        Texts that count as missing, beside the usual ones.
    encoding, delimiter : str or None, default=None
        How text is written; found if None.
    skip : int, default=0
        Lines before the header of a text file.

    Yields
    ------
    TableFile
        To be used within the block: what came from standard input is gone after it.

    Raises
    ------
    TableFileError
        If there is no such file, or it cannot be read, or not as was asked.
    """
    known = meanings or {}, types or {}, [text.strip() for text in missing]
    with open_source(name) as source:
        if source.format == "text":
            dialect = find_dialect(source, encoding, delimiter, skip)
            yield _read_text(source, dialect, *known)
        elif skip:
            raise TableFileError(f"--skip is for text, and {name} is {source.format}.")
        else:
            yield _read_typed(source, *known)


def _read_text(
    source: Source,
    dialect: Dialect,
    meanings: Mapping[str, ColumnHint],
    types: Mapping[str, ColumnType],
    missing: Sequence[str],
) -> TableFile:
    """Read delimited text."""
    names, notes = unique_names(dialect.headings)
    table, dialect, said = read_text(
        *(source, dialect, names, meanings),
        types=_types_by_name(types, names),
        missing=missing,
    )
    _check_size(source, table)
    return TableFile(source, dialect, table, dialect.headings, (*notes, *said))


def _types_by_name(
    types: Mapping[str, ColumnType], names: Sequence[str]
) -> dict[str, ColumnType]:
    """Return the types of the columns that names and patterns stand for."""
    return {
        name: asked
        for wanted, asked in types.items()
        for name in find_columns("--type", [wanted], names)
    }


def _read_typed(
    source: Source,
    meanings: Mapping[str, ColumnHint],
    types: Mapping[str, ColumnType],
    missing: Sequence[str],
) -> TableFile:
    """Read a file that knows the types of its columns."""
    try:
        table = read_arrow(source)
    except (*DAMAGED, pa.ArrowException) as error:
        raise source.unreadable(error) from error
    headings = tuple(table.column_names)
    names, notes = unique_names(headings)
    columns = {}
    types = _types_by_name(types, names)
    for name, found in zip(names, table.columns, strict=True):
        column = as_usual(found)
        if not is_single_value(column.type):  # an error unless it is dropped
            columns[name] = column
            continue
        columns[name], said = _typed(
            name, column, meanings.get(name), types.get(name), missing
        )
        notes += said
    table = pa.table(columns)
    _check_size(source, table)
    return TableFile(source, None, table, headings, tuple(notes))


def _typed(
    name: str,
    column: Any,
    meaning: ColumnHint | None,
    asked: ColumnType | None,
    missing: Sequence[str],
) -> tuple[Any, list[str]]:
    """Return a column that has a type as what it is known to be, and notes."""
    if asked is not None:
        return read_as(name, column, asked, missing=missing)
    kind = column.type
    if pa.types.is_floating(kind):
        return finite(name, column)
    is_text = has_meaning(column, "text") and not pa.types.is_dictionary(kind)
    if is_text and missing:
        is_mark = pc.is_in(pc.utf8_trim_whitespace(column), pa.array(missing, kind))
        column = pc.if_else(is_mark, pa.scalar(None, kind), column)
    if meaning in (None, "label") or has_meaning(column, meaning):
        return column, []
    if not (is_text or pa.types.is_integer(kind)):
        return column, []
    text = without_marks(pc.cast(column, pa.string()), missing)
    return refined(name, text, ".", meaning)


def read_arrow(source: Source) -> pa.Table:
    """Read Parquet, Feather or Arrow as it is."""
    with source.open() as file:
        if source.compression is not None:  # these readers must be able to jump
            file = pa.BufferReader(file.read())
        if source.format == "parquet":
            return parquet.ParquetFile(file).read()
        if source.first_bytes(4) == b"\xff\xff\xff\xff":
            return ipc.open_stream(file).read_all()
        return feather.read_table(file, memory_map=False)


def _check_size(source: Source, table: pa.Table) -> None:
    """Refuse a table without rows or columns."""
    if table.num_rows == 0 or table.num_columns == 0:
        what = "rows" if table.num_columns else "columns"
        raise TableFileError(f"{source.name} has a header but no {what}.")
