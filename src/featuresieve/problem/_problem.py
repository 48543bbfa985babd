"""A selection problem, encoded: the matrix, the target, the gates, the weights."""

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from featuresieve.problem._gates import FloatArray, Gates, IndexArray
from featuresieve.tables import Float32Array

Task = Literal["classification", "multilabel", "regression"]


@dataclass(frozen=True)
class Problem:
    """What a search is run on.

    Attributes
    ----------
    features : float32 array or scipy CSR array of shape (rows, columns)
    targets : array of class codes (rows,), or of labels or values (rows, outputs)
    n_outputs : int
    task : {"classification", "multilabel", "regression"}
        One class a row, several zero-one labels a row, or real values.
    gates : Gates
        One plain gate for each column unless given.
    row_weights : array of shape (rows,) or None
        With mean one; None means that all rows count alike.
    row_groups : array of int of shape (rows,) or None
        Rows of one group are copies of each other, and stay on one side of every split;
        None means that every row is a group of its own.
    """

    features: Any
    targets: npt.NDArray[np.int64] | Float32Array
    n_outputs: int
    task: Task
    gates: Gates = field(default_factory=lambda: Gates.plain(0))
    row_weights: FloatArray | None = None
    row_groups: IndexArray | None = None

    def __post_init__(self) -> None:
        if len(self.gates) == 0:
            plain = Gates.plain(int(self.features.shape[1]))
            object.__setattr__(self, "gates", plain)

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return int(self.features.shape[0])

    @property
    def n_groups(self) -> int:
        """Return the number of rows that are no copies of others."""
        if self.row_groups is None:
            return self.n_rows
        return int(np.count_nonzero(np.bincount(self.row_groups)))

    def groups_of(self, rows: IndexArray) -> IndexArray | None:
        """Return the groups of some rows, numbered from zero; None if all are alone."""
        if self.row_groups is None:
            return None
        return np.unique(self.row_groups[rows], return_inverse=True)[1].reshape(-1)

    @property
    def n_bytes(self) -> int:
        """Return the memory that the features take."""
        if isinstance(self.features, np.ndarray):
            return self.features.nbytes
        parts = (self.features.data, self.features.indices, self.features.indptr)
        return sum(part.nbytes for part in parts)

    @property
    def n_columns(self) -> int:
        """Return the number of encoded columns."""
        return int(self.features.shape[1])

    @property
    def n_features(self) -> int:
        """Return the number of the user's features."""
        return self.gates.n_features_total

    def take(self, gates: IndexArray) -> "Problem":
        """Return the same problem with some of its gates."""
        gates = np.sort(gates)
        features = self.features[:, self.gates.columns_of(gates)]
        if isinstance(features, np.ndarray):
            features = np.ascontiguousarray(features)
        return replace(self, features=features, gates=self.gates.take(gates))

    def weights_of(self, rows: IndexArray) -> FloatArray:
        """Return the weights of some rows, scaled to a mean of one."""
        if self.row_weights is None:
            return np.ones(len(rows))
        weights = self.row_weights[rows]
        return np.asarray(weights / weights.mean())

    def constant_losses(
        self, fit_rows: IndexArray, test_rows: IndexArray
    ) -> FloatArray:
        """Return the loss on each of `test_rows` of the best constant for `fit_rows`.

        The class shares, one count added to each class; the share of each label, one
        count added to either side; or the mean.
        """
        weights = self.weights_of(fit_rows)
        seen, asked = self.targets[fit_rows], self.targets[test_rows]
        if self.task == "classification":
            counts = np.bincount(seen, weights, minlength=self.n_outputs) + 1.0
            losses = -np.log(counts / counts.sum())
            return np.asarray(losses[asked])
        sums = weights @ seen.astype(np.float64)
        if self.task == "regression":
            mean = sums / weights.sum()
            return np.asarray(((asked - mean) ** 2).mean(axis=1))
        rates = (sums + 1) / (weights.sum() + 2)
        losses = -asked * np.log(rates) - (1 - asked) * np.log1p(-rates)
        return np.asarray(losses.mean(axis=1))

    def n_uncommon(self, rows: IndexArray) -> int:
        """Return how many of some rows do not have their most common target.

        Copies of a row count once.
        """
        targets = self.targets[rows].reshape(len(rows), -1)
        kinds = targets[:, 0] if targets.shape[1] == 1 else targets
        _, kind, counts = np.unique(
            kinds, axis=0, return_inverse=True, return_counts=True
        )
        uncommon = rows[kind.reshape(-1) != counts.argmax()]
        groups = self.groups_of(uncommon)
        return len(uncommon) if groups is None else len(np.unique(groups))

    def null_loss(self) -> float:
        """Return the loss of the best constant on the rows it was chosen on."""
        rows = np.arange(self.n_rows)
        losses = self.constant_losses(rows, rows)
        return float((losses * self.weights_of(rows)).mean())
