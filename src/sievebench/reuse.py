"""What a later experiment takes over from the records of an earlier one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# Dataset, scenario, downstream.
Place = tuple[str, str, str]
# The same, and a selector.
Cell = tuple[str, str, str, str]


@dataclass(frozen=True)
class EarlierResults:
    """What was found in an earlier experiment.

    Attributes
    ----------
    columns : mapping of Cell to tuple of tuple of int
        Columns that were kept, by each seed. Only finished cells are here.
    settings : mapping of Cell to mapping
        Of the selector, tuned and given.
    predictors : mapping of Place to tuple of mapping
        Settings of the predictors that did best on the validation part, best first.
    sources : mapping of Cell to mapping
        The `column_source` of the cell that kept the columns.
    unfit : set of Cell
        Cells whose table was there, but not for their selector to run on.
    """

    columns: Mapping[Cell, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    settings: Mapping[Cell, Mapping[str, Any]] = field(default_factory=dict)
    predictors: Mapping[Place, tuple[Mapping[str, Any], ...]] = field(
        default_factory=dict
    )
    sources: Mapping[Cell, Mapping[str, Any]] = field(default_factory=dict)
    unfit: frozenset[Cell] = frozenset()
