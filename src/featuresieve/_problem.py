"""A selection problem, encoded: the matrix, the target, and the loss to minimise."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from featuresieve._columns import Float32Array
from featuresieve._objective import CrossEntropyLoss, SquaredErrorLoss, TaskLoss


@dataclass(frozen=True)
class Problem:
    """What a search is run on.

    Attributes
    ----------
    features : array of shape (rows, columns)
    targets : array of class codes (rows,), or of scaled values (rows, outputs)
    n_outputs : int
    is_classification : bool
    """

    features: Float32Array
    targets: npt.NDArray[np.int64] | Float32Array
    n_outputs: int
    is_classification: bool

    @property
    def loss(self) -> TaskLoss:
        """Return the task loss."""
        return CrossEntropyLoss() if self.is_classification else SquaredErrorLoss()

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return int(self.features.shape[0])

    @property
    def n_columns(self) -> int:
        """Return the number of encoded columns."""
        return int(self.features.shape[1])

    def take(self, columns: npt.NDArray[np.intp]) -> "Problem":
        """Return the same problem with some of its columns."""
        features = np.ascontiguousarray(self.features[:, columns])
        return replace(self, features=features)

    def constant_losses(
        self, fit_rows: npt.NDArray[np.intp], test_rows: npt.NDArray[np.intp]
    ) -> npt.NDArray[np.float64]:
        """Return the loss on each of `test_rows` of the best constant for `fit_rows`.

        Classification: the class shares, one count added to each class; regression:
        the mean.
        """
        if self.is_classification:
            counts = np.bincount(self.targets[fit_rows], minlength=self.n_outputs) + 1.0
            losses = -np.log(counts / counts.sum())
            return np.asarray(losses[self.targets[test_rows]])
        mean = self.targets[fit_rows].mean(axis=0, dtype=np.float64)
        return np.asarray(((self.targets[test_rows] - mean) ** 2).mean(axis=1))

    def null_loss(self) -> float:
        """Return the loss of the best constant on the rows it was chosen on."""
        rows = np.arange(self.n_rows)
        return float(self.constant_losses(rows, rows).mean())
