"""Which encoded columns a gate opens, what it costs, and whether it may close."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

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
    def n_features_in_all(self) -> int:
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


class GateTensors:
    """What the training step needs of the gates, on its device.

    Parameters
    ----------
    gates : Gates
    dtype, device
        Where the tensors live.

    Attributes
    ----------
    shares : Tensor of shape (gates, 1)
        Cost of each gate over the number of features: ``shares.T @ mask`` is the
        penalty, ``mean(mask)`` if all gates are plain.
    n_features : int
    """

    def __init__(
        self, gates: Gates, *, dtype: torch.dtype, device: torch.device
    ) -> None:
        self.n_features = gates.n_features_in_all
        costs = np.where(gates.is_forced, 0.0, gates.costs)
        shares = torch.from_numpy(costs / self.n_features).to(device, dtype)
        self.shares = shares.unsqueeze(-1)
        self._is_single = len(gates.gate_of_column) == len(gates)
        self._gate_of_column = torch.from_numpy(gates.gate_of_column).to(device)
        self._is_forced = None
        if gates.is_forced.any():
            forced = torch.from_numpy(gates.is_forced).to(device)
            self._is_forced = forced.unsqueeze(-1)
        if not self._is_single:
            self._prepare_sums(gates, device)

    def _prepare_sums(self, gates: Gates, device: torch.device) -> None:
        """Build the index with which the columns of wide gates are summed.

        Sums by index, not by scattered adds, whose order on a GPU is left to chance.
        """
        counts = np.bincount(gates.gate_of_column, minlength=len(gates))
        first = np.cumsum(counts) - counts
        wide = np.flatnonzero(counts > 1)
        steps = np.arange(counts.max(initial=1))
        index = first[wide, None] + steps
        index[steps >= counts[wide, None]] = len(gates.gate_of_column)  # a row of zeros
        self._first = torch.from_numpy(first).to(device)
        self._wide = torch.from_numpy(wide).to(device)
        self._wide_columns = torch.from_numpy(index).to(device)

    def force_(self, mask: Tensor) -> Tensor:
        """Open the forced gates; an open gate has no slope, so it stays as it is."""
        return (
            mask if self._is_forced is None else mask.masked_fill_(self._is_forced, 1)
        )

    def expand(self, mask: Tensor) -> Tensor:
        """Return the mask of the columns, (columns, members), from one of the gates."""
        return mask if self._is_single else mask.index_select(0, self._gate_of_column)

    def gather(self, slope: Tensor) -> Tensor:
        """Return the gradient by gates, (gates, members), from that by columns."""
        if self._is_single:
            return slope
        by_gate = slope.index_select(0, self._first)
        padded = torch.cat([slope, slope.new_zeros(1, slope.shape[1])])
        sums = padded[self._wide_columns].sum(dim=1)  # (wide gates, members)
        return by_gate.index_copy_(0, self._wide, sums)
