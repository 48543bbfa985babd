"""Train a stack: mini-batches, schedule, early stopping of each member by itself."""

from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from featuresieve import TrainingDivergedError
from featuresieve.engine import OptimizerName, StackOptimizer
from sievebench.stack.mlp import StackedNetwork
from sievebench.stack.on_gpu import CapturedCall, CapturedSteps, recordable_stream

# Rows are evaluated in blocks; this bounds the numbers of one layer of one block. A CPU
# is fastest with what its cache holds, a GPU with few calls.
_CPU_NUMBERS, _GPU_NUMBERS = 1 << 18, 1 << 23


@dataclass(frozen=True)
class StackRows:
    """The rows a stack learns from, on the training device."""

    features: Tensor  # (rows, columns), stored once for all members
    targets: Tensor  # (rows,): class codes (int64), or standardised values
    training: Tensor  # the numbers of the rows to learn from
    # Those that judge a checkpoint; if there are none, the last state is kept.
    validation: Tensor

    def batch(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return features and targets of some rows."""
        return self.features.index_select(0, rows), self.targets.index_select(0, rows)


@dataclass(frozen=True)
class TrainingSettings:
    """How a stack is trained; the defaults are those of the benchmark's MLP."""

    optimizer: OptimizerName = "adamw"
    learning_rate: float = 1e-3
    weight_decay: float = 2e-4
    # Every epoch visits the rows in a new order; a last, smaller batch is left out.
    batch_size: int = 512
    max_epochs: int = 200
    patience: int = 20  # a member stops more than so many epochs after its best one
    # The learning rate rises in equal steps over so many epochs, and is multiplied by
    # the factor at each of the others, counted from 0.
    warm_up_epochs: int = 5
    decay_epochs: tuple[int, ...] = (40, 80)
    decay_factor: float = 0.1
    clip_norm: float | None = None  # upper bound on the norm of a member's gradient
    # Split a batch into passes of so many rows, for networks that need much memory a
    # row. The gradient is that of the whole batch.
    rows_per_pass: int | None = None

    def rate_of(self, epoch: int) -> float:
        """Return the learning rate of an epoch, counted from 0."""
        rise = min(1.0, (epoch + 1) / max(1, self.warm_up_epochs))
        n_decays = sum(epoch >= start for start in self.decay_epochs)
        return self.learning_rate * rise * self.decay_factor**n_decays


class Objective(Protocol):
    """What a stack minimises, and what its checkpoints are judged by."""

    # Whether `validation_scores` can be recorded on a GPU: it never waits for it.
    is_recordable: bool = True

    def losses(self, batch: Tensor, targets: Tensor) -> Tensor:
        """Return what each member minimises on a batch, (members,)."""

    def after_step_(self, learning_rate: float | Tensor) -> None:  # noqa: ARG002
        """Change parameters after a gradient step, by a proximal step for instance."""
        return None

    def validation_scores(self, rows: StackRows) -> Tensor:
        """Return one score a member, larger = better, (members,)."""


@dataclass
class TrainingRecord:
    """What happened in training."""

    best_epoch: Tensor  # that each member was restored to, counted from 0, (members,)
    best_score: Tensor  # (members,)
    scores: list[Tensor] = field(default_factory=list)  # of validation, by epoch
    n_epochs: int = 0


def train_stack(
    network: StackedNetwork,
    objective: Objective,
    rows: StackRows,
    settings: TrainingSettings,
    *,
    order_seed: int,
) -> TrainingRecord:
    """Train all members, and leave each in its best state.

    `order_seed` decides the order of the rows, which all members share. A member that
    has no epoch with a finite validation score is a TrainingDivergedError.
    """
    device = rows.features.device
    with recordable_stream(device):
        step = _Step(network, objective, rows, settings)
        checkpoints = _Checkpoints(network, objective, rows, settings.patience)
        take, look = step.take_all, checkpoints.look_
        if device.type == "cuda":
            take = CapturedSteps(step, network.noise.generators, device)
            look = CapturedCall(look) if objective.is_recordable else look
        order = torch.Generator().manual_seed(order_seed)
        record = checkpoints.record
        for epoch in range(settings.max_epochs):
            rate = settings.rate_of(epoch)
            take(epoch_batches(rows.training, settings.batch_size, order), rate)
            record.n_epochs = epoch + 1
            if len(rows.validation) == 0:
                continue
            look()
            record.scores.append(checkpoints.scores.clone())
            if checkpoints.is_stopped.all():
                break
        if len(rows.validation) > 0:
            checkpoints.restore_()
        return record


def epoch_batches(training: Tensor, batch_size: int, order: torch.Generator) -> Tensor:
    """Return the row numbers of the batches of one epoch, (batches, rows)."""
    n_rows = len(training)
    shuffled = training[torch.randperm(n_rows, generator=order).to(training.device)]
    if n_rows <= batch_size:
        return shuffled.unsqueeze(0)
    return shuffled[: n_rows - n_rows % batch_size].view(-1, batch_size)


class _Step:
    """One gradient step of all members."""

    def __init__(
        self,
        network: StackedNetwork,
        objective: Objective,
        rows: StackRows,
        settings: TrainingSettings,
    ) -> None:
        self._objective, self._rows = objective, rows
        self._settings = settings
        self._parameters = list(network.trainable.values())
        self._optimizer = StackOptimizer(
            self._parameters, settings.optimizer, weight_decay=settings.weight_decay
        )

    def take_all(self, batches: Tensor, rate: float) -> None:
        """Take one step a batch, (batches, rows)."""
        for picked in batches:
            self(picked, rate)

    def __call__(self, picked: Tensor, rate: float | Tensor) -> None:
        """Take a step on some rows."""
        gradients = self._gradients(picked)
        if self._settings.clip_norm is not None:
            gradients = _clipped(gradients, self._settings.clip_norm)
        self._optimizer.step_(rate, gradients)
        with torch.no_grad():
            self._objective.after_step_(rate)

    def _gradients(self, picked: Tensor) -> list[Tensor]:
        """Return the gradient of the batch loss, summed over passes."""
        total: list[Tensor] | None = None
        for part in picked.split(self._settings.rows_per_pass or len(picked)):
            # Members share no parameter: the gradient of the sum is each one's own.
            loss = self._objective.losses(*self._rows.batch(part)).sum()
            gradients = list(torch.autograd.grad(loss, self._parameters))
            if len(part) == len(picked):
                return gradients
            share = len(part) / len(picked)
            total = total or [torch.zeros_like(value) for value in gradients]
            for value, gradient in zip(total, gradients, strict=True):
                value.add_(gradient, alpha=share)
        assert total is not None
        return total


def _clipped(gradients: list[Tensor], largest: float) -> list[Tensor]:
    """Scale each member's gradient down to a norm of at most `largest`."""
    squares = torch.stack([value.flatten(1).square().sum(1) for value in gradients])
    norms = squares.sum(dim=0).sqrt()  # (members,)
    factors = (largest / (norms + 1e-6)).clamp(max=1.0)
    return [value * factors.view(-1, *[1] * (value.dim() - 1)) for value in gradients]


class _Checkpoints:
    """The best state of each member so far.

    All that changes stays in one place, so that a look can be recorded.
    """

    def __init__(
        self,
        network: StackedNetwork,
        objective: Objective,
        rows: StackRows,
        patience: int,
    ) -> None:
        self._objective, self._rows, self._patience = objective, rows, patience
        self._state = {name: value.detach() for name, value in network.state.items()}
        self._best = {name: value.clone() for name, value in self._state.items()}
        device = next(iter(self._state.values())).device
        never = torch.full((network.n_members,), -1, device=device)
        worst = torch.full((network.n_members,), -torch.inf, device=device)
        self.record = TrainingRecord(best_epoch=never, best_score=worst)
        self.scores = worst.clone()
        self.is_stopped = torch.zeros_like(never, dtype=torch.bool)
        self._epoch = torch.zeros((), dtype=never.dtype, device=device)

    @torch.no_grad()
    def look_(self) -> None:
        """Keep the members that are better than ever; stop those that wait too long."""
        self.scores.copy_(self._objective.validation_scores(self._rows))
        scores, best = self.scores, self.record.best_score
        best_epoch = self.record.best_epoch
        # A stopped member trains on in the stack, but nothing of it is kept.
        is_better = (scores > best) & ~self.is_stopped
        torch.where(is_better, scores, best, out=best)
        torch.where(is_better, self._epoch, best_epoch, out=best_epoch)
        # Picking the better ones by number would have the host wait for the GPU.
        for name, value in self._state.items():
            is_taken = is_better.view(-1, *(1,) * (value.dim() - 1))
            torch.where(is_taken, value, self._best[name], out=self._best[name])
        self.is_stopped |= self._epoch - best_epoch > self._patience
        self._epoch += 1

    def restore_(self) -> None:
        """Put every member back into its best state."""
        if (self.record.best_epoch < 0).any():
            raise TrainingDivergedError(
                "training diverged: no epoch of a network has a finite validation "
                "score. Lower learning_rate, or look for extreme values in X."
            )
        for name, value in self._state.items():
            value.copy_(self._best[name])


def evaluation_blocks(rows: Tensor, numbers_per_row: int) -> tuple[Tensor, ...]:
    """Split row numbers into blocks that bound the memory of a forward pass."""
    most = _CPU_NUMBERS if rows.device.type == "cpu" else _GPU_NUMBERS
    n_rows = max(1, min(8192, most // numbers_per_row))
    return tuple(rows.split(n_rows))
