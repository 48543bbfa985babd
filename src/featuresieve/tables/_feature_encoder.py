"""One feature becomes columns: numbers and dates are scaled, levels are indicators."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from featuresieve.tables._column import Column, Kind, Level, conversion_advice
from featuresieve.tables._scaling import (
    ColumnScaler,
    Float32Array,
    FloatArray,
    IndexArray,
    Scaling,
    scaled_indicator,
)

DATE_PARTS = ("timestamp", "month", "weekday", "hour")
NUMBER_PARTS = ("value",)
# Unit, number of the first of January 1970 (a Thursday), and length of the cycle.
_CYCLES = {"month": ("M", 0, 12), "weekday": ("D", 3, 7), "hour": ("h", 0, 24)}
# In a column of many levels, one that was seen once says nothing about the next row.
_MIN_COUNT = 2.0


@dataclass(frozen=True, eq=False)
class NumberEncoder:
    """Scaled parts of one column, and whether it is missing."""

    # "value" of a number or boolean; of a date, those of "timestamp" (seconds since
    # 1970), "month", "weekday" and "hour" that varied. None if all was missing: the
    # feature is then one column of zeros.
    parts: tuple[str, ...]
    scaler: ColumnScaler  # with one column for each part
    missing_share: float | None  # None, and no indicator, if no value was missing

    @classmethod
    def fit(
        cls, column: Column, weights: FloatArray | None, scaling: Scaling
    ) -> "NumberEncoder":
        """Learn the scaling of what is not missing."""
        if column.is_empty:
            return cls((), ColumnScaler([], [], np.zeros(0), np.ones(0)), None)
        names, share = NUMBER_PARTS, None
        if column.is_missing is not None:
            share = float(np.average(column.is_missing, weights=weights))
        if column.kind == "date":
            # Seconds since 1970 are nobody's scale.
            scaling = "standard" if scaling == "none" else scaling
            parts = _parts(column, DATE_PARTS)
            is_varying = np.nanmax(parts, axis=1) > np.nanmin(parts, axis=1)
            is_varying[0] = True  # the moment is always there
            names = tuple(np.array(DATE_PARTS)[is_varying].tolist())
        scaler, _ = ColumnScaler.fit_transform(_parts(column, names), scaling, weights)
        return cls(names, scaler.take(slice(None)), share)

    @property
    def n_columns(self) -> int:
        """Return the number of encoded columns."""
        return max(len(self.parts), 1) + (self.missing_share is not None)

    def transform_into_(self, out: Float32Array, column: Column) -> None:
        """Write the encoded columns into `out`, (rows, n_columns)."""
        out[:] = 0.0
        if self.parts and not column.is_empty:
            scaled = self.scaler.transform_(_parts(column, self.parts))
            out[:, : len(scaled)] = np.where(np.isnan(scaled), 0.0, scaled).T
        if self.missing_share is not None:
            no, yes = scaled_indicator(self.missing_share)
            out[:, -1] = no
            if column.is_missing is not None:
                out[column.is_missing, -1] = yes


def _parts(column: Column, names: tuple[str, ...]) -> FloatArray:
    """Return parts of a column of numbers or dates, NaN where missing."""
    values = column.values
    parts = [values if column.kind != "date" else date_part(values, n) for n in names]
    block = np.array(parts, dtype=np.float64)
    if column.is_missing is not None:
        block[:, column.is_missing] = np.nan
    return block


def date_part(dates: npt.NDArray[Any], part: str) -> FloatArray:
    """Return a part of datetime64[us] as numbers: January, Monday and midnight are 0.

    What it returns for NaT is no date.
    """
    if part == "timestamp":
        return dates.astype(np.int64) / 1e6
    unit, first, cycle = _CYCLES[part]
    count = dates.astype(f"datetime64[{unit}]").astype(np.int64)
    return ((count + first) % cycle).astype(np.float64)


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


@dataclass(frozen=True, eq=False)
class FeatureEncoder:
    """How one feature is encoded."""

    feature: int  # its position in the table
    name: str | None
    kind: Kind | str  # "empty" if all was missing: any kind may follow, and becomes 0
    encoder: NumberEncoder | CategoryEncoder

    @property
    def label(self) -> str:
        """Return how errors name the feature."""
        return f"column {self.feature if self.name is None else repr(self.name)}"

    def _check_kind(self, column: Column) -> None:
        """Raise if the column is of another kind than in fit."""
        numeric = ("number", "boolean")
        if self.kind == column.kind or "empty" in (self.kind, kind_of(column)):
            return
        if self.kind in numeric and column.kind in numeric:
            return
        own = "column" if self.name is None else f"X[{self.name!r}]"
        raise ValueError(
            f"{self.label} of X held values of kind {self.kind!r} in fit, and holds "
            f"values of kind {column.kind!r} now: "
            f"{conversion_advice(self.kind, column.kind, own)}."
        )

    def transform_into_(self, out: Float32Array, column: Column) -> None:
        """Write the encoded columns into `out`, (rows, n_columns)."""
        self._check_kind(column)
        if isinstance(self.encoder, CategoryEncoder) and column.is_empty:
            missing = np.full(len(out), -1)
            column = Column("category", missing, column.is_missing)
        with overflow_named(self.label):
            self.encoder.transform_into_(out, column)


@contextmanager
def overflow_named(label: str) -> Iterator[None]:
    """Raise an error that names the column if a value does not fit into float32."""
    try:
        with np.errstate(over="raise"):
            yield
    except FloatingPointError:
        raise ValueError(
            "Input X contains infinity or a value too large for dtype('float32'): "
            f"so does {label} after scaling."
        ) from None


def kind_of(column: Column) -> str:
    """Return the kind of a column, "empty" if every value is missing."""
    return "empty" if column.is_empty else column.kind
