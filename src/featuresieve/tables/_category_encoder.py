"""A category column becomes one indicator for each frequent level."""

from dataclasses import dataclass

import numpy as np

from featuresieve.tables._column import Column, Level
from featuresieve.tables._scaling import (
    Float32Array,
    FloatArray,
    IndexArray,
    scaled_indicator,
)

# In a column of many levels, one that was seen once says nothing about the next row.
_MIN_COUNT = 2.0


@dataclass(frozen=True, eq=False)
class CategoryEncoder:
    """Indicators of the levels of one column.

    A row is in exactly one state: one of `levels`, another level, or missing. Of two
    states the second has one indicator column, of more every state has one; the column
    of a single state is zero. A row in a state that was not seen is zero throughout,
    which is what an average row is.
    """

    levels: tuple[Level, ...]  # most frequent first
    has_other: bool  # whether that state was seen
    has_missing: bool
    shares: FloatArray  # of the rows in each state: the levels, other, missing

    @classmethod
    def fit(
        cls, column: Column, weights: FloatArray | None, max_categories: int
    ) -> "CategoryEncoder":
        """Learn the levels of a column.

        The `max_categories` most frequent have a column of their own. Where there are
        more, that takes at least two rows, or one that stands for two.
        """
        codes, n_states = column.values + 1, len(column.levels) + 1
        counts = np.bincount(codes, weights, n_states)
        total = counts.sum()
        n_missing, counts = counts[0], counts[1:]
        seen = np.flatnonzero(counts > 0)
        has_other = len(seen) > max_categories
        if has_other:
            copies = weights
            if weights is not None and (weights % 1 != 0).any():
                copies = None  # importance, not a number of rows
            seen = seen[np.bincount(codes, copies, n_states)[1:][seen] >= _MIN_COUNT]
        kept = _most_frequent(column, counts / total, seen)[:max_categories]
        shares = counts[kept] / total
        other = 1.0 - shares.sum() - n_missing / total
        others = np.array([max(other, 0.0), n_missing / total])
        states = [*shares, *others[[has_other, n_missing > 0]]]
        levels = tuple(column.levels[index] for index in kept)
        return cls(levels, has_other, bool(n_missing > 0), np.array(states))

    @property
    def n_columns(self) -> int:
        """Return the number of encoded columns."""
        n_states = len(self.shares)
        return n_states if n_states > 2 else 1

    def transform_into_(self, out: Float32Array, column: Column) -> None:
        """Write the indicators into `out`, (rows, n_columns)."""
        state_of = {level: state for state, level in enumerate(self.levels)}
        states = [state_of.get(level, self.other_state) for level in column.levels]
        # The last is that of code -1, a missing value.
        of_row = np.array([*states, self.missing_state])[column.values]
        for index, indicator in enumerate(self.indicators().T):
            out[:, index] = indicator[of_row]

    @property
    def other_state(self) -> int:
        """Return the state of a level that is not among `levels`."""
        return len(self.levels) if self.has_other else len(self.shares)

    @property
    def missing_state(self) -> int:
        """Return the state of a missing value."""
        return len(self.shares) - self.has_missing

    def indicators(self) -> Float32Array:
        """Return the encoded columns of each state, and of what was not seen."""
        n_states = len(self.shares)
        table = np.zeros((n_states + 1, self.n_columns), dtype=np.float32)
        if n_states == 2:
            table[:2, 0] = scaled_indicator(float(self.shares[1]))
        elif n_states > 2:
            for state, share in enumerate(self.shares):
                no, yes = scaled_indicator(float(share))
                table[:n_states, state] = no
                table[state, state] = yes
        return table


def _most_frequent(column: Column, shares: FloatArray, levels: IndexArray) -> list[int]:
    """Return positions of levels, most frequent first, equals by their values."""

    def key(position: int) -> tuple[float, bool, Level]:
        level = column.levels[position]
        # Equal sums of weights may differ in their last digits.
        return -round(float(shares[position]), 12), isinstance(level, str), level

    return sorted(levels.tolist(), key=key)
