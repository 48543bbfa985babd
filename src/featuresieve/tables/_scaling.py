"""Columns of numbers are put on one scale."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

FloatArray = npt.NDArray[np.float64]
Float32Array = npt.NDArray[np.float32]
IndexArray = npt.NDArray[np.intp]

Scaling = Literal["normal_scores", "standard", "none"]

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

        What is NaN is missing and stays NaN; not all of a column is. A row of weight k
        counts as k copies; weights are positive. A column is scaled as it would be
        without the others, to the bit.
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

    def transform_(self, block: FloatArray) -> FloatArray:
        """Scale a block, (columns, rows), in place; what is NaN stays NaN."""
        is_missing = np.isnan(block)
        for values, known, score in zip(block, self.knots, self.scores, strict=False):
            values[:] = np.interp(values, known, score)
        block[is_missing] = np.nan  # which a single knot has made a number
        block /= self.spreads[:, None]
        block -= (self.means / self.spreads)[:, None]
        return block

    @classmethod
    def joined(cls, scalers: Sequence["ColumnScaler"]) -> "ColumnScaler":
        """Return one scaler of the columns of several."""
        return cls(
            [known for scaler in scalers for known in scaler.knots],
            [score for scaler in scalers for score in scaler.scores],
            np.concatenate([scaler.means for scaler in scalers]),
            np.concatenate([scaler.spreads for scaler in scalers]),
        )

    def take(self, columns: slice) -> "ColumnScaler":
        """Return the scaler of some of the columns, which holds no more than that."""
        return ColumnScaler(
            [known.copy() for known in self.knots[columns]],
            [score.copy() for score in self.scores[columns]],
            self.means[columns].copy(),
            self.spreads[columns].copy(),
        )


def _rank_(
    block: FloatArray, weights: FloatArray | None
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Replace the values of columns by their normal scores; return knots and scores."""
    n_columns, n_rows = block.shape
    is_missing = np.isnan(block)
    has_missing = is_missing.any()
    # As infinity, the last too, which is sorted several times as fast as NaN.
    filled = np.where(is_missing, np.inf, block) if has_missing else block
    order = np.argsort(filled, axis=1)
    of_order = None if weights is None else weights[order]
    order += n_rows * np.arange(n_columns)[:, None]
    ordered = block.take(order)  # found among the knots ten times as fast
    is_first = np.ones(block.shape, dtype=bool)
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=is_first[:, 1:])
    n_known = np.full(n_columns, n_rows)
    if has_missing:
        n_known -= is_missing.sum(axis=1)
        is_first &= np.arange(n_rows) < n_known[:, None]
    if of_order is None and is_first.all():
        known, score = ordered[:, _knot_positions(n_rows)], _plain(n_rows)
        knots, scores = list(known), [score] * n_columns
    else:
        knots, scores = _knots_and_scores(ordered, is_first, n_known, of_order)
    if len(knots[0]) == n_rows and scores[0] is scores[-1]:
        ordered[:] = scores[0]
    else:
        for values, n, own, score in zip(
            ordered, n_known.tolist(), knots, scores, strict=True
        ):
            values[:n] = np.interp(values[:n], own, score)
    np.put(block, order, ordered)
    return knots, scores


@lru_cache(maxsize=8)
def _plain(n_values: int) -> FloatArray:
    """Return the scores of the knots among so many different values."""
    shares = (_knot_positions(n_values) + 0.5) / n_values
    return np.asarray(ndtri(shares))


@lru_cache(maxsize=8)
def _knot_positions(n_values: int) -> IndexArray:
    """Return which of so many different values are knots."""
    return _spaced(np.array([n_values]))


def _spaced(n_values: IndexArray) -> IndexArray:
    """Return which values of each column are knots, column after column.

    All of a few, or evenly spaced ones.
    """
    n_knots = np.minimum(n_values, _MAX_KNOTS)
    indices = np.arange(n_knots.sum()) - np.repeat(
        np.cumsum(n_knots) - n_knots, n_knots
    )
    steps = np.where(n_values > _MAX_KNOTS, (n_values - 1) / (_MAX_KNOTS - 1), 1.0)
    return np.asarray(np.rint(indices * np.repeat(steps, n_knots)), dtype=np.intp)


def _knots_and_scores(
    ordered: FloatArray,
    is_first: npt.NDArray[np.bool_],
    n_known: IndexArray,
    weights: FloatArray | None,
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return knots among sorted values, and the normal score of each, by column.

    `is_first` marks the first of equal values, `n_known` of which are there, and
    `weights` are those of the sorted values.
    """
    starts, n_values = np.flatnonzero(is_first), is_first.sum(axis=1)
    edges = np.cumsum(n_values)
    n_knots = np.minimum(n_values, _MAX_KNOTS)
    chosen = np.repeat(edges - n_values, n_knots) + _spaced(n_values)
    if weights is None:
        begin = np.arange(len(ordered)) * ordered.shape[1]
        stops = np.append(starts[1:], 0)
        stops[edges - 1] = begin + n_known
        # The middle between the first of equal values and the first of the next.
        middles = (starts[chosen] + stops[chosen]) / 2 - np.repeat(begin, n_knots)
        totals = n_known.astype(np.float64)
    else:
        middles, totals = _weighted_ranks(starts, n_values, n_known, weights)
        middles = middles[chosen]
    # Rounding may take the rank of a weight beside huge ones to nought or to one.
    shares = np.clip(middles / np.repeat(totals, n_knots), _RAREST, 1.0 - _RAREST)
    scores, knots = ndtri(shares), ordered.reshape(-1)[starts[chosen]]
    bounds = [0, *np.cumsum(n_knots).tolist()]
    own = [slice(*pair) for pair in pairwise(bounds)]
    return [knots[some] for some in own], [scores[some] for some in own]


def _weighted_ranks(
    starts: IndexArray, n_values: IndexArray, n_known: IndexArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the middle ranks of different values, and the sum of weights by column."""
    n_rows = weights.shape[1]
    weights = np.where(np.arange(n_rows) < n_known[:, None], weights, 0.0)
    sums = np.zeros((len(n_values), n_values.max()))
    is_value = np.arange(sums.shape[1]) < n_values[:, None]
    sums[is_value] = np.add.reduceat(weights.reshape(-1), starts)
    ranks = np.cumsum(sums, axis=1)
    return (ranks - sums / 2)[is_value], ranks[:, -1]


def means_and_stds(
    block: FloatArray, weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation of columns, for use as scales never zero.

    Columns are the rows of a block, (columns, rows), and NaN are left out. Computed
    relative to the largest value, so that no square overflows or underflows. Values
    that differ in their last digits alone count as constant; their spread is their
    size. A value of weight k counts as k copies.
    """
    shares = None if weights is None else weights[None] / weights.sum()
    total: Any = block.shape[1] if shares is None else 1.0
    is_missing = np.isnan(block)
    if is_missing.any():
        block = np.where(is_missing, 0.0, block)
        shares = ~is_missing * (1.0 if shares is None else shares)
        total = shares.sum(axis=1)
    largest = np.abs(block).max(axis=1, initial=0.0)
    scaled = block / np.where(largest == 0.0, 1.0, largest)[:, None]
    terms = scaled if shares is None else scaled * shares
    means = terms.sum(axis=1) / total
    scaled -= means[:, None]
    scaled *= scaled
    terms = scaled if shares is None else scaled * shares
    spreads = np.sqrt(terms.sum(axis=1) / total)
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
