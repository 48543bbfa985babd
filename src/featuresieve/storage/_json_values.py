"""Arguments of estimators as JSON values that remember their types, and back.

None, booleans, finite numbers, text and lists stand for themselves. Other containers
become an object with one telling key: ``{"tuple": [...]}``, ``{"set": [...]}``,
``{"dict": [[key, value], ...]}`` and ``{"array": [...], "dtype": "float64"}``; a moment
is ``{"date": ["2024-01-01T00:00:00"]}``.
"""

import datetime
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from featuresieve.errors import FileFormatError, shown
from featuresieve.storage._file_checks import Fields, require

_MAX_DEPTH = 8
# Of an array of texts in numpy, in which every one takes as much as the longest.
_MAX_CHARACTERS = 2**26
_SCALARS = (str, bool, int, float, type(None))
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_DTYPES = ("bool", *_INTEGERS, "float32", "float64", "str", "object")


def to_json_value(value: Any, name: str, depth: int = 0) -> Any:
    """Return a value for JSON; a TypeError with its name if a file cannot hold it.

    Paths become text, ranges and indexes of pandas lists.
    """
    value = _plain(value)
    is_scalar = isinstance(value, _SCALARS)
    is_endless = isinstance(value, float) and not math.isfinite(value)
    if is_endless or (depth == _MAX_DEPTH and not is_scalar):
        raise _error(value, name)
    if is_scalar:
        return value

    def each(values: Any) -> list[Any]:
        return [to_json_value(entry, name, depth + 1) for entry in values]

    if isinstance(value, datetime.datetime) and not getattr(value, "nanosecond", 0):
        return {"date": [value.isoformat()]}
    if isinstance(value, np.ndarray):
        return _array(value, name, each(value.tolist()))
    if isinstance(value, tuple):
        return {"tuple": each(value)}
    if isinstance(value, set | frozenset):
        return {"set": each(sorted(value, key=repr))}
    if isinstance(value, Mapping):
        return {"dict": [each(pair) for pair in value.items()]}
    if isinstance(value, list | range) or hasattr(value, "tolist"):
        return each(value)
    raise _error(value, name)


def _plain(value: Any) -> Any:
    """Return a scalar of numpy or of a class of its own as that of Python, or text."""
    if isinstance(value, np.generic):  # item() of a longdouble is one too
        value = float(value) if isinstance(value, np.floating) else value.item()
    elif isinstance(value, os.PathLike):
        value = os.fspath(value)
    kinds = (kind for kind in (str, bool, int, float) if isinstance(value, kind))
    kind = next(kinds, None)
    return value if kind is None else kind(value)


def fits_array(texts: Sequence[str], width: int = 0) -> bool:
    """Tell whether an array of texts, of the width of the longest, is not too large."""
    widest = max(map(len, texts), default=0)
    return max(widest, width) * len(texts) <= _MAX_CHARACTERS


def _array(value: Any, name: str, entries: list[Any]) -> dict[str, Any]:
    """Describe an array."""
    dtype = "str" if value.dtype.kind == "U" else value.dtype.name
    are_scalars = all(isinstance(entry, _SCALARS) for entry in entries)
    is_too_wide = dtype == "str" and not fits_array(entries)
    if value.ndim != 1 or dtype not in _DTYPES or not are_scalars or is_too_wide:
        raise _error(value, name)
    return {"array": entries, "dtype": dtype}


def _error(value: Any, name: str) -> TypeError:
    """Return the error for what a file cannot hold."""
    return TypeError(
        f"a saved file holds text, finite numbers, booleans, None and lists, tuples, "
        f"sets, dicts and one-dimensional arrays of these, got {name}={shown(value)}. "
        "Use pickle or joblib, or set_params with another value before you save."
    )


def from_json_value(value: Any, name: str, depth: int = 0) -> Any:
    """Return the value that `to_json_value` turned into JSON, or a FileFormatError."""
    # A dict is a list of lists in JSON.
    require(depth <= 2 * _MAX_DEPTH, f"{name} is nested too deeply.")
    if isinstance(value, _SCALARS):
        return value

    def each(values: Any) -> list[Any]:
        return [from_json_value(entry, name, depth + 1) for entry in values]

    if isinstance(value, list):
        return each(value)
    fields = Fields(value, name)
    known = ("tuple", "set", "dict", "array", "date")
    kinds = [kind for kind in known if kind in value]
    require(len(kinds) == 1, f"{name} is of no known kind.")
    (kind,) = kinds
    entries = each(fields.listed(kind))
    made: Any = tuple(entries)
    if kind == "array":
        made = _array_from(entries, fields.text("dtype", _DTYPES), name)
    elif kind == "date":
        try:
            made = datetime.datetime.fromisoformat(*entries)
        except (TypeError, ValueError):
            raise FileFormatError(f"{name} has a date that is none.") from None
    elif kind == "set":
        _require_scalars(entries, name)
        made = set(entries)
    elif kind == "dict":
        is_paired = all(isinstance(pair, list) and len(pair) == 2 for pair in entries)
        require(is_paired, f"{name} has entries that are no pairs.")
        _require_scalars([pair[0] for pair in entries], name)
        made = dict(entries)
        require(len(made) == len(entries), f"{name} has a key twice.")
    fields.finish()
    return made


def _array_from(entries: list[Any], dtype: str, name: str) -> Any:
    """Return a one-dimensional array, if its entries are of the dtype."""
    _require_scalars(entries, name)
    if dtype in _INTEGERS:
        bounds = np.iinfo(dtype)
        is_kind = all(
            type(entry) is int and bounds.min <= entry <= bounds.max
            for entry in entries
        )
    else:
        kinds: dict[str, tuple[type, ...]] = {"bool": (bool,), "str": (str,)}
        allowed = kinds.get(dtype, _SCALARS if dtype == "object" else (float,))
        is_kind = all(isinstance(entry, allowed) for entry in entries)
    require(is_kind, f"{name} has entries that are not of dtype {dtype}.")
    if dtype == "str":
        require(fits_array(entries), f"{name} has texts that are too long.")
    return np.array(entries, dtype=dtype)


def _require_scalars(entries: list[Any], name: str) -> None:
    """Refuse containers."""
    is_met = all(isinstance(entry, _SCALARS) for entry in entries)
    require(is_met, f"{name} has entries that are not single values.")
