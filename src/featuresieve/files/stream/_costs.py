"""What a row costs, in bytes, from being read to the end of a fit."""

from typing import Any

from featuresieve.errors import TableFileError
from featuresieve.files.stream._memory import size_text

# What a fit takes, measured: for each row, most of it for what the hundred members see
# of it, and for each encoded cell, beside what was read.
_ROW_BYTES, _ENCODED_BYTES = 2000, 20
# A cell of text is held as its bytes, once read and once as a label.
TEXT_COPIES = 3
_DATE_COLUMNS = 8
_LEAST_ROWS = 100


def array_row_cost(X: Any) -> int:
    """Return the bytes that a fit takes for a row of an array."""
    return int(_ROW_BYTES + X.shape[1] * (X.itemsize + _ENCODED_BYTES))


def row_cost(schema: Any, max_categories: int) -> int:
    """Return the bytes that a fit takes for a row of Arrow, besides those of its text.

    It depends on the types alone: on nothing that comes batch by batch.
    """
    from pyarrow import types

    from featuresieve.files._typed_columns import is_text

    total = float(_ROW_BYTES)
    for field in schema:
        n_columns = 1
        if is_text(field.type) or types.is_dictionary(field.type):
            n_columns = max_categories + 1
        elif types.is_temporal(field.type):
            n_columns = _DATE_COLUMNS
        total += cell_bytes(field.type) + _ENCODED_BYTES * n_columns
    return int(total)


def cell_bytes(kind: Any) -> float:
    """Return the memory of a cell; of text, that of its place."""
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.index_type
    try:
        return float(kind.bit_width / 8)
    except ValueError:  # no fixed width
        return 16.0


def check_memory(memory: float, cost: float) -> None:
    """Refuse a memory in which no selection is possible."""
    if memory < _LEAST_ROWS * cost:
        raise TableFileError(
            f"memory must be at least {size_text(_LEAST_ROWS * cost)}, which hold "
            f"{_LEAST_ROWS} of these rows, got {size_text(memory)}."
        )
