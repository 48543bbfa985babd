"""Which encoded columns a gate opens, what it costs, and whether it may close."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

IndexArray = npt.NDArray[np.intp]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Gates:
    """The gates of a problem.

    Attributes
    ----------
    gate_of_column : array of shape (columns,)
        Which gate each encoded column stands behind, ascending.
    n_features : array of shape (gates,)
        How many of the user's features a gate opens.
    costs : array of shape (gates,)
        Price of an open gate; a plain feature costs one.
    is_forced : array of shape (gates,)
        Gates that are always open and cost nothing.
    """

    gate_of_column: IndexArray
    n_features: IndexArray
    costs: FloatArray
    is_forced: BoolArray

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
        place = np.full(len(self), -1, dtype=np.intp)
        place[gates] = np.arange(len(gates))
        kept = place[self.gate_of_column]
        return Gates(
            kept[kept >= 0],
            self.n_features[gates],
            self.costs[gates],
            self.is_forced[gates],
        )
