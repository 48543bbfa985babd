"""What a training step needs of the gates: costs, forced ones, columns behind each."""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor


class GateTensors:
    """What the training step needs of the gates, on its device.

    Parameters
    ----------
    gate_of_column : array of shape (columns,)
        Which gate each column stands behind, ascending.
    n_features : int
        Features behind all gates.
    costs : array of shape (gates,)
    is_forced : array of shape (gates,)
        Gates that are always open and cost nothing.
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
        self,
        gate_of_column: npt.NDArray[np.intp],
        n_features: int,
        costs: npt.NDArray[np.float64],
        is_forced: npt.NDArray[np.bool_],
        *,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        self.n_features = n_features
        costs = np.where(is_forced, 0.0, costs)
        shares = torch.from_numpy(costs / self.n_features).to(device, dtype)
        self.shares = shares.unsqueeze(-1)
        self._is_single = len(gate_of_column) == len(costs)
        self._gate_of_column = torch.from_numpy(gate_of_column).to(device)
        self._is_forced = None
        if is_forced.any():
            forced = torch.from_numpy(is_forced).to(device)
            self._is_forced = forced.unsqueeze(-1)
        if not self._is_single:
            self._prepare_sums(gate_of_column, len(costs), device)

    def _prepare_sums(
        self, gate_of_column: npt.NDArray[np.intp], n_gates: int, device: torch.device
    ) -> None:
        """Build the index with which the columns of wide gates are summed.

        Sums by index, not by scattered adds, whose order on a GPU is left to chance.
        """
        counts = np.bincount(gate_of_column, minlength=n_gates)
        first = np.cumsum(counts) - counts
        wide = np.flatnonzero(counts > 1)
        steps = np.arange(counts.max(initial=1))
        index = first[wide, None] + steps
        index[steps >= counts[wide, None]] = len(gate_of_column)  # a row of zeros
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
