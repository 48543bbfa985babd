"""Columns of numbers are put on one scale."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

FloatArray = npt.NDArray[np.float64]
Float32Array = npt.NDArray[np.float32]
IndexArray = npt.NDArray[np.intp]

Scaling = Literal["normal_scores", "standard", "none"]
SCALINGS: tuple[Scaling, ...] = ("normal_scores", "standard", "none")

_MAX_KNOTS = 512
# Share of the rows below and above which there is none.
_RAREST = 1e-12


@dataclass(frozen=True)
class ColumnScaler:
    """Scaling of some columns, learnt from a table.

    "standard" subtracts the mean and divides by the standard deviation.
    "normal_scores" first replaces a value by the normal quantile of its mid-rank, so
    that long tails and outliers do not decide what a network can see; between the
    ranks of the learnt values it interpolates.
    """

    # Of each column the known values and the normal scores they map to; empty unless
    # ranks are used.
    knots: list[FloatArray]
    scores: list[FloatArray]
    means: FloatArray  # (columns,), applied last, as are the spreads
    spreads: FloatArray

    @classmethod
    def fit_transform(
        cls, block: FloatArray, scaling: Scaling, weights: FloatArray | None = None
    ) -> tuple["ColumnScaler", FloatArray]:
        """Learn the scaling of a block, (columns, rows), and scale it in place.

        A row of weight k counts as k copies; weights are positive.
        """
        knots: list[FloatArray] = []
        scores: list[FloatArray] = []
        means, spreads = np.zeros(len(block)), np.ones(len(block))
        if scaling == "normal_scores":
            knots, scores = _rank_(block, weights)
        if scaling != "none":
            means, spreads = means_and_stds(block, weights)
        block /= spreads[:, None]
        block -= (means / spreads)[:, None]
        return cls(knots, scores, means, spreads), block

    def scaled_column(self, j: int, values: npt.NDArray[np.generic]) -> FloatArray:
        """Return scaled values of column j; what is NaN stays NaN."""
        column = values.astype(np.float64)
        if self.knots:
            column = np.interp(column, self.knots[j], self.scores[j])
        column /= self.spreads[j]
        column -= self.means[j] / self.spreads[j]
        return column

    def take(self, columns: slice) -> "ColumnScaler":
        """Return the scaler of some of the columns."""
        return ColumnScaler(
            self.knots[columns],
            self.scores[columns],
            self.means[columns],
            self.spreads[columns],
        )


def _rank_(
    block: FloatArray, weights: FloatArray | None
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Replace the values of columns by their normal scores; return knots and scores."""
    order = np.argsort(block, axis=1)
    order += block.shape[1] * np.arange(len(block))[:, None]
    ordered = block.take(order)  # found among the knots ten times as fast
    is_tied = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    knots, scores = [], []
    for values, rows, is_slow in zip(ordered, order, is_tied, strict=True):
        if weights is not None:
            own = weights[rows % block.shape[1]]
            known, score = _normal_scores(values, own)
        elif is_slow:
            known, score = _normal_scores(values, None)
        else:
            known, score = values[_knot_positions(len(values))], _plain(len(values))
        is_every_knot = len(known) == len(values)
        values[:] = score if is_every_knot else np.interp(values, known, score)
        knots.append(known)
        scores.append(score)
    np.put(block, order, ordered)
    return knots, scores


@lru_cache(maxsize=8)
def _plain(n_values: int) -> FloatArray:
    """Return the scores of the knots among so many different values."""
    return _normal_scores(np.arange(n_values, dtype=np.float64), None)[1]


@lru_cache(maxsize=64)
def _knot_positions(n_values: int) -> IndexArray:
    """Return which of so many different values are knots."""
    if n_values <= _MAX_KNOTS:
        return np.arange(n_values)
    return np.linspace(0, n_values - 1, _MAX_KNOTS).round().astype(np.intp)


def _normal_scores(
    ordered: FloatArray, weights: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Return knots among sorted values, and the normal score of each."""
    is_first = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    keep = _knot_positions(len(starts))
    if weights is None:
        # The middle between the first of equal values and the first of the next.
        mid_ranks = (starts + np.append(starts[1:], len(ordered)))[keep] / 2
        total = float(len(ordered))
    else:
        counts = np.add.reduceat(weights, starts)
        mid_ranks = (np.cumsum(counts) - counts / 2)[keep]
        total = counts.sum()
    # Rounding may take the rank of a weight beside huge ones to nought or to one.
    shares = np.clip(mid_ranks / total, _RAREST, 1.0 - _RAREST)
    return ordered[starts[keep]], ndtri(shares)


def means_and_stds(
    block: FloatArray, weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation of columns, for use as scales never zero.

    Columns are the rows of a block, (columns, rows). Computed relative to the largest
    value, so that no square overflows or underflows. Values that differ in their last
    digits alone count as constant; their spread is their size. A value of weight k
    counts as k copies.
    """
    largest = np.abs(block).max(axis=1, initial=0.0)
    scaled = block / np.where(largest == 0.0, 1.0, largest)[:, None]
    if weights is None:
        means, spreads = scaled.mean(axis=1), scaled.std(axis=1)
    else:
        share = weights / weights.sum()
        means = np.array([share @ column for column in scaled])
        squares = (scaled - means[:, None]) ** 2
        spreads = np.sqrt([share @ column for column in squares])
    scales = np.where(spreads > 1e-12, spreads, 1.0) * largest
    return means * largest, np.where(scales > 0.0, scales, 1.0)


# Below this share of rows an indicator is no longer brought to variance one: its rare
# value would be larger than any normal score of a million rows.
_RAREST_SPREAD = 0.2


def scaled_indicator(share: float) -> tuple[float, float]:
    """Return what no and yes become, for an indicator that is yes in `share` of rows.

    Mean zero and variance one, except that the spread counts as at least 0.2 (a share
    of 4 %), so that neither value exceeds 5. An indicator that is constant is 0.
    """
    if not 0.0 < share < 1.0:
        return 0.0, 0.0
    spread = max(float(np.sqrt(share * (1.0 - share))), _RAREST_SPREAD)
    return -share / spread, (1.0 - share) / spread


def root_mean_squares(
    values: Any,
    scaling: Scaling,
    weights: FloatArray | None,
    rows: IndexArray | None,
) -> FloatArray:
    """Return the root mean square of each column, 1 for columns of zeros."""
    n_columns = values.shape[1]
    if scaling == "none":
        return np.ones(n_columns)
    if rows is not None:
        values = values[rows]
    largest = np.zeros(n_columns)
    np.maximum.at(largest, values.indices, np.abs(values.data))
    largest[largest == 0.0] = 1.0
    # Relative to the largest value no square overflows or underflows.
    squares = (values.data / largest[values.indices]) ** 2
    total = float(values.shape[0])
    if weights is not None:
        squares *= np.repeat(weights, np.diff(values.indptr))
        total = float(weights.sum())
    mean_squares = np.bincount(values.indices, squares, n_columns) / total
    spreads = np.sqrt(mean_squares) * largest
    return np.where(mean_squares > 0, spreads, 1.0)
