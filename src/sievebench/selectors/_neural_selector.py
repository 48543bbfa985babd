"""What all neural selectors share: validation split, members, device, training."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
import numpy.typing as npt
import torch
from sklearn.model_selection import train_test_split
from torch import Tensor

from featuresieve.engine import resolve_device, torch_defaults
from featuresieve.errors import check_choice
from sievebench.checks import check_integer, check_number, check_sizes, check_strengths
from sievebench.search_space import MLP_SPACE, LogUniform, SearchSpace
from sievebench.selectors._scored_selector import FitData, ScoredSelector, Scores
from sievebench.stack.member_noise import MemberNoise
from sievebench.stack.mlp import StackedMLP, StackedNetwork
from sievebench.stack.penalized_loss import PenalizedLoss
from sievebench.stack.task_loss import Monitor, TaskLoss
from sievebench.stack.training import (
    Objective,
    StackRows,
    TrainingSettings,
    train_stack,
)

# "auto" batches: so many steps an epoch, between these sizes.
_AUTO_STEPS, _SMALLEST_BATCH, _LARGEST_BATCH = 16, 32, 512


# Whether the epoch with the best validation score counts, or the last one.
KeptEpoch = Literal["best", "last"]

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

_COUNT = partial(check_integer, low=1)
_POSITIVE = partial(check_number, above=0.0)
_NOT_NEGATIVE = partial(check_number, low=0.0)
_SHARE = partial(check_number, low=0.0, below=1.0)
# What each argument may be, whichever selectors have it.
_CHECKS: Mapping[str, Callable[[str, Any], object]] = {
    **dict.fromkeys(("n_networks", "batch_size", "max_epochs", "n_steps"), _COUNT),
    **dict.fromkeys(("token_size", "n_layers", "n_heads", "n_neighbors"), _COUNT),
    **dict.fromkeys(("max_prototypes", "max_steps", "n_splits"), _COUNT),
    **dict.fromkeys(("learning_rate", "exponent", "ffn_factor"), _POSITIVE),
    **dict.fromkeys(("gate_slope", "gate_spread", "sort_temperature"), _POSITIVE),
    **dict.fromkeys(("initial_std", "initial_bound"), _POSITIVE),
    **dict.fromkeys(("weight_decay", "global_penalty"), _NOT_NEGATIVE),
    **dict.fromkeys(("dropout", "attention_dropout"), _SHARE),
    **dict.fromkeys(("ffn_dropout", "residual_dropout"), _SHARE),
    **dict.fromkeys(("hidden_sizes", "gating_sizes"), check_sizes),
    "first_penalty": check_strengths,
    "patience": partial(check_integer, low=0),
    "validation_fraction": partial(check_number, above=0.0, below=1.0),
    "activation": partial(check_choice, allowed=("relu", "tanh")),
    "kept_epoch": partial(check_choice, allowed=get_args(KeptEpoch)),
    "monitor": partial(check_choice, allowed=("loss", "score")),
    "optimizer": partial(check_choice, allowed=("adam", "sgd")),
}
_MAY_BE_OPEN = ("batch_size", "initial_std", "initial_bound", "max_steps")


@dataclass(frozen=True)
class NeuralProblem:
    """One table, ready for training."""

    rows: StackRows
    task_loss: TaskLoss
    monitor: Monitor
    n_classes: int  # 0 for regression
    strengths: Tensor  # of the penalty, (members,)
    seeds: tuple[int, ...]  # one a member
    batch_size: int
    order_seed: int

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.rows.features.shape[1])

    def noise(self) -> MemberNoise:
        """Return fresh generators for the members."""
        return MemberNoise(self.seeds, self.rows.features.device)


@dataclass(frozen=True)
class ScoredStack:
    """What a trained stack says."""

    scores: Tensor  # (members, columns)
    validation: Tensor  # scores of the members, larger = better


@dataclass(kw_only=True, eq=False, repr=False)
class NeuralSelector(ScoredSelector):
    """Train networks, one a penalty strength and seed, and ask them for scores.

    A subclass trains in `_train_stack` and checks its own arguments in
    `_check_parameters`; one strength or several in its argument `penalty` are trained.
    Columns and a regression target are standardised first; a part of the rows is held
    out for validation. Described are also parameters that only some subclasses have.

    Parameters
    ----------
    learning_rate : float, default=3e-3
        Of the optimiser: AdamW, warmed up over 5 epochs, a tenth from epoch 40 and
        again from 80, unless the selector has one of its own.
    weight_decay : float, default=1e-4
        Of the optimiser.
    penalty : float or sequence of float, default=0.0
        Weight of the penalty. Several are trained together, and the one with the best
        validation score decides.
    hidden_sizes : sequence of int, default=(100, 100)
        Width of each hidden layer.
    dropout : float, default=0.0
        Fraction of hidden units left out in a training step.
    gate_spread : float, default=0.5
        The σ below, the deviation of a gate's noise.
    gate_slope : float, default=1.0
        The a below.
    optimizer : {"adam", "sgd"}, default="adam"
        How the networks are trained, without a schedule.
    kept_epoch : {"best", "last"}, default="best"
        The epoch whose gates count: the one with the best validation score, or the last
        of `max_epochs`, held-out rows then choose among several strengths only.
    batch_size : int or "auto", default="auto"
        Rows of a training step; "auto" aims at 16 steps an epoch, from 32 to 512 rows.
    monitor : {"loss", "score"}, default="loss"
        What validation rows measure: the loss, or accuracy (several classes), area
        under the ROC curve (two) and root mean squared error (regression).
    validation_fraction : float, default=0.2
        Part of the rows that is held out: they choose the epoch and among several
        strengths of a penalty, and some selectors take their scores there.
    n_networks : int, default=1
        Networks trained together with seeds of their own; scores are averaged.
    device : str, default="auto"
        "cpu", "cuda", or "auto" for CUDA where it is.

    Attributes
    ----------
    network_scores_ : ndarray of shape (n_networks, n_features)
        The scores of each network; `scores_` is their mean.
    penalty_ : float
        The penalty strength in use: if several were given, the one with the best mean
        validation score.
    """

    standardises: ClassVar[bool] = True
    published: ClassVar[Mapping[str, Any]] = {}

    learning_rate: float = 3e-3
    weight_decay: float = 1e-4
    batch_size: int | Literal["auto"] = "auto"
    monitor: Monitor = "loss"
    validation_fraction: float = 0.2
    n_networks: int = 1
    device: str = "auto"

    @classmethod
    def as_published(cls, **changes: Any) -> Self:
        """Return a selector with the settings of the paper or benchmark it comes from.

        Parameters
        ----------
        **changes : Any
            Arguments that are to differ from the published ones.

        Returns
        -------
        NeuralSelector
        """
        return cls(**{**cls.published, **changes})

    @abstractmethod
    def _train_stack(self, problem: NeuralProblem) -> ScoredStack:
        """Train all members, return their scores of the columns."""

    def _strengths(self) -> tuple[float, ...]:
        """Return the penalty strengths to train, checked; 0 without a penalty."""
        return check_strengths("penalty", getattr(self, "penalty", 0.0))

    def _check_parameters(self) -> None:
        """Raise ValueError for the first argument that is not allowed."""
        for name, value in self.get_params(deep=False).items():
            is_left_open = value is None or (name == "batch_size" and value == "auto")
            if name in _CHECKS and not (name in _MAY_BE_OPEN and is_left_open):
                _CHECKS[name](name, value)

    def _score_columns(self, data: FitData) -> Scores:
        self._check_parameters()
        strengths = self._strengths()
        device = resolve_device(self.device, needs_float64=True)
        with torch_defaults(is_exact=False):
            problem = self._pose_problem(data, strengths, device)
            stack = self._train_stack(problem)
        shape = (len(strengths), self.n_networks)
        validation = stack.validation.double().cpu().numpy().reshape(shape)
        best = int(np.argmax(validation.mean(axis=1)))
        scores = stack.scores.detach().double().cpu().numpy()
        if hasattr(self, "penalty"):
            self.penalty_ = strengths[best]
        self.network_scores_ = scores.reshape(*shape, -1)[best]
        return np.asarray(self.network_scores_.mean(axis=0))

    def _pose_problem(
        self, data: FitData, strengths: Sequence[float], device: torch.device
    ) -> NeuralProblem:
        """Put the rows on the device, hold some out, lay the members out."""
        y, seed, is_classification = data.y, data.seed, not data.is_regression
        training, validation = held_out_split(
            y, self.validation_fraction, seed, stratify=is_classification
        )
        n_classes = int(y.max()) + 1 if is_classification else 0
        task_loss = TaskLoss.for_classes(n_classes)
        monitor = self.monitor
        if task_loss.kind == "binary" and len(np.unique(y[validation])) < 2:
            monitor = "loss"  # one class has no area under the ROC curve
        rows = StackRows(
            features=torch.from_numpy(np.asarray(data.X, dtype=np.float32)).to(device),
            targets=torch.from_numpy(
                y.astype(np.int64 if is_classification else np.float32)
            ).to(device),
            training=torch.from_numpy(training).to(device),
            validation=torch.from_numpy(validation).to(device),
        )
        # Every strength is tried with the same seeds.
        return NeuralProblem(
            rows=rows,
            task_loss=task_loss,
            monitor=monitor,
            n_classes=n_classes,
            strengths=torch.tensor(strengths)
            .repeat_interleave(self.n_networks)
            .to(device),
            seeds=tuple(range(seed, seed + self.n_networks)) * len(strengths),
            batch_size=self._rows_of_a_batch(len(training)),
            order_seed=seed,
        )

    def _rows_of_a_batch(self, n_training: int) -> int:
        """Return the batch size; "auto" depends on the number of training rows."""
        if self.batch_size == "auto":
            return min(_LARGEST_BATCH, max(_SMALLEST_BATCH, n_training // _AUTO_STEPS))
        return int(self.batch_size)


@dataclass(kw_only=True, eq=False, repr=False)
class EarlyStoppedSelector(NeuralSelector):
    """Train for `max_epochs` at most, and keep the best epoch of each network.

    A subclass calls `_train` from its `_train_stack`.

    Parameters
    ----------
    max_epochs : int, default=200
        Longest training.
    patience : int, default=40
        Epochs without a better validation score after which a network stops.
    """

    max_epochs: int = 200
    patience: int = 40

    def _train(
        self,
        network: StackedNetwork,
        problem: NeuralProblem,
        penalised: Callable[[Tensor], Tensor] | None = None,
        *,
        objective: Objective | None = None,
        kept_epoch: KeptEpoch = "best",
        **schedule: Any,
    ) -> Tensor:
        """Leave the network in its best or last state; return its validation scores.

        It minimises the task loss, or what `penalised` makes of it, or an objective;
        `schedule` are entries of `TrainingSettings`.
        """
        objective = objective or PenalizedLoss(
            network, problem.task_loss, penalised, monitor=problem.monitor
        )
        settings = TrainingSettings(
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            batch_size=problem.batch_size,
            patience=self.patience,
            **{"max_epochs": self.max_epochs, **schedule},
        )
        order = problem.order_seed
        if kept_epoch == "best":
            record = train_stack(
                network, objective, problem.rows, settings, order_seed=order
            )
            return record.best_score
        unjudged = replace(problem.rows, validation=problem.rows.validation[:0])
        train_stack(network, objective, unjudged, settings, order_seed=order)
        with torch.no_grad():
            return objective.validation_scores(problem.rows)


@dataclass(kw_only=True, eq=False, repr=False)
class PenalizedMLPSelector(EarlyStoppedSelector):
    """Train an MLP on ``(1 - l) L + l P`` and score the columns by the result.

    A subclass says what P is in `_penalty`, and what the scores are in `_importances`.

    Parameters
    ----------
    penalty : float or sequence of float, default=(0.01, 0.03, 0.1, 0.3)
        The l below, in [0, 1). Several strengths are trained together, and the one with
        the best validation score decides.
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

    def _train_stack(self, problem: NeuralProblem) -> ScoredStack:
        """Train with the benchmark's optimiser and schedule."""
        network = StackedMLP(
            problem.n_columns,
            problem.task_loss.n_outputs,
            hidden_sizes=tuple(self.hidden_sizes),
            noise=problem.noise(),
            dropout=self.dropout,
        )
        best = self._train(
            network,
            problem,
            lambda losses: self.penalised(losses, network, problem.strengths),
        )
        return ScoredStack(self._importances(network, problem), best)

    @classmethod
    def penalised(
        cls, losses: Tensor, network: StackedMLP, strengths: Tensor
    ) -> Tensor:
        """Return the blend of loss and penalty, (members,)."""
        return torch.lerp(losses, cls._penalty(losses, network), strengths)


def held_out_split(
    y: npt.NDArray[Any], fraction: float, seed: int, *, stratify: bool
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return training and validation rows, at least one of each, sorted."""
    n_rows = len(y)
    n_validation = min(n_rows - 1, max(1, round(fraction * n_rows)))
    labels = None
    if stratify:
        counts = np.bincount(y)
        n_least = min(n_validation, n_rows - n_validation)
        # Without a row for each class on both sides, rows are drawn regardless of it.
        labels = y if counts.min() >= 2 and n_least >= len(counts) else None
    training, validation = train_test_split(
        np.arange(n_rows), test_size=n_validation, random_state=seed, stratify=labels
    )
    return np.sort(training), np.sort(validation)
