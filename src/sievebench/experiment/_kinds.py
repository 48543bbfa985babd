"""What each key of an experiment file may hold."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sievebench.experiment._experiment import PROFILES, REUSED
from sievebench.run_spec import COUNTS_BY_NAME, PURPOSES, STREAMS

_LARGEST_INTEGER = 2**31 - 1


@dataclass(frozen=True)
class Kind:
    """Values that a key may have.

    Attributes
    ----------
    allowed : str
        In words, after "must be".
    fits : callable
        Tells whether a value, as TOML has it, is one of them.
    """

    allowed: str
    fits: Callable[[Any], bool]


def _whole(least: int) -> Kind:
    """Return whole numbers."""
    return Kind(
        f"an int >= {least} and <= {_LARGEST_INTEGER}",
        lambda value: _is_int(value) and value >= least,
    )


def _one_of(names: Iterable[str]) -> Kind:
    """Return a closed set of names."""
    known = tuple(names)
    return Kind(
        f"one of {', '.join(known)}",
        lambda value: isinstance(value, str) and value in known,
    )


def _is_int(value: Any) -> bool:
    """Tell whether a value is a whole number of 32 bits; true and false are none."""
    return (
        isinstance(value, int)
        and not isinstance(value, bool)
        and abs(value) <= _LARGEST_INTEGER
    )


def _is_number(value: Any) -> bool:
    """Tell whether a value is a finite number."""
    return _is_int(value) or (isinstance(value, float) and math.isfinite(value))


def _is_name(value: Any) -> bool:
    """Tell whether a value is a text that says something."""
    return isinstance(value, str) and bool(value.strip())


def _are_names(value: Any) -> bool:
    """Tell whether a value is a list of names, none of them twice."""
    return (
        isinstance(value, list)
        and all(_is_name(name) for name in value)
        and 0 < len(value) == len(set(value))
    )


def _is_plain(value: Any) -> bool:
    """Tell whether a value can be written into a record; dates cannot."""
    if isinstance(value, list):
        return all(_is_plain(item) for item in value)
    if isinstance(value, dict):
        return all(_is_plain(item) for item in value.values())
    return isinstance(value, str | bool) or _is_number(value)


def _is_variation(value: Any) -> bool:
    """Tell whether a value is a table of lists that are not empty."""
    return isinstance(value, dict) and all(
        isinstance(items, list) and items and _is_plain(items)
        for items in value.values()
    )


def _is_match(value: Any) -> bool:
    """Tell whether a value names an experiment and a selector of it."""
    return (
        isinstance(value, dict)
        and set(value) == {"experiment", "selector"}
        and all(_is_name(name) for name in value.values())
    )


def _is_reuse(value: Any) -> bool:
    """Tell whether a value says what to take over from which experiment."""
    return (
        isinstance(value, dict)
        and set(value) - {"not_from"} == {"experiment", "what", "n_predictors"}
        and ("not_from" not in value or _are_names(value["not_from"]))
        and _is_name(value["experiment"])
        and value["what"] in REUSED
        and _is_int(value["n_predictors"])
        and value["n_predictors"] >= 1
    )


_NAME = Kind("a name", _is_name)
_NAMES = Kind("a list of different names, at least one", _are_names)
_FLAG = Kind("true or false", lambda value: isinstance(value, bool))
_SECONDS = Kind("a number > 0", lambda value: _is_number(value) and value > 0)
_SETTINGS = Kind(
    "a table of numbers, texts, true, false and lists of them",
    lambda value: isinstance(value, dict) and _is_plain(value),
)

EXPERIMENT_KINDS = {
    "about": Kind("a text", lambda value: isinstance(value, str)),
    "profile": _one_of(PROFILES),
    "purpose": _one_of(PURPOSES),
    "datasets": _NAMES,
    "scenarios": _NAMES,
    "downstream": _NAMES,
    "selectors": Kind(
        "a list of names and tables, at least one",
        lambda value: isinstance(value, list) and bool(value),
    ),
    "noise_fraction": Kind(
        "a number >= 0 and below 1", lambda value: _is_number(value) and 0 <= value < 1
    ),
    "stream": _one_of(STREAMS),
    "downstream_settings": _SETTINGS,
    "n_trials": _whole(0),
    "n_seeds": _whole(1),
    "time_limit_seconds": _SECONDS,
    "trials_at_once": _whole(1),
    "tuning_seconds": _SECONDS,
    "splits_anew": _FLAG,
    "n_removed": _whole(1),
    "match": Kind("a table with the names experiment and selector", _is_match),
    "reuse": Kind(
        f"a table with experiment (a name), what (one of {', '.join(REUSED)}) and "
        "n_predictors (an int >= 1), and perhaps not_from (names of selectors)",
        _is_reuse,
    ),
}

SELECTOR_KINDS = {
    "name": _NAME,
    "settings": _SETTINGS,
    "is_tuned": _FLAG,
    "keep": Kind(
        f"one of {', '.join(COUNTS_BY_NAME)}, or an int >= 1",
        lambda value: (
            value in COUNTS_BY_NAME
            if isinstance(value, str)
            else (_is_int(value) and value >= 1)
        ),
    ),
    "vary": Kind("a table of lists of values, at least one each", _is_variation),
}
