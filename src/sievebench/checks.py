"""Checks of settings, which may come from a file: what is wrong is a ValueError.

Those of the library (`featuresieve.errors`) tell a wrong type by a TypeError.
"""

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

_LARGEST_INTEGER = 2**31 - 1


def check_integer(name: str, value: Any, *, low: int) -> int:
    """Return `value` as an int, or say that it must be an int >= low."""
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    if is_integer and low <= int(value) <= _LARGEST_INTEGER:
        return int(value)
    most = f" and <= {_LARGEST_INTEGER}" if is_integer and value > low else ""
    raise ValueError(f"{name} must be an int >= {low}{most}, got {value!r}.")


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
        and _is_finite(value)
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
    raise ValueError(f"{name} must be a number {' and '.join(bounds)}, got {value!r}.")


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


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
