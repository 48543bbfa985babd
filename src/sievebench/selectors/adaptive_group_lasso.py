"""Adaptive group lasso: a second network, penalised as a first one suggests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from sievebench.checks import check_strengths
from sievebench.search_space import HiddenSizes, Integer, LogUniform, SearchSpace
from sievebench.selectors._neural_selector import (
    NeuralProblem,
    NeuralSelector,
    ScoredStack,
    held_out_split,
)
from sievebench.selectors.first_layer_lasso import column_norms
from sievebench.stack.mlp import Activation, NormalStart, StackedMLP
from sievebench.stack.penalized_loss import PenalizedLoss
from sievebench.stack.training import TrainingSettings, train_stack

# The second network must not start where the first one did.
_SECOND_SEED_OFFSET = 1_000_003


@dataclass(kw_only=True, eq=False, repr=False)
class AdaptiveGroupLasso(NeuralSelector):
    """Score columns by a group lasso whose strength adapts to a first group lasso.

    Parameters
    ----------
    first_penalty : float or sequence of float, default=(0.001, 0.003, 0.01, 0.03)
        The l below, as `penalty` is the ξ.
    exponent : float, default=2.0
        The γ below.
    activation : {"relu", "tanh"}, default="relu"
        Of the hidden layers.
    initial_std : float or None, default=None
        Weights and biases start normal with this deviation; None is PyTorch's start.
    learning_rate : float, default=0.1
        Of plain gradient descent on batches.
    n_steps : int, default=5000
        Gradient steps of each stage, rounded up to whole epochs.
    n_splits : int, default=1
        Splits whose held-out rows, together, choose both strengths. After more than one
        both stages are trained again on all rows.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Norms of the first-layer weights after the second stage. Columns that it has
        dropped come after the rest, at or below zero: norm after the first stage, less
        the largest of these norms.
    first_penalty_ : float
        The strength of the first stage in use.

    Notes
    -----
    First ``L + l sum_j |W_j|``, W_j the first-layer weights of column j, which gives
    Ŵ; then, from a fresh start, ``L + ξ sum_j |W_j| / |Ŵ_j|^γ``. Both by proximal
    gradient descent: after each gradient step every group is shrunk in norm by
    learning rate times its strength, and is exactly zero where that is too much. A
    group that is zero in Ŵ stays zero.

    References
    ----------
    Dinh and Ho, "Consistent feature selection for analytic deep neural networks",
    NeurIPS 2020.
    """

    published: ClassVar[Mapping[str, Any]] = {
        "first_penalty": (0.001, 0.01, 0.05, 0.1, 0.5, 1.0, 2.0),
        "penalty": (0.001, 0.01, 0.05, 0.1, 0.5, 1.0, 2.0),
        "initial_std": 1.0,
        "hidden_sizes": (20, 20, 20),
        "activation": "tanh",
        "learning_rate": 1e-2,
        "batch_size": 1 << 30,
        "n_steps": 20_000,
        "n_splits": 3,
    }
    example: ClassVar[Mapping[str, Any]] = {"n_steps": 200}
    # Our proposal; there is no published space. Strengths from where nothing is dropped
    # to where nearly everything is, small networks as in the reference code.
    space: ClassVar[SearchSpace] = {
        "first_penalty": LogUniform(1e-4, 3e-2),
        "penalty": LogUniform(1e-4, 3e-2),
        "hidden_sizes": HiddenSizes(Integer(1, 3), Integer(5, 50)),
        "learning_rate": LogUniform(1e-2, 3e-1),
    }

    first_penalty: float | Sequence[float] = (0.001, 0.003, 0.01, 0.03)
    penalty: float | Sequence[float] = (0.001, 0.003, 0.01, 0.03)
    exponent: float = 2.0
    hidden_sizes: Sequence[int] = (20, 20)
    activation: Activation = "relu"
    dropout: float = 0.0
    initial_std: float | None = None
    learning_rate: float = 0.1
    weight_decay: float = 0.0
    n_steps: int = 5000
    n_splits: int = 1

    def _train_stack(self, problem: NeuralProblem) -> ScoredStack:
        """Train both stages on each split, and after several on all rows."""
        strengths = check_strengths("first_penalty", self.first_penalty)
        splits = self._splits(problem)
        firsts = [self._first_stage(split, strengths) for split in splits]
        best = int(_mean_validation(firsts).view(len(strengths), -1).mean(1).argmax())
        self.first_penalty_ = strengths[best]

        def second(split: NeuralProblem, first: ScoredStack) -> ScoredStack:
            by_strength = first.scores.view(len(strengths), self.n_networks, -1)
            return self._second_stage(split, by_strength[best])

        stacks = [second(*pair) for pair in zip(splits, firsts, strict=True)]
        if len(splits) == 1:
            return stacks[0]
        rows = problem.rows
        everything = torch.cat([rows.training, rows.validation])
        whole = replace(problem, rows=replace(rows, training=everything))
        refitted = second(whole, self._first_stage(whole, strengths))
        return replace(refitted, validation=_mean_validation(stacks))

    def _splits(self, problem: NeuralProblem) -> list[NeuralProblem]:
        """Return the problem, and as many more with other rows held out."""
        rows, splits = problem.rows, [problem]
        for seed in range(problem.order_seed + 1, problem.order_seed + self.n_splits):
            parts = held_out_split(
                rows.targets.cpu().numpy(),
                self.validation_fraction,
                seed,
                stratify=problem.n_classes > 0,
            )
            device = rows.features.device
            training, validation = (torch.from_numpy(p).to(device) for p in parts)
            other = replace(rows, training=training, validation=validation)
            splits.append(replace(problem, rows=other))
        return splits

    def _first_stage(
        self, problem: NeuralProblem, strengths: Sequence[float]
    ) -> ScoredStack:
        """Train the first stage with each of its strengths, (strengths, networks)."""
        per_member = torch.tensor(strengths, device=problem.strengths.device)
        first = replace(
            problem,
            strengths=per_member.repeat_interleave(self.n_networks),
            seeds=problem.seeds[: self.n_networks] * len(strengths),
        )
        thresholds = first.strengths.unsqueeze(-1).expand(-1, problem.n_columns)
        return self._train_one_stage(first, thresholds)

    def _second_stage(self, problem: NeuralProblem, first_norms: Tensor) -> ScoredStack:
        """Train the second stage; `first_norms` of the first, (networks, columns)."""
        n_strengths = len(problem.seeds) // self.n_networks
        # Of no use to a column that is shut anyway: 1 / 0 is infinite, and so is this.
        weights = first_norms.pow(-self.exponent).repeat(n_strengths, 1)
        strengths = problem.strengths.unsqueeze(-1)
        second = replace(
            problem, seeds=tuple(seed + _SECOND_SEED_OFFSET for seed in problem.seeds)
        )
        free = torch.where(strengths > 0, strengths * weights, 0.0)
        first_norms = first_norms.repeat(n_strengths, 1)
        stack = self._train_one_stage(
            second, torch.where(first_norms > 0, free, torch.inf)
        )
        # What the second has dropped comes after the rest, as the first had ordered it.
        dropped = first_norms - first_norms.amax(dim=-1, keepdim=True)
        return replace(
            stack, scores=torch.where(stack.scores > 0, stack.scores, dropped)
        )

    def _train_one_stage(
        self, problem: NeuralProblem, thresholds: Tensor
    ) -> ScoredStack:
        """Train a stack with these strengths of the groups, (members, columns)."""
        std = self.initial_std
        network = StackedMLP(
            problem.n_columns,
            problem.task_loss.n_outputs,
            hidden_sizes=tuple(self.hidden_sizes),
            noise=problem.noise(),
            activation=self.activation,
            dropout=self.dropout,
            start=None if std is None else NormalStart(std, has_biases=True),
        )
        objective = PenalizedLoss(
            network,
            problem.task_loss,
            after_step_=lambda rate: proximal_step_(network, thresholds, rate),
            monitor=problem.monitor,
        )
        steps_per_epoch = max(1, len(problem.rows.training) // problem.batch_size)
        settings = TrainingSettings(
            optimizer="sgd",
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            batch_size=problem.batch_size,
            max_epochs=-(-self.n_steps // steps_per_epoch),
            warm_up_epochs=0,
            decay_epochs=(),
        )
        # Groups shrink to zero slowly: an early epoch that predicts well still has all
        # columns. So the last state counts, and held-out rows choose the strength only.
        rows = replace(problem.rows, validation=problem.rows.validation[:0])
        train_stack(network, objective, rows, settings, order_seed=problem.order_seed)
        norms = column_norms(network.first_weight.detach())
        with torch.no_grad():
            return ScoredStack(norms, objective.validation_scores(problem.rows))


def _mean_validation(stacks: Sequence[ScoredStack]) -> Tensor:
    """Return the mean of the held-out scores of each member."""
    return torch.stack([stack.validation for stack in stacks]).mean(dim=0)


def proximal_step_(
    network: StackedMLP, thresholds: Tensor, learning_rate: float | Tensor
) -> None:
    """Shrink the first-layer weights of each column by ``learning rate * t_j``."""
    weight = network.first_weight
    weight.copy_(shrink_groups(weight, thresholds * learning_rate))


def shrink_groups(weight: Tensor, thresholds: Tensor) -> Tensor:
    """Return the proximal step of the group lasso, ``max(0, 1 - t_j / |w_j|) w_j``.

    That is ``argmin_v |v - w_j|² / 2 + t_j |v|``. Weights are (members, columns,
    hidden); thresholds, (members, columns), are not negative and may be infinite.
    """
    norms = column_norms(weight)
    factors = torch.where(norms > thresholds, 1.0 - thresholds / norms, 0.0)
    return weight * factors.unsqueeze(-1)
