"""Local gates: a network that opens and shuts the columns of each row by itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from sievebench.selectors._gaussian_gates import clipped_gate, open_probability
from sievebench.selectors._penalties import AddedPenalty
from sievebench.stack.member_noise import MemberNoise
from sievebench.stack.mlp import StackedMLP
from sievebench.stack.training import StackRows, evaluation_blocks


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


class LocallyGatedMLP:
    """Predict from the columns of each row that a gating network lets through.

    Parameters
    ----------
    gating : GatingNetwork
    predictor : StackedMLP

    Attributes
    ----------
    alpha : Tensor of shape (members, rows, columns)
        What the gating network said in the last forward pass.
    """

    def __init__(self, gating: GatingNetwork, predictor: StackedMLP) -> None:
        self.gating, self._predictor = gating, predictor
        self.n_members, self.noise = predictor.n_members, predictor.noise
        self.trainable = _joined(gating.network.trainable, predictor.trainable)
        self.state = _joined(gating.network.state, predictor.state)
        self.numbers_per_row = max(
            gating.network.numbers_per_row, predictor.numbers_per_row
        )
        self.alpha = torch.empty(0)

    def forward(self, batch: Tensor, *, training: bool) -> Tensor:
        """Return outputs, (members, rows, outputs), of a batch, (rows, columns)."""
        self.alpha, gates = self.gating.forward(batch, training=training)
        return self._predictor.forward(batch * gates, training=training)


class LocalGatePenalty(AddedPenalty[LocallyGatedMLP]):
    """Add ``λ mean_ij Phi((α_ij + 1 / (2 slope)) / spread)``."""

    def _penalty(self, task_losses: Tensor, network: LocallyGatedMLP) -> Tensor:  # noqa: ARG002
        """Return the expected share of open gates, (members,)."""
        return network.gating.shape.open_probabilities(network.alpha).mean(dim=(1, 2))


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


def _joined(
    gating: Mapping[str, Tensor], predictor: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Return both networks' tensors under names of their own."""
    return {
        **{f"gating.{name}": value for name, value in gating.items()},
        **{f"predictor.{name}": value for name, value in predictor.items()},
    }
