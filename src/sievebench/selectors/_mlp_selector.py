"""Selectors that train one MLP with a penalty: the part they have in common."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from sievebench.checks import check_layers, check_strengths
from sievebench.search_space import MLP_SPACE, LogUniform, SearchSpace
from sievebench.selectors._neural_selector import (
    EarlyStoppedSelector,
    NeuralProblem,
    ScoredStack,
)
from sievebench.stack.mlp import StackedMLP
from sievebench.stack.penalized_loss import PenalizedLoss
from sievebench.stack.training import TrainingSettings

# The benchmark's MLP before tuning.
PUBLISHED_MLP = {
    "hidden_sizes": (100, 100),
    "dropout": 0.1,
    "learning_rate": 1e-3,
    "weight_decay": 2e-4,
    "batch_size": 512,
    "max_epochs": 200,
    "patience": 20,
    "monitor": "score",
}


@dataclass(kw_only=True, eq=False, repr=False)
class PenalizedMLPSelector(EarlyStoppedSelector):
    """Train an MLP on ``(1 - l) L + l P`` and score the columns by the result.

    A subclass says what P is in `_penalty`, and what the scores are in `_importances`.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many columns to keep: a count, or a fraction of the columns.
    penalty : float or sequence of float, default=(0.01, 0.03, 0.1, 0.3)
        The l above, in [0, 1). Several strengths are trained together, and the one with
        the best validation score decides.
    hidden_sizes : sequence of int, default=(100, 100)
        Width of each hidden layer.
    dropout : float, default=0.1
        Fraction of hidden units left out in a training step.
    learning_rate : float, default=3e-3
        Of AdamW; warmed up over 5 epochs, a tenth from epoch 40 and again from 80.
    weight_decay : float, default=2e-4
        Of AdamW.
    batch_size : int or "auto", default="auto"
        Rows of a training step; "auto" aims at 16 steps an epoch, from 32 to 512 rows.
    max_epochs : int, default=200
        Longest training.
    patience : int, default=20
        Epochs without a better validation score after which a network stops.
    monitor, validation_fraction, n_networks, task, random_state, device : various
        As in every neural selector: see the base class `NeuralSelector`.
    """

    # The benchmark's space: the penalty's, and that of every MLP.
    space: ClassVar[SearchSpace] = {"penalty": LogUniform(1e-2, 0.5), **MLP_SPACE}

    penalty: float | Sequence[float] = (0.01, 0.03, 0.1, 0.3)
    hidden_sizes: Sequence[int] = (100, 100)
    dropout: float = 0.1
    weight_decay: float = 2e-4
    patience: int = 20

    @staticmethod
    @abstractmethod
    def _penalty(losses: Tensor, network: StackedMLP) -> Tensor:
        """Return P of a network that has just seen a batch with these losses."""

    @abstractmethod
    def _importances(self, network: StackedMLP, problem: NeuralProblem) -> Tensor:
        """Return the scores of a trained network, (members, columns)."""

    def _strengths(self) -> tuple[float, ...]:
        """Return the penalty strengths, below one."""
        return check_strengths("penalty", self.penalty, below=1.0)

    def _check_parameters(self) -> None:
        """Raise ValueError for the first argument that is not allowed."""
        super()._check_parameters()
        check_layers(self.hidden_sizes, self.dropout)

    def _train_stack(self, problem: NeuralProblem) -> ScoredStack:
        """Train with the benchmark's optimiser and schedule."""
        network = StackedMLP(
            problem.n_columns,
            problem.task_loss.n_outputs,
            hidden_sizes=tuple(self.hidden_sizes),
            noise=problem.noise(),
            dropout=self.dropout,
        )
        objective = PenalizedLoss(
            network,
            problem.task_loss,
            lambda losses: self._penalised(losses, network, problem.strengths),
            monitor=problem.monitor,
        )
        best = self._train(network, objective, problem, TrainingSettings())
        return ScoredStack(self._importances(network, problem), best)

    @classmethod
    def _penalised(
        cls, losses: Tensor, network: StackedMLP, strengths: Tensor
    ) -> Tensor:
        """Return the blend of loss and penalty, (members,)."""
        return torch.lerp(losses, cls._penalty(losses, network), strengths)
