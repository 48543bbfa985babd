"""STG: a stochastic gate on every column, shared by all rows.

Own gates: captum's draw noise for every row, and know no stack.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from sievebench.search_space import MLP_SPACE, LogUniform, SearchSpace
from sievebench.selectors._neural_selector import (
    EarlyStoppedSelector,
    KeptEpoch,
    NeuralProblem,
    ScoredStack,
)
from sievebench.stack.mlp import NormalStart, StackedMLP

# Gates start half open, up to a little noise.
_INITIAL_SPREAD = 0.01


@dataclass(kw_only=True, eq=False, repr=False)
class StochasticGates(EarlyStoppedSelector):
    """Score columns by gates that are learnt with the network behind them.

    Parameters
    ----------
    initial_bound : float or None, default=None
        Weights start from a standard normal cut off beyond ± this, biases at zero;
        None is PyTorch's start.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The means μ of the gates.

    Notes
    -----
    Column j is multiplied by ``clip(μ_j + 0.5 + σ ε_j, 0, 1)``, ε standard normal and
    drawn once a batch; minimises ``L + λ mean_j Phi((μ_j + 0.5) / σ)``, λ the penalty.
    Without noise on validation rows.

    References
    ----------
    Yamada, Lindenbaum, Negahban and Kluger, "Feature selection using stochastic gates",
    ICML 2020.
    """

    published: ClassVar[Mapping[str, Any]] = {
        "penalty": 0.1,
        "hidden_sizes": (400, 200),
        "initial_bound": 0.2,
        "kept_epoch": "last",
        "learning_rate": 1e-5,
        "batch_size": 100,
        "max_epochs": 10_000,
    }
    # Our proposal; the paper's space was not published.
    space: ClassVar[SearchSpace] = {
        **MLP_SPACE,
        "penalty": LogUniform(1e-3, 10.0),
        "learning_rate": LogUniform(1e-4, 1e-1),
    }

    penalty: float | Sequence[float] = (0.1, 0.3, 1.0, 3.0)
    gate_spread: float = 0.5
    hidden_sizes: Sequence[int] = (100, 100)
    dropout: float = 0.0
    initial_bound: float | None = None
    kept_epoch: KeptEpoch = "best"
    weight_decay: float = 1e-3

    def _train_stack(self, problem: NeuralProblem) -> ScoredStack:
        """Minimise ``L + λ mean_j Phi((μ_j + 0.5) / σ)`` by Adam."""
        bound = self.initial_bound
        network = StackedMLP(
            problem.n_columns,
            problem.task_loss.n_outputs,
            hidden_sizes=tuple(self.hidden_sizes),
            noise=problem.noise(),
            dropout=self.dropout,
            start=None if bound is None else NormalStart(1.0, bound),
        )
        gated = GatedMLP(network, self.gate_spread)
        validation = self._train(
            gated,
            problem,
            lambda losses: losses + problem.strengths * gated.open_share(),
            kept_epoch=self.kept_epoch,
            optimizer="adam",
            warm_up_epochs=0,
            decay_epochs=(),
        )
        return ScoredStack(gated.gate_means, validation)


class GatedMLP:
    """MLPs whose columns pass through a gate each, ``clip(μ + 0.5 + σ ε, 0, 1)``.

    The μ are `gate_means`, (members, columns), and σ is `spread`.
    """

    def __init__(self, network: StackedMLP, spread: float) -> None:
        self.network, self.spread = network, spread
        self.n_members, self.noise = network.n_members, network.noise
        self.numbers_per_row = network.numbers_per_row
        shape = (network.first_weight.shape[1],)
        means = self.noise.initial_normal(shape, _INITIAL_SPREAD, torch.float32)
        self.gate_means = means.requires_grad_()
        self.trainable = {**network.trainable, "gate_means": self.gate_means}
        self.state = {**network.state, "gate_means": self.gate_means}

    def forward(self, batch: Tensor, *, training: bool) -> Tensor:
        """Return outputs, (members, rows, outputs); in training gates are noisy."""
        raw = self.gate_means + 0.5
        if training:  # one draw for all rows of a batch
            raw = raw + self.spread * self.noise.normal(raw.shape[1:], raw.dtype)
        gates = raw.clamp(0.0, 1.0)
        return self.network.forward(batch, training=training, column_scale=gates)

    def open_share(self) -> Tensor:
        """Return the expected share of gates above zero, (members,)."""
        share: Tensor = torch.special.ndtr((self.gate_means + 0.5) / self.spread)
        return share.mean(dim=1)
