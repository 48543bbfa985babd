"""Reading a table file of any kind, and finding columns by name or pattern."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from shlex import quote
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import feather, ipc, parquet

from featuresieve.errors import TableFileError, did_you_mean
from featuresieve.files._column_types import ColumnHint, ColumnType, Known
from featuresieve.files._dialect import Dialect, find_dialect, skip_hint, unique_names
from featuresieve.files._record_reading import read_json, read_sheet
from featuresieve.files._source import DAMAGED, Source, open_source
from featuresieve.files._text_reading import read_text
from featuresieve.files._typed_columns import is_single_value, typed


@dataclass(frozen=True)
class Whole:
    """The files that a table is from, where it was read in parts."""

    batches: Callable[[Sequence[str]], Iterator[pa.RecordBatch]]  # of some columns
    schema: pa.Schema
    n_rows: int
    n_without_target: int = 0  # of these rows; they are not in the table
    # What each row of the table stands for; None: all for as many.
    row_weights: npt.NDArray[np.float64] | None = None


@dataclass(frozen=True)
class TableFile:
    """A table, and the file it was read from."""

    source: Source
    dialect: Dialect | None  # how it is written, if it is text
    table: pa.Table  # all columns, under names that differ
    headings: tuple[str, ...]  # what the file calls them
    notes: tuple[str, ...]  # what was found and decided, one sentence each
    whole: Whole | None = None  # None: all rows were read at once

    @property
    def n_rows(self) -> int:
        """Return the number of rows in the file."""
        return self.table.num_rows if self.whole is None else self.whole.n_rows

    def check_columns(self, names: Iterable[str]) -> None:
        """Refuse columns that hold what is no single value."""
        for name in names:
            kind = self.table.schema.field(name).type
            if not is_single_value(kind):
                what = "lists or objects" if pa.types.is_nested(kind) else kind
                raise TableFileError(
                    f"{self.source.name}: {name!r} holds {what}, and a cell must be a "
                    "number, a text, a date or a truth value; leave it out, --drop "
                    f"{quote(name)}, or give each entry a column of its own."
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
    sheet: str | None = None,
) -> Iterator[TableFile]:
    """Read a table from a file, or from standard input.

    The table is to be used within the block: what came from standard input is gone
    after it. A file that cannot be read, or not as was asked, is a `TableFileError`.

    `meanings` tells what is known of columns, `types` what columns, by name or pattern,
    must be read as, `missing` which texts count as missing beside the usual ones.
    Lines to `skip` are before the header of text or of a sheet. None is what is found:
    for `sheet` the first that holds anything.
    """
    known = Known(meanings or {}, types or {}, [text.strip() for text in missing])
    with open_source(name) as source:
        if source.format == "text":
            dialect = find_dialect(source, encoding, delimiter, skip)
            file = _read_text(source, dialect, known)
        elif source.format == "spreadsheet":
            headings, columns, n_before, notes = read_sheet(source, sheet, skip)
            known = replace(known, n_lines_before=n_before)
            file = as_known(source, headings, columns, known)
            file = replace(file, notes=(*notes, *file.notes))
        elif skip:
            raise TableFileError(
                f"--skip is for text and spreadsheets, and {name} is {source.format}."
            )
        else:
            table = read_arrow(source)
            file = as_known(source, table.column_names, table.columns, known)
        if sheet is not None and source.format != "spreadsheet":
            raise TableFileError(f"--sheet is for spreadsheets, and {name} is none.")
        if file.table.num_rows == 0 or file.table.num_columns == 0:
            what = "rows" if file.table.num_columns else "columns"
            raise TableFileError(f"{source.name} has a header but no {what}.")
        yield file


def _read_text(source: Source, dialect: Dialect, known: Known) -> TableFile:
    """Read delimited text."""
    names, _ = unique_names(dialect.headings)
    known = replace(
        _by_name(known, names),
        decimal=dialect.decimal,
        n_lines_before=dialect.n_header_lines,
    )
    columns, dialect = read_text(source, dialect, names, known)
    # What was read goes as soon as it is refined.
    found = (columns.pop(name) for name in names)
    file = as_known(source, dialect.headings, found, known)
    return replace(file, dialect=dialect)


def _by_name(known: Known, names: Sequence[str]) -> Known:
    """Put columns in the place of patterns."""
    types = {
        name: asked
        for wanted, asked in known.types.items()
        for name in find_columns("--type", [wanted], names)
    }
    return replace(known, types=types)


def as_known(
    source: Source, headings: Sequence[str], columns: Iterable[Any], known: Known
) -> TableFile:
    """Read columns that have types as what they are known to be."""
    names, notes = unique_names(headings)
    known = _by_name(known, names)
    is_written = source.format not in ("parquet", "arrow")
    table = {}
    for name, found in zip(names, columns, strict=True):
        table[name], said = typed(name, found, known, is_written=is_written)
        notes += said
    return TableFile(source, None, pa.table(table), tuple(headings), tuple(notes))


def read_arrow(source: Source) -> pa.Table:
    """Read Parquet, Feather, Arrow or JSON as it is."""
    try:
        if source.format in ("JSON lines", "JSON"):
            return read_json(source)
        with source.open() as file:
            if source.compression is not None:  # these readers must be able to jump
                file = pa.BufferReader(file.read())
            if source.format == "parquet":
                return parquet.ParquetFile(file).read()
            if source.first_bytes(4) == b"\xff\xff\xff\xff":
                return ipc.open_stream(file).read_all()
            return feather.read_table(file, memory_map=False)
    except (*DAMAGED, pa.ArrowException) as error:
        raise source.unreadable(error) from error


def find_column(option: str, name: str, file: TableFile) -> str:
    """Return the one column that has a name; an error begins with `option`."""
    n_alike = file.headings.count(name)
    if n_alike > 1:
        raise TableFileError(
            f"{option}: {file.source.name} has {n_alike} columns named {name!r}."
        )
    if name in file.table.column_names:
        return name
    error = _no_column(option, name, file.table.column_names)
    raise TableFileError(f"{error} {_hint(file)}".rstrip())


def _hint(file: TableFile) -> str:
    """Return why a file may have other columns than expected, or nothing."""
    if file.source.format == "spreadsheet":
        return "--sheet and --skip say where in a spreadsheet the table is."
    if file.dialect is None:
        return ""
    if skip := skip_hint(file.source, file.dialect):
        return skip.strip()
    if len(file.headings) == 1:
        return "If cells are separated by another character, name it with --delimiter."
    number = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?|nan|inf", re.I)
    if all(number.fullmatch(heading) for heading in file.headings if heading):
        return "The first line must name the columns, and seems to be data."
    return ""


def find_columns(option: str, wanted: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the columns that names and patterns stand for, in the order of the table.

    What is no name and has a ``*`` or ``?`` is a pattern. Errors begin with `option`.
    """
    found: set[str] = set()
    for name in wanted:
        is_pattern = name not in names and ("*" in name or "?" in name)
        matches = {
            n for n in names if n == name or (is_pattern and fnmatchcase(n, name))
        }
        if not matches:
            raise _no_column(option, name, names)
        found |= matches
    return [name for name in names if name in found]


def _no_column(option: str, name: str, names: Sequence[str]) -> TableFileError:
    """Build the error for a column that is not there, with the nearest names."""
    hint = did_you_mean(name, names, most=3)
    return TableFileError(f"{option}: there is no column {name!r}{hint}")
