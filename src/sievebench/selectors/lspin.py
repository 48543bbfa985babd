"""LSPIN: gates that depend on the row, in front of a predictor network."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor

from sievebench.search_space import HiddenSizes, Integer, LogUniform, SearchSpace
from sievebench.selectors._neural_selector import (
    EarlyStoppedSelector,
    KeptEpoch,
    NeuralProblem,
    ScoredStack,
)
from sievebench.stack.mlp import NormalStart, StackedMLP
from sievebench.stack.training import StackRows, evaluation_blocks


@dataclass(kw_only=True, eq=False, repr=False)
class LSPIN(EarlyStoppedSelector):
    """Score columns by how far gates that depend on the row are open on average.

    Parameters
    ----------
    gating_sizes : sequence of int, default=(100,)
        Hidden layers of the gating network.
    hidden_sizes : sequence of int, default=(100, 50)
        Hidden layers of the predictor; empty for a linear one (LLSPIN).
    initial_std : float or None, default=None
        Weights of both networks start normal with this deviation, cut off at two of
        them, biases at zero; None is PyTorch's start.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Mean over the training rows of the gates without noise.

    Notes
    -----
    A gating network says α_ij in (-1, 1) for row i and column j; the value there is
    multiplied by ``clip(a (α_ij + σ ε_ij) + 0.5, 0, 1)``, ε standard normal; minimises
    ``L + λ mean_ij Phi((α_ij + 1 / (2 a)) / σ)``, λ the penalty. The predictor has tanh
    units, and normalises what comes into each of its layers by the batch, the gated
    columns first.

    References
    ----------
    Yang, Lindenbaum and Kluger, "Locally sparse neural networks for tabular biomedical
    data", ICML 2022.
    """

    published: ClassVar[Mapping[str, Any]] = {
        "penalty": 0.5,
        "gating_sizes": (100, 10),
        "hidden_sizes": (100, 50, 30),
        "initial_std": 0.1,
        "kept_epoch": "last",
        "optimizer": "sgd",
        "learning_rate": 0.1,
        "weight_decay": 0.0,
        "batch_size": 512,
        "max_epochs": 5_000,
    }
    # Our proposal; the paper's space was not published.
    space: ClassVar[SearchSpace] = {
        "penalty": LogUniform(1e-3, 10.0),
        "gating_sizes": HiddenSizes(Integer(1, 2), Integer(10, 500)),
        "hidden_sizes": HiddenSizes(Integer(1, 4), Integer(1, 512)),
        "learning_rate": LogUniform(1e-4, 1e-1),
    }

    penalty: float | Sequence[float] = (0.1, 0.3, 1.0, 3.0)
    gate_slope: float = 1.0
    gate_spread: float = 0.5
    gating_sizes: Sequence[int] = (100,)
    hidden_sizes: Sequence[int] = (100, 50)
    dropout: float = 0.0
    initial_std: float | None = None
    optimizer: Literal["adam", "sgd"] = "adam"
    kept_epoch: KeptEpoch = "best"

    def _train_stack(self, problem: NeuralProblem) -> ScoredStack:
        """Minimise ``L + λ mean_ij Phi((α_ij + 1 / (2 a)) / σ)`` over both networks."""
        network = self._build_network(problem)

        def penalised(losses: Tensor) -> Tensor:
            is_open = network.gating.open_probabilities(network.alpha)
            return losses + problem.strengths * is_open.mean(dim=(1, 2))

        validation = self._train(
            network,
            problem,
            penalised,
            kept_epoch=self.kept_epoch,
            optimizer=self.optimizer,
            warm_up_epochs=0,
            decay_epochs=(),
        )
        gates = mean_gates(network.gating, problem.rows, network.numbers_per_row)
        return ScoredStack(gates, validation)

    def _build_network(self, problem: NeuralProblem) -> "LocallyGatedMLP":
        """Return fresh networks."""
        std, noise, columns = self.initial_std, problem.noise(), problem.n_columns
        start = None if std is None else NormalStart(std, bound=2 * std)
        gating = StackedMLP(
            columns,
            columns,
            hidden_sizes=tuple(self.gating_sizes),
            noise=noise,
            activation="tanh",
            start=start,
        )
        predictor = StackedMLP(
            columns,
            problem.task_loss.n_outputs,
            hidden_sizes=tuple(self.hidden_sizes),
            noise=noise,
            activation="tanh",
            dropout=self.dropout,
            batch_norm=True,
            start=start,
        )
        gates = GatingNetwork(gating, self.gate_slope, self.gate_spread, shift=0.5)
        return LocallyGatedMLP(gates, predictor)


class GatingNetwork:
    """Say α in (-1, 1) for every row and column: an MLP with tanh at its end too.

    A gate is ``clip(slope * (α + spread * noise) + shift, 0, 1)``. The MLP has one
    output a column.
    """

    def __init__(
        self, network: StackedMLP, slope: float, spread: float, shift: float
    ) -> None:
        self.network = network
        self._slope, self._spread, self._shift = slope, spread, shift

    def forward(self, batch: Tensor, *, training: bool) -> tuple[Tensor, Tensor]:
        """Return α and the gates, (members, rows, columns) each."""
        alpha = raw = torch.tanh(self.network.forward(batch, training=training))
        if training:
            noise = self.network.noise.normal(alpha.shape[1:], alpha.dtype)
            raw = torch.add(alpha, noise, alpha=self._spread)
        return alpha, (self._slope * raw + self._shift).clamp(0.0, 1.0)

    def open_probabilities(self, alpha: Tensor) -> Tensor:
        """Return the probability of each gate to be above zero."""
        location = alpha + self._shift / self._slope
        chances: Tensor = torch.special.ndtr(location / self._spread)
        return chances


class LocallyGatedMLP:
    """Predict from the columns of each row that a gating network lets through.

    `alpha`, (members, rows, columns), is what that said in the last forward pass.
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


def mean_gates(gating: GatingNetwork, rows: StackRows, numbers_per_row: int) -> Tensor:
    """Return the mean gates without noise of the training rows, (members, columns)."""

    def summed(block: Tensor) -> Tensor:
        batch = rows.features.index_select(0, block)
        _, gates = gating.forward(batch, training=False)
        return gates.sum(dim=1, dtype=torch.float64)

    blocks = evaluation_blocks(rows.training, numbers_per_row)
    with torch.no_grad():
        return reduce(torch.add, map(summed, blocks)) / len(rows.training)


def _joined(
    gating: Mapping[str, Tensor], predictor: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Return both networks' tensors under names of their own."""
    return {
        **{f"gating.{name}": value for name, value in gating.items()},
        **{f"predictor.{name}": value for name, value in predictor.items()},
    }
