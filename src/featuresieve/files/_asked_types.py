"""Columns as the user says they are to be read, or an error that names the cell."""

from collections.abc import Sequence
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from featuresieve.files._column_types import ColumnType
from featuresieve.files._errors import TableFileError
from featuresieve.files._text_columns import (
    ColumnHint,
    refined,
    unreadable_dates,
    without_marks,
)

_MEANINGS: dict[ColumnType, ColumnHint] = {
    "number": "number",
    "category": "text",
    "date": "date",
    "text": "text",
}


def meaning_of(asked: ColumnType) -> ColumnHint:
    """Return what a type that was asked for says of the cells."""
    return _MEANINGS[asked]


def read_as(
    name: str,
    column: Any,
    asked: ColumnType,
    *,
    decimal: str = ".",
    missing: Sequence[str] = (),
    n_lines_before: int = 0,
) -> tuple[Any, list[str]]:
    """Read a column as the type that was asked for, and return it with notes."""
    meaning = meaning_of(asked)
    if has_meaning(column, meaning):
        return refined(name, column, decimal, meaning)
    text = without_marks(pc.cast(column, pa.string()), missing)
    found, notes = refined(name, text, decimal, meaning)
    is_lost = pc.and_(pc.is_valid(text), pc.is_null(found))
    if meaning == "date" and found.type == pa.string():
        is_lost = unreadable_dates(text)
    row = pc.index(is_lost, True).as_py()
    if row >= 0:
        value = text[row].as_py()
        raise TableFileError(
            f"--type {name}={asked}: {value!r} in row {n_lines_before + row + 1} is no "
            f"{asked}; --missing {value!r} takes such cells as missing."
        )
    return found, notes


def has_meaning(column: Any, meaning: ColumnHint) -> bool:
    """Tell whether the type of a column is that of numbers, dates or text."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    match meaning:
        case "number":
            found = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        case "date":
            found = pa.types.is_date(kind) or pa.types.is_timestamp(kind)
        case _:
            found = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return cast("bool", found)
