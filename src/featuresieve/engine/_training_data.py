"""What a training step reads besides the networks: rows, their weights, gates."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from featuresieve.engine._training import Reduction

# Cells of a sparse table that is dense on another device than the CPU, a gibibyte: its
# steps can be captured.
_DENSE = 1 << 28


class SparseRows:
    """A CSR table with the few methods that training asks of a dense tensor.

    The products with the weights of the first layer are scipy's, on the CPU. On
    another device, which has the cells, a batch is made dense: memory holds one batch
    of it at a time, never the whole table.
    """

    def __init__(self, table: Any, device: torch.device) -> None:
        self.table, self.device = table, device
        self._cells = None if device.type == "cpu" else DeviceCells(table, device)

    @classmethod
    def of(cls, table: Any, device: torch.device) -> "SparseRows | Tensor":
        """Return a table as it trains fastest: dense where that takes little memory."""
        if device.type == "cpu" or table.shape[0] * table.shape[1] > _DENSE:
            return cls(table, device)
        return DeviceCells(table, device).all_rows()

    @property
    def shape(self) -> tuple[int, int]:
        """Return (rows, columns)."""
        return int(self.table.shape[0]), int(self.table.shape[1])

    def new_zeros(self, *shape: int) -> Tensor:
        """Return zeros as the networks want them."""
        return torch.zeros(*shape, dtype=torch.float32, device=self.device)

    def index_select(self, dim: int, rows: Tensor) -> "SparseRows | Tensor":
        """Return some rows, none twice: sparse on the CPU, else dense."""
        assert dim == 0
        if self._cells is not None:
            return self._cells.dense(rows)
        return SparseRows(self.table[rows.numpy()], self.device)

    def columns(self, some: Tensor) -> "SparseRows | Tensor":
        """Return some columns."""
        return SparseRows.of(self.table[:, some.cpu().numpy()], self.device)

    def split(self, n_rows: int) -> "Iterator[SparseRows | Tensor]":
        """Yield all rows in parts."""
        for part in torch.arange(self.shape[0], device=self.device).split(n_rows):
            yield self.index_select(0, part)

    def dense(self) -> Tensor:
        """Return all rows as a dense tensor."""
        return torch.from_numpy(self.table.toarray()).to(self.device)

    def product(self, weight: Tensor) -> Tensor:
        """Return rows times weight, (rows, width)."""
        return torch.from_numpy(np.asarray(self.table @ weight.numpy()))

    def transposed_product(self, grad: Tensor) -> Tensor:
        """Return rows transposed times grad, (columns, width)."""
        return torch.from_numpy(np.asarray(self.table.T @ grad.numpy()))


class DeviceCells:
    """The cells of a CSR table on a device, where rows of it are made dense.

    The device is never waited for: no size depends on how many cells some rows have.
    """

    def __init__(self, table: Any, device: torch.device) -> None:
        counts = np.diff(table.indptr).astype(np.int64)
        # The most cells that so many rows may have.
        self._most = np.append(0, np.cumsum(np.sort(counts)[::-1]))
        self._starts = torch.from_numpy(table.indptr[:-1].astype(np.int64)).to(device)
        self._counts = torch.from_numpy(counts).to(device)
        self._columns = torch.from_numpy(table.indices).to(device)
        self._values = torch.from_numpy(table.data).to(device)
        self._n_columns = int(table.shape[1])

    def all_rows(self) -> Tensor:
        """Return the whole table."""
        return self.dense(torch.arange(len(self._counts), device=self._counts.device))

    def dense(self, rows: Tensor) -> Tensor:
        """Return some rows, none twice."""
        n_rows, device = len(rows), rows.device
        counts = self._counts[rows]
        ends = counts.cumsum(0)
        cell = torch.arange(int(self._most[n_rows]), device=device)
        # Of each cell; for those that other rows might have had, one behind the last.
        row = torch.searchsorted(ends, cell, right=True)
        shift = self._starts[rows] + counts - ends
        place = cell + torch.cat([shift, shift.new_zeros(1)])[row]
        flat = self._values.new_zeros((n_rows + 1) * self._n_columns)
        index = row * self._n_columns + self._columns[place]
        flat.scatter_(0, index, self._values[place])
        return flat.view(n_rows + 1, self._n_columns)[:n_rows]


class GateTensors:
    """What the training step needs of the gates, on its device.

    `gate_of_column` tells which gate each column stands behind, ascending; gates that
    are forced are always open and cost nothing. `shares`, (gates, 1), holds the cost
    of each gate over the number of features: ``shares.T @ mask`` is the penalty,
    ``mean(mask)`` if all gates are plain.
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
        self._of_columns, self._costs = gate_of_column, costs
        self.is_forced = is_forced
        costs = np.where(is_forced, 0.0, costs)
        shares = torch.from_numpy(costs / self.n_features).to(device, dtype)
        self.shares = shares.unsqueeze(-1)
        self._is_single = len(gate_of_column) == len(costs)
        self._gate_of_column = torch.from_numpy(gate_of_column).to(device)
        self._forced = None
        if is_forced.any():
            self._forced = torch.from_numpy(is_forced).to(device).unsqueeze(-1)
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

    @classmethod
    def plain(
        cls, n_gates: int, *, dtype: torch.dtype, device: torch.device
    ) -> "GateTensors":
        """Return one gate for each column, all alike."""
        return cls(
            np.arange(n_gates),
            n_gates,
            np.ones(n_gates),
            np.zeros(n_gates, dtype=np.bool_),
            dtype=dtype,
            device=device,
        )

    def take(self, is_open: npt.NDArray[np.bool_]) -> tuple["GateTensors", Tensor]:
        """Return some gates, which cost what they did, and the columns behind them."""
        columns = np.flatnonzero(is_open[self._of_columns])
        device = self.shares.device
        part = GateTensors(
            (np.cumsum(is_open) - 1)[self._of_columns[columns]],
            self.n_features,
            self._costs[is_open],
            self.is_forced[is_open],
            dtype=self.shares.dtype,
            device=device,
        )
        return part, torch.from_numpy(columns).to(device)

    def force_(self, mask: Tensor) -> Tensor:
        """Open the forced gates; an open gate has no gradient, so it stays as it is."""
        return mask if self._forced is None else mask.masked_fill_(self._forced, 1)

    def expand(self, mask: Tensor) -> Tensor:
        """Return the mask of the columns, (columns, members), from one of the gates."""
        return mask if self._is_single else mask.index_select(0, self._gate_of_column)

    def gather(self, grad: Tensor) -> Tensor:
        """Return the gradient by gates, (gates, members), from that by columns."""
        if self._is_single:
            return grad
        by_gate = grad.index_select(0, self._first)
        padded = torch.cat([grad, grad.new_zeros(1, grad.shape[1])])
        sums = padded[self._wide_columns].sum(dim=1)  # (wide gates, members)
        return by_gate.index_copy_(0, self._wide, sums)


@dataclass(frozen=True)
class TrainingData:
    """Rows on the training device.

    A set is an alternative weighting of the rows, (sets, rows): sample weights, and
    zero for rows a member must not see. With disjoint rows for task and mask a gate
    stays open only if its feature helps on rows that the task network has not learnt
    from.
    """

    features: Tensor | SparseRows  # (rows, columns)
    targets: Tensor  # class codes, (rows,), or (rows, outputs)
    task_weights: Tensor | None = None  # in the loss that trains the task networks
    mask_weights: Tensor | None = None  # in the one that trains the mask, if another
    set_of_member: Tensor | None = None  # which of the sets each member uses
    gates: GateTensors | None = None  # None: one plain gate for each column

    def batch(self, rows: Tensor, reduction: Reduction) -> "TrainingData":
        """Return some rows, with weights whose weighted sum of losses is reduced."""

        def pick(weights: Tensor | None) -> Tensor | None:
            if weights is None:
                return None
            return normalized_weights(weights[:, rows], reduction)

        return TrainingData(
            self.features.index_select(0, rows),
            self.targets.index_select(0, rows),
            pick(self.task_weights),
            pick(self.mask_weights),
            self.set_of_member,
            self.gates,
        )

    def orders(
        self, batch_size: int, generator: torch.Generator, is_whole: bool
    ) -> Iterator[Tensor]:
        """Yield row numbers for ever, every row once an epoch, in a new order.

        Unless `is_whole`, no batch is a single row, on which batch normalisation in a
        user's module cannot train.
        """
        n_rows = self.features.shape[0]
        is_last_single = n_rows > batch_size > 1 and n_rows % batch_size == 1
        n_used = n_rows - (is_last_single and not is_whole)
        device = self.features.device
        is_cuda = device.type == "cuda"  # which need not finish the epoch before
        while True:
            order = torch.randperm(n_rows, generator=generator)[:n_used]
            yield from order.to(device, non_blocking=is_cuda).split(batch_size)

    def of_gates(self, is_open: npt.NDArray[np.bool_]) -> tuple["TrainingData", Tensor]:
        """Return the same rows behind some of the gates, and the columns of these."""
        features = self.features
        dtype = torch.float32 if isinstance(features, SparseRows) else features.dtype
        gates = self.gates or GateTensors.plain(
            len(is_open), dtype=dtype, device=features.device
        )
        gates, columns = gates.take(is_open)
        if isinstance(features, SparseRows):
            features = features.columns(columns)
        else:
            features = features.index_select(1, columns)
        return replace(self, features=features, gates=gates), columns

    def of_members(self, members: slice) -> "TrainingData":
        """Return the same rows for some of the members."""
        if self.set_of_member is None:
            return self
        return replace(self, set_of_member=self.set_of_member[members])

    def weights_by_member(self) -> tuple[Tensor | None, Tensor | None]:
        """Return task and mask weights, (members, rows) each."""

        def pick(weights: Tensor | None) -> Tensor | None:
            return None if weights is None else weights[self.set_of_member]

        return pick(self.task_weights), pick(self.mask_weights)


def normalized_weights(row_weights: Tensor, reduction: Reduction) -> Tensor:
    """Return weights, (members, rows), whose weighted sum of losses is reduced.

    Loss and gradient are zero for a member whose weights are all zero in a batch.
    """
    if reduction == "sum":
        return row_weights
    totals = row_weights.sum(dim=-1, keepdim=True)
    return row_weights / totals.clamp_min(torch.finfo(totals.dtype).tiny)
