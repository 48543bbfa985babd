"""Columns of numbers are put on one scale."""

from collections.abc import Iterator
from dataclasses import dataclass
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
    """Scaling of every column, learnt from a table.

    "standard" subtracts the mean and divides by the standard deviation.
    "normal_scores" first replaces a value by the normal quantile of its mid-rank, so
    that long tails and outliers do not decide what a network can see; between the
    ranks of the learnt values it interpolates.

    Attributes
    ----------
    knots, scores : list of arrays, empty unless ranks are used
        For each column the known values and the normal scores they map to.
    means, spreads : arrays of shape (columns,)
        Applied last.
    """

    knots: list[FloatArray]
    scores: list[FloatArray]
    means: FloatArray
    spreads: FloatArray

    @classmethod
    def fit(
        cls,
        X: npt.NDArray[np.floating],
        scaling: Scaling,
        weights: FloatArray | None = None,
    ) -> "ColumnScaler":
        """Learn the scaling of the columns of X.

        A row of weight k counts as k copies; weights are positive.
        """
        return cls.fit_transform(X, scaling, weights)[0]

    @classmethod
    def fit_transform(
        cls,
        X: npt.NDArray[np.floating],
        scaling: Scaling,
        weights: FloatArray | None = None,
    ) -> tuple["ColumnScaler", list[FloatArray]]:
        """Learn the scaling of the columns of X, and return them scaled too."""
        n_columns = X.shape[1]
        knots: list[FloatArray] = []
        scores: list[FloatArray] = []
        means, spreads = np.zeros(n_columns), np.ones(n_columns)
        scaled = []
        for j in range(n_columns):
            column = X[:, j].astype(np.float64)
            if scaling == "normal_scores":
                # Sorted values are found among the knots ten times as fast.
                order = np.argsort(column)
                ordered = column[order]
                own = None if weights is None else weights[order]
                known, score = _normal_scores(ordered, own)
                knots.append(known)
                scores.append(score)
                column[order] = np.interp(ordered, known, score)
            if scaling != "none":
                means[j], spreads[j] = mean_and_std(column, weights)
            scaled.append(_centred(column, means[j], spreads[j]))
        return cls(knots, scores, means, spreads), scaled

    @classmethod
    def fit_each(
        cls, block: FloatArray, scaling: Scaling
    ) -> tuple[list["ColumnScaler"], FloatArray]:
        """Learn the scaling of many columns at once, and return them scaled too.

        The same numbers as `fit_transform` of each column alone, in less time where
        there are few rows.

        Parameters
        ----------
        block : array of shape (columns, rows)
            Used as memory.
        scaling : "normal_scores", "standard" or "none"

        Returns
        -------
        scalers : list of ColumnScaler
            Of one column each.
        scaled : array of shape (columns, rows)
        """
        n_columns = len(block)
        knots: list[list[FloatArray]] = [[] for _ in range(n_columns)]
        scores: list[list[FloatArray]] = [[] for _ in range(n_columns)]
        means, spreads = np.zeros(n_columns), np.ones(n_columns)
        if scaling == "normal_scores":
            order = np.argsort(block, axis=1)
            ordered = np.take_along_axis(block, order, axis=1)
            for j, (known, score) in enumerate(_normal_scores_each(ordered)):
                knots[j], scores[j] = [known], [score]
            np.put_along_axis(block, order, ordered, axis=1)
        if scaling != "none":
            means, spreads = _means_and_stds(block)
        block /= spreads[:, None]
        block -= (means / spreads)[:, None]
        scalers = [
            cls(knots[j], scores[j], means[j : j + 1], spreads[j : j + 1])
            for j in range(n_columns)
        ]
        return scalers, block

    def transform(self, X: npt.NDArray[np.floating]) -> Float32Array:
        """Return the scaled columns as float32."""
        scaled = np.empty(X.shape, dtype=np.float32)
        for j in range(X.shape[1]):
            scaled[:, j] = self.scaled_column(j, X[:, j])
        return scaled

    def scaled_column(self, j: int, values: npt.NDArray[np.generic]) -> FloatArray:
        """Return scaled values of column j; what is NaN stays NaN."""
        column = values.astype(np.float64)
        if self.knots:
            column = np.interp(column, self.knots[j], self.scores[j])
        return _centred(column, self.means[j], self.spreads[j])

    def take(self, columns: IndexArray) -> "ColumnScaler":
        """Return the scaler of some of the columns."""
        return ColumnScaler(
            [self.knots[j] for j in columns] if self.knots else [],
            [self.scores[j] for j in columns] if self.scores else [],
            self.means[columns],
            self.spreads[columns],
        )


def _centred(column: FloatArray, mean: float, spread: float) -> FloatArray:
    """Return values less their mean, in units of their spread."""
    scaled: FloatArray = column / spread
    scaled -= mean / spread
    return scaled


def _normal_scores(
    ordered: FloatArray, weights: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Return knots among sorted values, and the normal score of each."""
    is_first = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    values = ordered[starts]
    if weights is None:
        stops = np.append(starts[1:], len(ordered))
        counts: FloatArray = (stops - starts).astype(np.float64)
        total = float(len(ordered))
    else:
        counts = np.add.reduceat(weights, starts)
        total = float(counts.sum())
    mid_ranks = np.cumsum(counts) - counts / 2
    if len(values) > _MAX_KNOTS:
        keep = np.unique(
            np.linspace(0, len(values) - 1, _MAX_KNOTS).round().astype(int)
        )
        values, mid_ranks = values[keep], mid_ranks[keep]
    # Rounding may take the rank of a weight beside huge ones to nought or to one.
    return values, ndtri(np.clip(mid_ranks / total, _RAREST, 1.0 - _RAREST))


def _normal_scores_each(ordered: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield knots and scores of rows of sorted values, and put the scores there."""
    n_rows = ordered.shape[1]
    is_tied = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    _, plain = _normal_scores(np.arange(n_rows, dtype=np.float64), None)
    for values, is_slow in zip(ordered, is_tied | (n_rows > _MAX_KNOTS), strict=True):
        if is_slow:
            known, score = _normal_scores(values, None)
            values[:] = np.interp(values, known, score)
        else:  # every value is a knot
            known, score = values.copy(), plain
            values[:] = plain
        yield known, score


def _means_and_stds(block: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return what `mean_and_std` does for each row of a block."""
    largest = np.abs(block).max(axis=1, initial=0.0)
    unit = np.where(largest == 0.0, 1.0, largest)
    scaled = block / unit[:, None]
    means, spreads = scaled.mean(axis=1), scaled.std(axis=1)
    scales = np.where(spreads > 1e-12, spreads, 1.0) * largest
    return means * largest, np.where(scales > 0.0, scales, 1.0)


def mean_and_std(
    values: FloatArray, weights: FloatArray | None = None
) -> tuple[float, float]:
    """Return mean and standard deviation, for use as a scale never zero.

    Computed relative to the largest value, so that no square overflows or underflows.
    Values that differ in their last digits alone count as constant; their spread is
    their size. A value of weight k counts as k copies.
    """
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0.0:
        return 0.0, 1.0
    scaled = values / largest
    if weights is None:
        mean, spread = float(scaled.mean()), float(scaled.std())
    else:
        share = weights / weights.sum()
        mean = float(share @ scaled)
        spread = float(np.sqrt(share @ (scaled - mean) ** 2))
    scale = (spread if spread > 1e-12 else 1.0) * largest
    return mean * largest, scale if scale > 0.0 else 1.0


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
