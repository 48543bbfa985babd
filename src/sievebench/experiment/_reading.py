"""Read an experiment file, and say in one line what is wrong with it."""

import textwrap
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from featuresieve.errors import did_you_mean
from sievebench.experiment._experiment import (
    Experiment,
    ExperimentError,
    SelectorRow,
)
from sievebench.experiment._kinds import EXPERIMENT_KINDS, SELECTOR_KINDS, Kind

_LONGEST_VALUE = 80
# These purposes make nothing of themselves, only of what another experiment found.
_SOURCES = {"matched": "match", "shared": "reuse"}


def read_experiment(path: Path) -> Experiment:
    """Read an experiment file.

    Parameters
    ----------
    path : Path
        TOML; its name without the suffix is the experiment's.

    Returns
    -------
    Experiment

    Raises
    ------
    ExperimentError
        If a key is unknown or missing, or a value is not allowed.
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ExperimentError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:  # also a number of 4300 digits
        raise ExperimentError(f"{path} is no TOML: {error}.") from error
    try:
        return _experiment(path.stem, values)
    except ExperimentError as error:
        raise ExperimentError(f"{path}: {error}") from error


def _experiment(name: str, values: Mapping[str, Any]) -> Experiment:
    """Return what a file says."""
    _check(values, EXPERIMENT_KINDS, Experiment)
    lists = {
        key: tuple(value) for key, value in values.items() if isinstance(value, list)
    }
    for purpose, key in _SOURCES.items():
        if values.get("purpose") == purpose and not values.get(key):
            raise ExperimentError(
                f"{key} is missing, which purpose = {purpose!r} needs: "
                f"{EXPERIMENT_KINDS[key].allowed}."
            )
    rows = [_row(number, row) for number, row in enumerate(lists["selectors"], 1)]
    return Experiment(**{**values, **lists, "name": name, "selectors": tuple(rows)})


def _row(number: int, row: Any) -> SelectorRow:
    """Return a row given as a name or as a table."""
    values = {"name": row} if isinstance(row, str) else row
    place = f"selector {number}: "
    if not isinstance(values, dict):
        raise ExperimentError(f"{place}it must be a name or a table, got {row!r}.")
    _check(values, SELECTOR_KINDS, SelectorRow, place)
    return SelectorRow(**values)


def _check(
    values: Mapping[str, Any],
    kinds: Mapping[str, Kind],
    record: type[Any],
    place: str = "",
) -> None:
    """Refuse keys that mean nothing, values of another kind, and missing keys."""
    for key, value in values.items():
        if key not in kinds:
            hint = did_you_mean(key, kinds)
            raise ExperimentError(f"{place}unknown key {key!r}{hint}")
        if not kinds[key].fits(value):
            got = textwrap.shorten(repr(value), _LONGEST_VALUE, placeholder=" ...")
            raise ExperimentError(
                f"{place}{key} must be {kinds[key].allowed}, got {got}."
            )
    for item in fields(record):
        is_needed = item.default is MISSING and item.default_factory is MISSING
        if is_needed and item.name in kinds and item.name not in values:
            raise ExperimentError(
                f"{place}{item.name} is missing: {kinds[item.name].allowed}."
            )
