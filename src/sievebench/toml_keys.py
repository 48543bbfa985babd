"""Keys of a TOML file: what each may hold, and what is said of a mistake."""

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin
from typing import get_type_hints as type_hints

from featuresieve.errors import LARGEST_INTEGER, did_you_mean, shown


class Key(NamedTuple):
    """What a key may hold: in words, after "must be", and as a test."""

    allowed: str
    fits: Callable[[Any], bool]


def one_of(names: Iterable[str]) -> Key:
    """Return the key of a closed set of names."""
    known = tuple(names)
    return Key(
        f"one of {', '.join(known)}",
        lambda value: isinstance(value, str) and value in known,
    )


def is_int(value: Any, least: float, most: float = LARGEST_INTEGER) -> bool:
    """Tell whether a value is a whole number within bounds; true and false are none."""
    return type(value) is int and least <= value <= most


def is_text(value: Any) -> bool:
    """Tell whether a value is a text that says something."""
    return isinstance(value, str) and bool(value.strip())


def is_list_of(value: Any, fits: Callable[[Any], bool]) -> bool:
    """Tell whether a value is a list of such things."""
    return isinstance(value, list) and all(map(fits, value))


def whole(least: int) -> Key:
    """Return the key of a whole number."""
    allowed = f"an int >= {least} and <= {LARGEST_INTEGER}"
    return Key(allowed, lambda value: is_int(value, least))


Flag = Annotated[bool, Key("true or false", lambda value: isinstance(value, bool))]
TEXT = Key("a text", is_text)


def keys_of(kind: type[Any]) -> dict[str, Key]:
    """Return the keys of a dataclass: fields annotated with one, or with a Literal."""
    keys: dict[str, Key] = {}
    for name, hint in type_hints(kind, include_extras=True).items():
        if get_origin(hint) is Annotated:
            keys[name] = hint.__metadata__[0]
        elif get_origin(hint) is Literal:
            keys[name] = one_of(get_args(hint))
    return keys


def check_fields(table: Mapping[str, Any], kind: type[Any], where: str = "") -> None:
    """Check the keys of a dataclass; those without a default are required."""
    required = {
        field.name
        for field in dataclasses.fields(kind)
        if field.default is field.default_factory is dataclasses.MISSING
    }
    check_keys(table, keys_of(kind), required, where)


def check_keys(
    table: Mapping[str, Any],
    keys: Mapping[str, Key],
    required: Collection[str],
    where: str = "",
) -> None:
    """Raise ValueError for unknown and missing keys, and values that do not fit."""
    for name in table:
        if name not in keys:
            hint = did_you_mean(name, keys)
            raise ValueError(f"unknown key {where + name!r}{hint}")
    for name, key in keys.items():
        if name not in table:
            if name in required:
                raise ValueError(f"{where}{name} is missing: {key.allowed}.")
        elif not key.fits(table[name]):
            raise ValueError(
                f"{where}{name} must be {key.allowed}, got {shown(table[name])}."
            )
