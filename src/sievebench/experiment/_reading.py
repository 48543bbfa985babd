"""Read an experiment file, and say in one line what is wrong with it."""

import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from featuresieve.errors import LARGEST_INTEGER
from sievebench.experiment._experiment import (
    PROFILES,
    REUSED,
    Experiment,
    ExperimentError,
    SelectorRow,
)
from sievebench.run_spec import COUNTS_BY_NAME, PURPOSES, STREAMS
from sievebench.toml_keys import Key, check_keys, is_int, is_list_of, is_text, one_of

# These purposes make nothing of themselves, only of what another experiment found.
_SOURCES = {"matched": "match", "shared": "reuse"}


def _whole(least: int) -> Key:
    return Key(
        f"an int >= {least} and <= {LARGEST_INTEGER}",
        lambda value: is_int(value, least, LARGEST_INTEGER),
    )


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return is_int(value, -LARGEST_INTEGER, LARGEST_INTEGER)


def _are_names(value: Any) -> bool:
    return is_list_of(value, is_text) and 0 < len(value) == len(set(value))


def _is_plain(value: Any) -> bool:
    """Tell whether a value can be written into a record; dates cannot."""
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return isinstance(value, str | bool) or _is_number(value)


def _is_variation(value: Any) -> bool:
    return isinstance(value, dict) and all(
        items and is_list_of(items, _is_plain) for items in value.values()
    )


def _is_match(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and set(value) == {"experiment", "selector"}
        and all(map(is_text, value.values()))
    )


def _is_reuse(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and set(value) - {"not_from"} == {"experiment", "what", "n_predictors"}
        and ("not_from" not in value or _are_names(value["not_from"]))
        and is_text(value["experiment"])
        and value["what"] in REUSED
        and is_int(value["n_predictors"], 1, LARGEST_INTEGER)
    )


def _is_count(value: Any) -> bool:
    return value in COUNTS_BY_NAME or is_int(value, 1, LARGEST_INTEGER)


_NAMES = Key("a list of different names, at least one", _are_names)
_FLAG = Key("true or false", lambda value: isinstance(value, bool))
_SECONDS = Key("a number > 0", lambda value: _is_number(value) and value > 0)
_SETTINGS = Key(
    "a table of numbers, texts, true, false and lists of them",
    lambda value: isinstance(value, dict) and _is_plain(value),
)

EXPERIMENT_KEYS = {
    "about": Key("a text", lambda value: isinstance(value, str)),
    "profile": one_of(PROFILES),
    "purpose": one_of(PURPOSES),
    "datasets": _NAMES,
    "scenarios": _NAMES,
    "downstream": _NAMES,
    "selectors": Key(
        "a list of names and tables, at least one",
        lambda value: isinstance(value, list) and bool(value),
    ),
    "noise_fraction": Key(
        "a number >= 0 and below 1", lambda value: _is_number(value) and 0 <= value < 1
    ),
    "stream": one_of(STREAMS),
    "downstream_settings": _SETTINGS,
    "n_trials": _whole(0),
    "n_seeds": _whole(1),
    "time_limit_seconds": _SECONDS,
    "trials_at_once": _whole(1),
    "tuning_seconds": _SECONDS,
    "splits_anew": _FLAG,
    "n_removed": _whole(1),
    "match": Key("a table with the names experiment and selector", _is_match),
    "reuse": Key(
        f"a table with experiment (a name), what (one of {', '.join(REUSED)}) and "
        "n_predictors (an int >= 1), and perhaps not_from (names of selectors)",
        _is_reuse,
    ),
}
_REQUIRED = ("profile", "datasets", "scenarios", "selectors")

SELECTOR_KEYS = {
    "name": Key("a name", is_text),
    "settings": _SETTINGS,
    "is_tuned": _FLAG,
    "keep": Key(f"one of {', '.join(COUNTS_BY_NAME)}, or an int >= 1", _is_count),
    "vary": Key("a table of lists of values, at least one each", _is_variation),
}


def read_experiment(path: Path) -> Experiment:
    """Read an experiment file; its name without the suffix is the experiment's."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ExperimentError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:  # also a number of 4300 digits
        raise ExperimentError(f"{path} is no TOML: {error}.") from error
    try:
        return _experiment(path.stem, values)
    except ValueError as error:
        raise ExperimentError(f"{path}: {error}") from error


def _experiment(name: str, values: Mapping[str, Any]) -> Experiment:
    check_keys(values, EXPERIMENT_KEYS, _REQUIRED)
    for purpose, key in _SOURCES.items():
        if values.get("purpose") == purpose and not values.get(key):
            raise ValueError(
                f"{key} is missing, which purpose = {purpose!r} needs: "
                f"{EXPERIMENT_KEYS[key].allowed}."
            )
    lists = {
        key: tuple(value) for key, value in values.items() if isinstance(value, list)
    }
    rows = [_row(number, row) for number, row in enumerate(lists["selectors"], 1)]
    return Experiment(**{**values, **lists, "name": name, "selectors": tuple(rows)})


def _row(number: int, row: Any) -> SelectorRow:
    values = {"name": row} if isinstance(row, str) else row
    where = f"selector {number}: "
    if not isinstance(values, dict):
        raise ValueError(f"{where}it must be a name or a table, got {row!r}.")
    check_keys(values, SELECTOR_KEYS, ("name",), where)
    return SelectorRow(**values)
