"""Whether the values of a record are of the kinds that its fields say."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


def check_kinds(record: Any) -> None:
    """Raise TypeError if a field of a dataclass is not what its annotation says."""
    hints = get_type_hints(type(record))
    for item in fields(record):
        value = getattr(record, item.name)
        if not _is_kind(value, hints[item.name]):
            raise TypeError(f"{item.name} cannot be {value!r:.80}.")


def _is_kind(value: Any, hint: Any) -> bool:
    """Tell whether a value is what an annotation says."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return value in inner
    if origin in (Union, UnionType):
        return any(_is_kind(value, each) for each in inner)
    if origin is tuple:  # of any length, of one kind
        is_tuple = isinstance(value, tuple)
        return is_tuple and all(_is_kind(each, inner[0]) for each in value)
    if origin is Mapping:
        return isinstance(value, Mapping)
    if is_dataclass(hint) and isinstance(value, hint):  # type: ignore[arg-type]
        check_kinds(value)
    if hint in (int, float) and isinstance(value, bool):
        return False
    return isinstance(value, int | float if hint is float else hint)
