"""Columns that have a type: as pyarrow computes with it, and as the user asks for."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from featuresieve.errors import TableFileError
from featuresieve.files._column_types import ColumnHint, ColumnType, Known, Noted
from featuresieve.files._text_columns import refined, unreadable_dates, without_marks

# Types that pyarrow hardly computes with, by name: an older one does not have them all.
_USUAL = {
    "halffloat": pa.float32(),
    "string_view": pa.large_string(),
    "binary_view": pa.large_binary(),
}


def as_usual(column: Any) -> Any:
    """Return a column with the usual type of its values; as it is, if that fails."""
    kind = column.type
    try:
        if str(kind).startswith("run_end_encoded"):
            return as_usual(pc.run_end_decode(column))
        usual = _usual_type(kind)
        return column if usual == kind else column.cast(usual)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return _widened_halves(column) if "halffloat" in str(kind) else column


def decoded(column: Any) -> Any:
    """Return a column with its values in place of their codes, if it has such."""
    is_coded = pa.types.is_dictionary(column.type)
    return column.cast(column.type.value_type) if is_coded else column


def _widened_halves(column: Any) -> Any:
    """Return a column of half floats, perhaps coded, as pyarrow < 16 cannot."""
    if pa.types.is_dictionary(column.type):
        parts = [chunk.dictionary_decode() for chunk in column.chunks]
        column = pa.chunked_array(parts, type=pa.float16())
    elif isinstance(column.type, pa.BaseExtensionType):
        parts = [chunk.storage for chunk in column.chunks]
        column = pa.chunked_array(parts, type=column.type.storage_type)
    is_missing = column.is_null().to_numpy()
    values = np.asarray(column.to_numpy(), dtype=np.float32)
    return pa.chunked_array([pa.array(values, mask=is_missing)])


def _usual_type(kind: Any) -> Any:
    """Return the type to compute with."""
    if isinstance(kind, pa.BaseExtensionType):
        return _usual_type(kind.storage_type)
    if pa.types.is_dictionary(kind):
        usual = _usual_type(kind.value_type)
        return kind if usual == kind.value_type else usual
    return _USUAL.get(str(kind), kind)


def is_single_value(kind: Any) -> bool:
    """Tell whether a cell holds one number, text, date or truth value: no bytes."""
    is_binary = (
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
    )
    return not (is_binary or pa.types.is_nested(kind) or str(kind) in _USUAL)


def is_number(kind: Any) -> bool:
    """Tell whether a type is that of whole numbers or floats."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def is_text(kind: Any) -> bool:
    """Tell whether a type is that of text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def typed(name: str, column: Any, known: Known, *, is_written: bool) -> Noted:
    """Return a column that has a type as what it is known to be, and notes.

    Text that is written, by hand or by a program, may hold numbers as text files do.
    """
    column = as_usual(column)
    kind, meaning, missing = column.type, known.meanings.get(name), known.missing
    if not is_single_value(kind):  # an error unless it is dropped
        return column, []
    if is_written:
        column = without_marks(column, missing)
    if name in known.types:
        return read_as(name, column, known)
    if pa.types.is_floating(kind) or (is_written and is_text(kind)):
        return refined(name, column, known.decimal, meaning)
    if is_text(kind) and missing:
        is_mark = pc.is_in(pc.utf8_trim_whitespace(column), pa.array(missing, kind))
        column = pc.if_else(is_mark, pa.scalar(None, kind), column)
    if meaning in (None, "label") or _has_meaning(kind, meaning):
        return column, []
    if not (is_text(kind) or pa.types.is_integer(kind)):
        return column, []
    text = without_marks(pc.cast(column, pa.string()), missing)
    return refined(name, text, known.decimal, meaning)


def meaning_of(asked: ColumnType) -> ColumnHint:
    """Return what a type that was asked for says of the cells."""
    return "text" if asked == "category" else asked


def read_as(name: str, column: Any, known: Known) -> Noted:
    """Read a column as the type that was asked for, and return it with notes."""
    asked = known.types[name]
    meaning = meaning_of(asked)
    if _has_meaning(column.type, meaning):
        return refined(name, column, known.decimal, meaning)
    text = without_marks(pc.cast(column, pa.string()), known.missing)
    found, notes = refined(name, text, known.decimal, meaning)
    is_lost = pc.and_(pc.is_valid(text), pc.is_null(found))
    if meaning == "date" and found.type == pa.string():
        is_lost = unreadable_dates(text)
    row = pc.index(is_lost, True).as_py()
    if row >= 0:
        value, line = text[row].as_py(), known.n_lines_before + row + 1
        raise TableFileError(
            f"--type {name}={asked}: {value!r} in row {line} is no {asked}; --missing "
            f"{value!r} takes such cells as missing."
        )
    return found, notes


def _has_meaning(kind: Any, meaning: ColumnHint | None) -> bool:
    """Tell whether a type is that of numbers, dates or text."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if meaning == "number":
        return is_number(kind)
    if meaning == "date":
        return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))
    return is_text(kind)
