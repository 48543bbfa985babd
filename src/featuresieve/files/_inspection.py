"""What a user should know about the columns of a table before a selection."""

from shlex import quote
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from featuresieve.errors import listed

# Fewer rows than this differ by chance.
_LEAST_ROWS = 20


def column_notes(table: pa.Table) -> list[str]:
    """Name the columns that hold nothing, the same throughout, or row numbers."""
    empty, constant, identifying = [], [], []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if column.null_count == len(column):
            empty.append(name)
            continue
        if _is_constant(column):
            constant.append(name)
        elif len(column) >= _LEAST_ROWS and _is_identifier(column):
            identifying.append(name)
    notes = []
    if empty:
        notes.append(f"empty: {listed(empty)}.")
    if constant:
        notes.append(f"the same value in every row: {listed(constant)}.")
    if identifying:
        word = "looks" if len(identifying) == 1 else "look"
        hint = " ".join(quote(name) for name in identifying[:8])
        notes.append(
            f"{listed(identifying)} {word} like a number or name of each row, which "
            f"says nothing about other rows; to leave out: --drop {hint}"
        )
    return notes


def _is_constant(column: Any) -> bool:
    """Tell whether a column without gaps has one value."""
    if column.null_count:
        return False
    if pa.types.is_dictionary(column.type):
        return len(pc.unique(column)) == 1
    first = column[0]
    return first.is_valid and bool(pc.all(pc.equal(column, first)).as_py())


def _is_identifier(column: Any) -> bool:
    """Tell whether a column numbers the rows, or has another text in each."""
    kind = column.type
    if pa.types.is_integer(kind):
        if column.null_count:
            return False
        values = column.to_numpy()
        if (values[1:] > values[:-1]).all():
            return True
        is_dense = int(values.max()) - int(values.min()) == len(values) - 1
        return is_dense and len(pc.unique(column)) == len(values)
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return bool(is_text) and bool(
        pc.count_distinct(column, mode="all").as_py() == len(column)
    )
