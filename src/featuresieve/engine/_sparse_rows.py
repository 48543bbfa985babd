"""Rows of a sparse table that stay sparse through the first layer."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor


class SparseRows:
    """A CSR table with the few methods that training asks of a dense tensor.

    The products with the weights of the first layer are scipy's, on the CPU. On
    another device a batch is made dense there, so memory holds one batch of it at a
    time, never the whole table.
    """

    def __init__(self, table: Any, device: torch.device) -> None:
        self.table, self.device = table, device

    @property
    def shape(self) -> tuple[int, int]:
        """Return (rows, columns)."""
        return int(self.table.shape[0]), int(self.table.shape[1])

    def new_zeros(self, *shape: int) -> Tensor:
        """Return zeros as the networks want them."""
        return torch.zeros(*shape, dtype=torch.float32, device=self.device)

    def index_select(self, dim: int, rows: Tensor) -> "SparseRows | Tensor":
        """Return some rows: sparse on the CPU, else dense."""
        assert dim == 0
        return self._on_device(self.table[rows.cpu().numpy()])

    def split(self, n_rows: int) -> "Iterator[SparseRows | Tensor]":
        """Yield all rows in parts."""
        for start in range(0, self.shape[0], n_rows):
            yield self._on_device(self.table[start : start + n_rows])

    def _on_device(self, part: Any) -> "SparseRows | Tensor":
        """Return a part of the table in the form the device can multiply."""
        if self.device.type == "cpu":
            return SparseRows(part, self.device)
        return torch.from_numpy(part.toarray()).to(self.device)

    def dense(self) -> Tensor:
        """Return all rows as a dense tensor."""
        return torch.from_numpy(self.table.toarray()).to(self.device)

    def product(self, weight: Tensor) -> Tensor:
        """Return rows times weight, (rows, width)."""
        return torch.from_numpy(np.asarray(self.table @ weight.numpy()))

    def transposed_product(self, slope: Tensor) -> Tensor:
        """Return rows transposed times slope, (columns, width)."""
        return torch.from_numpy(np.asarray(self.table.T @ slope.numpy()))
