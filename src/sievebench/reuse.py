"""What a later experiment takes over from the records of an earlier one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# Dataset, scenario, downstream.
Group = tuple[str, str, str]
# The same, and a selector.
Cell = tuple[str, str, str, str]


@dataclass(frozen=True)
class EarlierResults:
    """What was found in an earlier experiment."""

    # Columns that were kept, by each seed. Only finished cells are here.
    columns: Mapping[Cell, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    # Of the selector, tuned and given.
    settings: Mapping[Cell, Mapping[str, Any]] = field(default_factory=dict)
    # Settings of the predictors that did best on the validation part, best first.
    predictors: Mapping[Group, tuple[Mapping[str, Any], ...]] = field(
        default_factory=dict
    )
    # The `column_source` of the cell that kept the columns.
    sources: Mapping[Cell, Mapping[str, Any]] = field(default_factory=dict)
    # Cells whose table was there, but not for their selector to run on.
    unfit: frozenset[Cell] = frozenset()
