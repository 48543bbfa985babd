"""Keys of a TOML file: what each may hold, and what is said of a mistake."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

from featuresieve.errors import did_you_mean, shown


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


def is_int(value: Any, least: float, most: float = math.inf) -> bool:
    """Tell whether a value is a whole number within bounds; true and false are none."""
    return type(value) is int and least <= value <= most


def is_text(value: Any) -> bool:
    """Tell whether a value is a text that says something."""
    return isinstance(value, str) and bool(value.strip())


def is_list_of(value: Any, fits: Callable[[Any], bool]) -> bool:
    """Tell whether a value is a list of such things."""
    return isinstance(value, list) and all(map(fits, value))


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
