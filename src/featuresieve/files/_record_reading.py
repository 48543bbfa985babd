"""Tables whose cells have a type of their own: JSON, a row a line, and spreadsheets."""

import datetime
import io
import json as python_json
from collections.abc import Sequence
from itertools import chain
from typing import Any

import pyarrow as pa
from pyarrow import json

from featuresieve.errors import TableFileError, did_you_mean, listed, one_line
from featuresieve.files._dialect import no_header
from featuresieve.files._source import DAMAGED, Source

_BLOCK_BYTES = 1 << 22
_MOST_BLOCK_BYTES = 1 << 30
_LARGEST_WHOLE = 2.0**53  # larger ones are not exact in the floats of a spreadsheet


def read_json(source: Source) -> pa.Table:
    """Read JSON lines, an object a row, or one list of such objects."""
    if source.format == "JSON":
        return _from_objects(source)
    block_bytes = _BLOCK_BYTES
    while True:
        options = json.ReadOptions(block_size=block_bytes)
        try:
            with source.open() as file:
                table = json.read_json(file, options)
            table.validate(full=True)  # text may be no UTF-8
            names = table.column_names  # these too
        except DAMAGED as error:
            raise source.unreadable(error) from error
        except (pa.ArrowInvalid, UnicodeDecodeError) as error:
            if "straddling" not in str(error) or block_bytes >= _MOST_BLOCK_BYTES:
                return _from_objects(source)  # columns of several kinds, NaN, damage
            block_bytes *= 8
            continue
        if table.num_rows == 1 and any(map(pa.types.is_nested, table.schema.types)):
            raise _no_rows(source, "it is a single object")
        return table.rename_columns(names)


def _from_objects(source: Source) -> pa.Table:
    """Read JSON object by object: slower, and what differs within a column is text."""
    try:
        with source.open() as file:
            text = file.read().decode("utf-8-sig")
    except (*DAMAGED, UnicodeDecodeError) as error:
        raise source.unreadable(error) from error
    is_list = source.format == "JSON"
    rows: list[Any] = []
    for number, part in enumerate([text] if is_list else text.split("\n"), start=1):
        if not part.strip():
            continue
        where = "its list" if is_list else f"line {number}"
        try:
            value = python_json.loads(part)
        except (ValueError, RecursionError) as error:
            raise _no_rows(source, f"{where}: {one_line(error)}") from error
        found = value if is_list else [value]
        if not all(isinstance(row, dict) for row in found):
            raise _no_rows(source, f"{where} holds what is no object")
        rows += found
    names = dict.fromkeys(chain.from_iterable(rows))
    return pa.table(
        {name: as_column([row.get(name) for row in rows]) for name in names}
    )


def _no_rows(source: Source, why: str) -> TableFileError:
    """Build the error for JSON of another form."""
    return TableFileError(
        f"{source.name} is JSON, but neither an object a line nor a list of objects "
        f"({why}): convert it to CSV or Parquet first."
    )


def read_sheet(
    source: Source, sheet: str | None, skip: int
) -> tuple[list[str], list[Any], int, list[str]]:
    """Read a sheet of a workbook: headings, columns, lines to the first row, notes.

    Without a name it is the first that holds anything. The header is the first row
    with a cell that is not empty, after those to skip; empty rows are passed over.
    """
    rows, notes = _sheet_rows(source, sheet)
    is_filled = [any(cell != "" for cell in row) for row in rows]
    start = next((n for n in range(skip, len(rows)) if is_filled[n]), None)
    if start is None:
        raise no_header(source, skip)
    body = [rows[n] for n in range(start + 1, len(rows)) if is_filled[n]]
    headings = [("" if c == "" else _as_text(c)).strip() for c in rows[start]]
    columns = [[row[j] for row in body] for j in range(len(headings))]
    while not headings[-1] and all(cell == "" for cell in columns[-1]):
        headings.pop()
        columns.pop()
    filled = [[None if c == "" else c for c in cells] for cells in columns]
    return headings, list(map(as_column, filled)), start + 1, notes


def _sheet_rows(source: Source, sheet: str | None) -> tuple[list[list[Any]], list[str]]:
    """Return the cells of a sheet, "" where one is empty, and a note on the others."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError as error:
        raise TableFileError(
            f"{source.name} is a spreadsheet, which needs python-calamine: pip install "
            "'featuresieve[excel]', or save its sheet as CSV."
        ) from error
    try:
        with source.open() as file:
            book = CalamineWorkbook.from_filelike(io.BytesIO(file.read()))
        names = book.sheet_names
        if sheet is not None and sheet not in names:
            hint = did_you_mean(sheet, names)
            raise TableFileError(f"--sheet: there is no sheet {sheet!r}{hint}")
        name, rows = "", []
        for name in names if sheet is None else [sheet]:
            rows = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
            if any(cell != "" for row in rows for cell in row):
                break
    except (CalamineError, OSError) as error:
        raise source.unreadable(error) from error
    others = [other for other in names if other != name]
    if sheet is not None or not others:
        return rows, []
    return rows, [f"sheet {name!r} is read; --sheet reads {listed(others)}."]


def as_column(values: Sequence[Any]) -> Any:
    """Return values as a column of their type; of several types, as text."""
    known = [value for value in values if value is not None]
    kinds = {type(value) for value in known}
    if kinds <= {int, float}:
        is_whole = all(v == v // 1 and abs(v) < _LARGEST_WHOLE for v in known)
        kind = pa.int64() if is_whole else pa.float64()
        values = [None if v is None else int(v) if is_whole else v for v in values]
        return pa.chunked_array([pa.array(values, kind if known else pa.null())])
    if kinds == {datetime.date, datetime.datetime}:
        midnight = datetime.time()  # a day is the moment it begins
        values = [
            datetime.datetime.combine(value, midnight)
            if type(value) is datetime.date
            else value
            for value in values
        ]
        kinds = {datetime.datetime}
    if kinds & {list, dict}:  # no cell, but the column may be dropped
        nested = [None if value is None else [repr(value)] for value in values]
        return pa.chunked_array([pa.array(nested)])
    if len(kinds) > 1:
        values = [None if value is None else _as_text(value) for value in values]
    return pa.chunked_array([pa.array(values)])


def _as_text(value: Any) -> str:
    """Return a cell as it would be written in a text file."""
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if is_whole else value)
