"""A selection problem, encoded: the matrix, the target, the gates, the weights."""

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from featuresieve.tables import Float32Array, FloatArray, IndexArray

BoolArray = npt.NDArray[np.bool_]
# One class a row, several zero-one labels a row, or real values.
Task = Literal["classification", "multilabel", "regression"]


@dataclass(frozen=True)
class Gates:
    """Which encoded columns a gate opens, what it costs, and whether it may close."""

    gate_of_column: IndexArray  # the gate of each encoded column, ascending
    n_features: IndexArray  # of the user's features, those that each gate opens
    costs: FloatArray  # price of each open gate; a plain feature costs one
    is_forced: BoolArray  # gates that are always open and cost nothing
    # Gates that stay closed, and are ranked last: constants, copies. None: no gates.
    is_shut: BoolArray | None = None

    @classmethod
    def plain(cls, n_columns: int) -> "Gates":
        """Return one gate for each column, all alike."""
        return cls(
            np.arange(n_columns),
            np.ones(n_columns, dtype=np.intp),
            np.ones(n_columns),
            np.zeros(n_columns, dtype=bool),
        )

    def __len__(self) -> int:
        return len(self.n_features)

    @property
    def is_plain(self) -> bool:
        """Tell whether every gate is one column that costs one and may close."""
        return (
            len(self.gate_of_column) == len(self)
            and not self.is_forced.any()
            and bool((self.costs == 1).all())
            and bool((self.n_features == 1).all())
        )

    @property
    def n_features_total(self) -> int:
        """Return the number of features behind all gates."""
        return int(self.n_features.sum())

    @property
    def edges(self) -> IndexArray:
        """Return where the columns of each gate begin, and where the last ones end."""
        return np.searchsorted(self.gate_of_column, np.arange(len(self) + 1))

    def columns_of(self, gates: IndexArray) -> IndexArray:
        """Return the columns behind some gates, in ascending order."""
        is_open = np.zeros(len(self), dtype=bool)
        is_open[gates] = True
        return np.flatnonzero(is_open[self.gate_of_column])

    def count(self, gates: IndexArray) -> int:
        """Return how many features some gates open."""
        return int(self.n_features[gates].sum())

    def take(self, gates: IndexArray) -> "Gates":
        """Return some of the gates, ascending, numbered anew."""
        number = np.full(len(self), -1, dtype=np.intp)
        number[gates] = np.arange(len(gates))
        kept = number[self.gate_of_column]
        return Gates(
            kept[kept >= 0],
            self.n_features[gates],
            self.costs[gates],
            self.is_forced[gates],
            None if self.is_shut is None else self.is_shut[gates],
        )


@dataclass(frozen=True)
class Problem:
    """What a search is run on."""

    features: Any  # float32 array or CSR array, (rows, columns)
    # Class codes, (rows,), or labels or values, (rows, outputs).
    targets: npt.NDArray[np.int64] | Float32Array
    n_outputs: int
    task: Task
    gates: Gates = field(default_factory=lambda: Gates.plain(0))  # or one a column
    row_weights: FloatArray | None = None  # mean one; None: all rows count alike
    # Rows of one group are copies of each other, and stay on one side of every split;
    # None: every row is a group of its own.
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
        """Return the groups of some rows, numbered from zero; None if all are alone.

        A row that stands there more than once, as folds may have it, is a group too.
        """
        asked = rows if self.row_groups is None else self.row_groups[rows]
        is_there = np.zeros(asked.max(initial=-1) + 1, dtype=bool)
        is_there[asked] = True
        if self.row_groups is None and np.count_nonzero(is_there) == len(rows):
            return None
        # What `np.unique` says, which takes a hundred times as long for many rows.
        return np.asarray((np.cumsum(is_there) - 1)[asked])

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
        if len(gates) == len(self.gates):
            return self
        columns = self.gates.columns_of(gates)
        if isinstance(self.features, np.ndarray):
            features = self.features.take(columns, axis=1)
        else:
            features = self.features[:, columns]
        return replace(self, features=features, gates=self.gates.take(gates))

    def weights_of(self, rows: IndexArray) -> FloatArray:
        """Return the weights of some rows, scaled to a mean of one."""
        if self.row_weights is None:
            return np.ones(len(rows))
        weights = self.row_weights[rows]
        return np.asarray(weights / weights.mean())

    def with_balanced_classes(self) -> "Problem":
        """Return the same problem with weights that give every class the same sum.

        A rare class then counts as much as a common one: where it is worth a few
        hundredths of the loss, its columns would not be worth their price.
        """
        if self.task != "classification":
            return self
        weights = self.weights_of(np.arange(self.n_rows))
        sums = np.bincount(self.targets, weights, minlength=self.n_outputs)
        n_classes = np.count_nonzero(sums)
        factors = self.n_rows / (n_classes * np.maximum(sums, 1e-12))
        if np.allclose(factors, 1.0):
            return self
        balanced = np.asarray(weights * factors[self.targets])
        return replace(self, row_weights=balanced)

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
