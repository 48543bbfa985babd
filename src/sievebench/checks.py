"""Checks of settings, which may come from a file: what is wrong is a ValueError.

Those of the library (`featuresieve.errors`) tell a wrong type by a TypeError, and have
no bound that a number must stay below.
"""

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from featuresieve import errors


def check_integer(name: str, value: Any, *, low: int) -> int:
    """Return `value` as an int, or say that it must be an int >= low."""
    try:
        errors.check_integer(name, value, least=low)
    except TypeError as error:
        raise ValueError(str(error)) from error
    return int(value)


def check_number(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    low: float | None = None,
    below: float | None = None,
) -> float:
    """Return `value` as a float within bounds, or say what the bounds are."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if (
        is_number
        and math.isfinite(errors.as_float(value))
        and (above is None or value > above)
        and (low is None or value >= low)
        and (below is None or value < below)
    ):
        return float(value)
    bounds = [
        f"{sign} {bound:g}"
        for sign, bound in ((">", above), (">=", low), ("<", below))
        if bound is not None
    ]
    raise ValueError(
        f"{name} must be a number {' and '.join(bounds)}, got {errors.shown(value)}."
    )


def check_strengths(
    name: str, value: Any, *, below: float | None = None
) -> tuple[float, ...]:
    """Return one penalty strength or a sequence of them as a tuple of floats >= 0."""
    if isinstance(value, Real):
        return (check_number(name, value, low=0.0, below=below),)
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray):
        raise ValueError(f"{name} must be a number or numbers, got {value!r}.")
    if len(value) == 0:
        raise ValueError(f"{name} must hold at least one number, got {value!r}.")
    return tuple(check_number(name, each, low=0.0, below=below) for each in value)


def check_sizes(name: str, value: Any) -> tuple[int, ...]:
    """Return layer sizes as a tuple of ints >= 1."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ValueError(f"{name} must be a sequence of ints >= 1, got {value!r}.")
    return tuple(check_integer(name, size, low=1) for size in value)


def check_layers(hidden_sizes: Any, dropout: Any) -> None:
    """Raise ValueError if an argument of the layers of an MLP is not allowed."""
    check_sizes("hidden_sizes", hidden_sizes)
    check_number("dropout", dropout, low=0.0, below=1.0)
