"""Search spaces as data: what a tuner may draw for each parameter.

Nothing here draws: a tuner, of any library, reads these records.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Uniform:
    """A real number, uniform between `low` and `high`."""

    low: float
    high: float


@dataclass(frozen=True)
class LogUniform:
    """A positive real number whose logarithm is uniform."""

    low: float
    high: float


@dataclass(frozen=True)
class Integer:
    """An integer between `low` and `high`, both included, in steps of `step`."""

    low: int
    high: int
    step: int = 1


@dataclass(frozen=True)
class Choice:
    """One of the given values."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class ZeroOr:
    """Zero with probability one half, else a draw from `distribution`."""

    distribution: Uniform | LogUniform


@dataclass(frozen=True)
class HiddenSizes:
    """A tuple of layer sizes: first, middle (shared by all in between) and last.

    `n_layers` is drawn first; with one layer only the first size is drawn, with two the
    first and the last.
    """

    n_layers: Integer
    size: Integer


Distribution = Uniform | LogUniform | Integer | Choice | ZeroOr | HiddenSizes
SearchSpace = Mapping[str, Distribution]

# The benchmark's space for every MLP, selector or downstream.
MLP_SPACE: SearchSpace = {
    "hidden_sizes": HiddenSizes(Integer(1, 8), Integer(1, 512)),
    "dropout": ZeroOr(Uniform(0.0, 0.5)),
    "learning_rate": LogUniform(1e-5, 1e-2),
    "weight_decay": ZeroOr(LogUniform(1e-6, 1e-3)),
}
