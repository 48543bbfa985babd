"""Types of columns that Arrow files may have, and pyarrow hardly computes with."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

# By name, as an older pyarrow does not have all of them.
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
        return column


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
