"""Columns of numbers are put on one scale."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from featuresieve.tables._normal_scores import has_missing, normal_scores

FloatArray = npt.NDArray[np.float64]
Float32Array = npt.NDArray[np.float32]
IndexArray = npt.NDArray[np.intp]

Scaling = Literal["normal_scores", "standard", "none"]


@dataclass(frozen=True)
class ColumnScaler:
    """Scaling of some columns, learnt from a table.

    "standard" subtracts the mean and divides by the standard deviation.
    "normal_scores" first replaces a value by the normal quantile of its mid-rank, so
    that long tails and outliers do not decide what a network can see; between the
    ranks of the learnt values it interpolates.
    """

    # Of each column the known values and the normal scores they map to; empty unless
    # ranks are used. Knots are of float32, where that holds them, until they are taken.
    knots: list[FloatArray]
    scores: list[FloatArray]
    means: FloatArray  # (columns,), applied last, as are the spreads
    spreads: FloatArray

    @classmethod
    def fit_transform(
        cls, block: FloatArray, scaling: Scaling, weights: FloatArray | None = None
    ) -> tuple["ColumnScaler", FloatArray]:
        """Learn the scaling of a block, (columns, rows), and return it scaled.

        What is NaN is missing and stays NaN; not all of a column is. A row of weight k
        counts as k copies; weights are positive. A column is scaled as it would be
        without the others, to the bit. The block may be changed.
        """
        knots: list[FloatArray] = []
        scores: list[FloatArray] = []
        means, spreads = np.zeros(len(block)), np.ones(len(block))
        if scaling == "normal_scores":
            block, knots, scores = normal_scores(block, weights)
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
            [known.astype(np.float64) for known in self.knots[columns]],
            [score.copy() for score in self.scores[columns]],
            self.means[columns].copy(),
            self.spreads[columns].copy(),
        )


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
    if has_missing(block):
        is_missing = np.isnan(block)
        block = np.where(is_missing, 0.0, block)
        shares = ~is_missing * (1.0 if shares is None else shares)
        total = shares.sum(axis=1)
    ends = block.max(axis=1, initial=0.0), -block.min(axis=1, initial=0.0)
    largest = np.abs(np.maximum(*ends))  # never a zero below zero
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
