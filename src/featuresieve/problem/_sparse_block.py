"""Moments and products of sparse columns, of the cells that are stored alone."""

from typing import Any

import numpy as np

from featuresieve.tables import FloatArray

# Below this share of its mean square the variance of a column is rounding.
_LEAST_VARIANCE = 1e-12


class SparseBlock:
    """Columns of a CSC array whose rows have weights that sum to one.

    Means, variances and kurtoses follow from the sums of powers of the stored cells.
    """

    def __init__(self, columns: Any, weights: FloatArray) -> None:
        self._columns, self._weights = columns, weights
        self._cells = np.asarray(columns.data, dtype=np.float64)
        self._sizes = np.diff(columns.indptr)
        self._of_cell = weights[columns.indices]
        self.means = self._sums(self._cells)
        self._squares = self._sums(self._cells**2)
        variances = self._squares - self.means**2
        is_varying = variances > _LEAST_VARIANCE * self._squares
        self.variances = np.where(is_varying, variances, 0.0)

    def _sums(self, values: FloatArray) -> FloatArray:
        """Return the weighted sum of a value per cell over each column."""
        column = np.repeat(np.arange(len(self._sizes)), self._sizes)
        sums = np.bincount(column, values * self._of_cell, len(self._sizes))
        return np.asarray(sums, dtype=np.float64)

    def distances(self) -> "SparseBlock":
        """Return how far values are from the mean of their column, less a constant.

        The constant is the distance of a zero, so that zeros stay zeros.
        """
        mean = np.repeat(self.means, self._sizes)
        cells = np.abs(self._cells - mean) - np.abs(mean)
        own = self._columns
        shape = own.shape
        return SparseBlock(
            type(own)((cells, own.indices, own.indptr), shape), self._weights
        )

    def kurtoses(self) -> FloatArray:
        """Return the fourth central moments over the squared variances, or one."""
        mean, square = self.means, self._squares
        third, fourth = self._sums(self._cells**3), self._sums(self._cells**4)
        central = fourth - 4 * mean * third + 6 * mean**2 * square - 3 * mean**4
        is_varying = self.variances > 0
        scale = np.where(is_varying, self.variances, 1.0) ** 2
        return np.where(is_varying, central / scale, 1.0)

    def products(self, others: FloatArray) -> FloatArray:
        """Return centred columns, transposed, times `others`, (rows, columns)."""
        return np.asarray(
            self._columns.T @ others - np.outer(self.means, others.sum(axis=0))
        )

    def correlations(self, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return correlations with standardised targets, and the kurtoses.

        The targets are times the weights. A column that does not vary is correlated
        with none.
        """
        spreads = np.sqrt(np.where(self.variances > 0, self.variances, np.inf))
        return self.products(targets) / spreads[:, None], self.kurtoses()
