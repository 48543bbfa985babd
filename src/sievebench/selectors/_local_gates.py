"""Local gates: a network that opens and shuts the columns of each row by itself."""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from sievebench.selectors._gaussian_gates import clipped_gate, open_probability
from sievebench.selectors._member_noise import MemberNoise
from sievebench.selectors._stacked_mlp import StackedMLP
from sievebench.selectors._stacked_training import StackRows, evaluation_blocks


@dataclass(frozen=True)
class GateShape:
    """How a gate follows from what the gating network says of a row and column.

    The gate is ``clip(slope * (α + spread * noise) + shift, 0, 1)``.

    Attributes
    ----------
    slope, spread, shift : float
    """

    slope: float
    spread: float
    shift: float

    def gates(self, alpha: Tensor, noise: Tensor | None) -> Tensor:
        """Return the gates of α; without noise their clipped means."""
        location = self.slope * alpha + self.shift
        return clipped_gate(location, noise, self.slope * self.spread)

    def open_probabilities(self, alpha: Tensor) -> Tensor:
        """Return the probability of each gate to be above zero."""
        return open_probability(alpha + self.shift / self.slope, self.spread)


class GatingNetwork:
    """Say α in (-1, 1) for every row and column: an MLP with tanh at its end too.

    Parameters
    ----------
    network : StackedMLP
        With one output a column.
    noise : MemberNoise
    shape : GateShape
    """

    def __init__(
        self, network: StackedMLP, noise: MemberNoise, shape: GateShape
    ) -> None:
        self.network, self.shape, self._noise = network, shape, noise

    def forward(self, batch: Tensor, *, training: bool) -> tuple[Tensor, Tensor]:
        """Return α and the gates, (members, rows, columns) each."""
        alpha = torch.tanh(self.network.forward(batch, training=training))
        noise = None
        if training:
            noise = self._noise.normal((alpha.shape[1], alpha.shape[2]), alpha.dtype)
        return alpha, self.shape.gates(alpha, noise)


class _HasGates(Protocol):
    """A network with a gating network in front."""

    gating: GatingNetwork
    numbers_per_row: int


def mean_gates(network: _HasGates, rows: StackRows) -> Tensor:
    """Return the mean over the training rows of the noise-free gates.

    Parameters
    ----------
    network : LocallyGatedMLP or PrototypeNetwork
    rows : StackRows

    Returns
    -------
    Tensor of shape (members, columns)
    """
    total: Tensor | None = None
    with torch.no_grad():
        for block in evaluation_blocks(rows.training, network.numbers_per_row):
            batch = rows.features.index_select(0, block)
            _, gates = network.gating.forward(batch, training=False)
            added = gates.sum(dim=1, dtype=torch.float64)
            total = added if total is None else total + added
    assert total is not None
    return total / len(rows.training)
