"""The benchmark's downstream MLP, all seeds trained as one stack."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from featuresieve.engine import resolve_device, torch_defaults
from sievebench.checks import check_integer, check_layers, check_number
from sievebench.data import Metric, Split
from sievebench.downstream._evaluation import Evaluation, score
from sievebench.search_space import MLP_SPACE, SearchSpace
from sievebench.stack.member_noise import MemberNoise
from sievebench.stack.mlp import StackedMLP
from sievebench.stack.penalized_loss import PenalizedLoss, stack_outputs
from sievebench.stack.task_loss import TaskLoss
from sievebench.stack.training import StackRows, TrainingSettings, train_stack

SPACE: SearchSpace = MLP_SPACE
SETTINGS = (*SPACE, "batch_size", "max_epochs", "patience")

# All seeds see the rows in one order, which therefore depends on no seed.
_ORDER_SEED = 0


@dataclass(frozen=True)
class MLPSettings(TrainingSettings):
    """The MLP and its training; the defaults are the benchmark's before tuning."""

    # Blocks of Linear, ReLU and dropout; a linear head follows.
    hidden_sizes: tuple[int, ...] = (100, 100)
    dropout: float = 0.1

    def __post_init__(self) -> None:
        """Raise ValueError for the first setting that is not allowed."""
        check_layers(self.hidden_sizes, self.dropout)
        check_number("learning_rate", self.learning_rate, above=0.0)
        check_number("weight_decay", self.weight_decay, low=0.0)
        for name in ("batch_size", "max_epochs", "patience"):
            check_integer(name, getattr(self, name), low=1)


class _MetricObjective(PenalizedLoss):
    """Mean task loss; checkpoints are judged by the metric of the data set."""

    def __init__(self, network: StackedMLP, loss: TaskLoss, metric: Metric) -> None:
        super().__init__(network, loss)
        self._metric = metric
        # The mean over the classes that are there has to look which are.
        self.is_recordable = metric != "balanced_accuracy"

    def validation_scores(self, rows: StackRows) -> Tensor:
        """Return one score a member, larger = better, (members,)."""
        return self.scores(rows, rows.validation).float()

    def scores(self, rows: StackRows, picked: Tensor) -> Tensor:
        """Return the metric on some rows, (members,)."""
        outputs = stack_outputs(self._network, rows.features, picked)
        return score(self._metric, outputs, rows.targets[picked])


def evaluate(
    split: Split,
    settings: Mapping[str, Any],
    seeds: Sequence[int],
    device: str,
    *,
    imputed: Sequence[int] = (),
    is_seen: npt.NDArray[np.bool_] | None = None,
) -> list[Evaluation]:
    """Train one MLP a seed, stop each by itself, and score it.

    `is_seen` (seeds, columns) marks the columns that each MLP sees.
    """
    chosen = MLPSettings(**settings)
    torch_device = resolve_device(device, needs_float64=True)
    started = time.perf_counter()
    with torch_defaults(is_exact=False):
        rows, test = _rows(split, torch_device)
        loss = TaskLoss.for_classes(split.n_classes)
        network = StackedMLP(
            int(rows.features.shape[1]),
            loss.n_outputs,
            hidden_sizes=tuple(chosen.hidden_sizes),
            noise=MemberNoise(seeds, torch_device),
            dropout=chosen.dropout,
            is_seen=None if is_seen is None else torch.from_numpy(is_seen),
        )
        objective = _MetricObjective(network, loss, split.metric)
        train_stack(network, objective, rows, chosen, order_seed=_ORDER_SEED)
        validation_scores = objective.scores(rows, rows.validation).tolist()
        test_scores = objective.scores(rows, test).tolist()
        seconds = (time.perf_counter() - started) / len(seeds)
        further = [
            objective.scores(_with_mean(rows, test, column), test).tolist()
            for column in imputed
        ]
    return [
        Evaluation(seed, test_score, validation_score, seconds, tuple(imputed_scores))
        for seed, test_score, validation_score, *imputed_scores in zip(
            seeds, test_scores, validation_scores, *further, strict=True
        )
    ]


def _with_mean(rows: StackRows, test: Tensor, column: int) -> StackRows:
    """Return the rows with a column replaced by its train mean in the test part."""
    features = rows.features.clone()
    features[test, column] = features[rows.training, column].mean()
    return replace(rows, features=features)


def _rows(split: Split, device: torch.device) -> tuple[StackRows, Tensor]:
    """Return all rows on the device, one part after the other, and the test rows."""
    kind = np.float32 if split.task == "regression" else np.int64
    features = np.concatenate([part.X for part in split.parts]).astype(np.float32)
    targets = np.concatenate([part.y for part in split.parts]).astype(kind)
    ends = np.cumsum([len(part.y) for part in split.parts])
    indices = torch.arange(int(ends[2]), device=device)
    rows = StackRows(
        features=torch.from_numpy(features).to(device),
        targets=torch.from_numpy(targets).to(device),
        training=indices[: ends[0]],
        validation=indices[ends[0] : ends[1]],
    )
    return rows, indices[ends[1] :]
