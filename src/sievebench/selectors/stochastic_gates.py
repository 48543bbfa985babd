"""STG: a stochastic gate on every column, shared by all rows.

The gates are this package's own, not captum's `GaussianStochasticGates`: those draw
noise for every row (the published gates draw once a batch, which is what allows to fold
them into the first layer), take it from torch's global generator, and know no stack.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from sievebench.checks import check_layers, check_number
from sievebench.search_space import MLP_SPACE, LogUniform, SearchSpace
from sievebench.selectors._neural_selector import (
    EarlyStoppedSelector,
    NeuralProblem,
    ScoredStack,
)
from sievebench.stack.mlp import StackedMLP

# Gates start half open, up to a little noise.
_CENTRE, _INITIAL_SPREAD = 0.5, 0.01


@dataclass(kw_only=True, eq=False, repr=False)
class StochasticGates(EarlyStoppedSelector):
    """Score columns by gates that are learnt with the network behind them.

    Parameters
    ----------
    penalty : float or sequence of float, default=(0.1, 0.3, 1.0, 3.0)
        The λ below. Several strengths are trained together, and the one with the best
        validation score decides.
    gate_spread : float, default=0.5
        The σ below.
    hidden_sizes : sequence of int, default=(100, 100)
        Width of each hidden layer.
    dropout : float, default=0.0
        Fraction of hidden units left out in a training step.
    learning_rate : float, default=3e-3
        Of Adam, for gates and network.
    weight_decay : float, default=1e-3
        Added to the gradient.
    max_epochs : int, default=200
        Longest training.
    patience : int, default=40
        Epochs without a better validation score after which a network stops.
    n_features_to_select, batch_size, monitor, validation_fraction, n_networks, task, \
random_state, device : various
        As in every neural selector: see the base class `NeuralSelector`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The means μ of the gates.
    support_, network_scores_, penalty_ : various
        As in every neural selector.

    Notes
    -----
    Column j is multiplied by ``clip(μ_j + 0.5 + σ ε_j, 0, 1)``, ε standard normal and
    drawn once a batch; minimises ``L + λ mean_j Phi((μ_j + 0.5) / σ)``. Without noise
    on validation rows. Batches keep the memory small whatever the number of rows.
    Columns and a regression target are standardised first. `as_published` has the
    settings of the authors' package: λ = 0.1, 400 and 200 units, Adam with 1e-5 and
    weight decay 1e-3, batches of 100.

    References
    ----------
    Yamada, Lindenbaum, Negahban and Kluger, "Feature selection using stochastic gates",
    ICML 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sievebench.selectors.stochastic_gates import StochasticGates
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = StochasticGates(n_features_to_select=4, random_state=0)
    >>> selector.fit_transform(X, y).shape
    (178, 4)
    """

    published: ClassVar[Mapping[str, Any]] = {
        "penalty": 0.1,
        "hidden_sizes": (400, 200),
        "learning_rate": 1e-5,
        "batch_size": 100,
        "max_epochs": 10_000,
        "patience": 10_000,
        "monitor": "score",
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
    weight_decay: float = 1e-3

    def _check_parameters(self) -> None:
        """Raise ValueError for the first argument that is not allowed."""
        super()._check_parameters()
        check_number("gate_spread", self.gate_spread, above=0.0)
        check_layers(self.hidden_sizes, self.dropout)

    def _train_stack(self, problem: NeuralProblem) -> ScoredStack:
        """Train gates and networks together."""
        network = StackedMLP(
            problem.n_columns,
            problem.task_loss.n_outputs,
            hidden_sizes=tuple(self.hidden_sizes),
            noise=problem.noise(),
            dropout=self.dropout,
        )
        gated = GatedMLP(network, self.gate_spread)
        best = self._train(
            gated,
            problem,
            lambda losses: penalised_losses(losses, gated, problem.strengths),
            optimizer="adam",
            warm_up_epochs=0,
            decay_epochs=(),
        )
        return ScoredStack(gated.gate_means, best)


class GatedMLP:
    """MLPs of a stack whose columns pass through one gate each.

    The gate of a column is ``clip(μ + 0.5 + spread * noise, 0, 1)``, with μ from
    `gate_means`, (members, columns).
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
        means = self.gate_means
        noise = None
        if training:
            noise = self.noise.normal((means.shape[1],), means.dtype)
        gates = clipped_gate(means + _CENTRE, noise, self.spread)
        return self.network.forward(batch, training=training, column_scale=gates)


def penalised_losses(losses: Tensor, gated: GatedMLP, strengths: Tensor) -> Tensor:
    """Return ``L + λ mean_j Phi((μ_j + 0.5) / σ)``, (members,)."""
    is_open = open_probability(gated.gate_means + _CENTRE, gated.spread)
    return losses + strengths * is_open.mean(dim=1)


def clipped_gate(location: Tensor, noise: Tensor | None, spread: float) -> Tensor:
    """Return ``clip(location + spread * noise, 0, 1)``; without noise the clipped mean.

    The noise is standard normal, of a shape that `location` broadcasts to.
    """
    raw = location if noise is None else location + spread * noise
    return raw.clamp(0.0, 1.0)


def open_probability(location: Tensor, spread: float) -> Tensor:
    """Return the probability that a gate is above zero, Phi(location / spread)."""
    return 0.5 * (1.0 + torch.erf(location / (spread * math.sqrt(2.0))))
