"""Gates on the columns, shared by all rows, in front of an MLP.

The gates are this package's own, not captum's `GaussianStochasticGates`: those draw
noise for every row (the published gates draw once a batch, which is what allows to fold
them into the first layer), take it from torch's global generator, and know no stack.
"""

import torch
from torch import Tensor

from sievebench.selectors._gaussian_gates import clipped_gate, open_probability
from sievebench.selectors._penalties import AddedPenalty
from sievebench.stack.member_noise import MemberNoise
from sievebench.stack.mlp import StackedMLP

# Gates start half open, up to a little noise.
_CENTRE, _INITIAL_SPREAD = 0.5, 0.01


class GatedMLP:
    """MLPs of a stack whose columns pass through one gate each.

    Parameters
    ----------
    network : StackedMLP
    n_columns : int
    noise : MemberNoise
        Initial gates and their noise.
    spread : float
        Standard deviation of the gates before they are clipped.

    Attributes
    ----------
    gate_means : Tensor of shape (members, columns)
        μ; a gate is ``clip(μ + 0.5 + spread * noise, 0, 1)``.
    """

    def __init__(
        self, network: StackedMLP, n_columns: int, noise: MemberNoise, spread: float
    ) -> None:
        self.network, self.noise, self.spread = network, noise, spread
        self.n_members = network.n_members
        self.numbers_per_row = network.numbers_per_row
        means = noise.initial_normal((n_columns,), _INITIAL_SPREAD, torch.float32)
        self.gate_means = means.requires_grad_()
        self.trainable = {**network.trainable, "gate_means": self.gate_means}
        self.state = {**network.state, "gate_means": self.gate_means}

    def forward(self, batch: Tensor, *, training: bool) -> Tensor:
        """Return outputs, (members, rows, outputs); in training gates are noisy."""
        means = self.gate_means
        noise = None
        if training:
            noise = self.noise.normal((means.shape[1],), means.dtype)
        gates = clipped_gate(means + _CENTRE, noise, self.spread)
        return self.network.forward(batch, training=training, column_scale=gates)


class GatePenalty(AddedPenalty[GatedMLP]):
    """Add ``λ mean_j Phi((μ_j + 0.5) / spread)``, the expected share of open gates."""

    def _penalty(self, task_losses: Tensor, network: GatedMLP) -> Tensor:  # noqa: ARG002
        """Return the share, (members,)."""
        is_open = open_probability(network.gate_means + _CENTRE, network.spread)
        return is_open.mean(dim=1)
