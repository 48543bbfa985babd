"""Train a stack: run and train_step."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from featuresieve._adam import StackAdam
from featuresieve._captured_step import CapturedStep
from featuresieve._exceptions import TrainingDivergedError
from featuresieve._gates import GateTensors
from featuresieve._gumbel_sigmoid import (
    NoiseKind,
    draw_noise_,
    relaxed_mask,
    relaxed_mask_slope,
)
from featuresieve._history import History
from featuresieve._masking_network import MaskingNetwork
from featuresieve._module_network import ModuleStack
from featuresieve._objective import (
    Reduction,
    SelectionPenalty,
    TaskLoss,
    normalized_weights,
)
from featuresieve._schedule import Schedule
from featuresieve._sparse_rows import SparseRows
from featuresieve._task_network import StackedMLP

TaskStack = StackedMLP | ModuleStack
NoiseSource = Callable[[], Tensor]

# Noise is drawn for many steps at once; this bounds the block, in numbers.
_NOISE_BLOCK = 1 << 16


@dataclass(frozen=True)
class TrainingData:
    """Rows on the training device.

    Attributes
    ----------
    features : Tensor or SparseRows of shape (rows, columns)
    targets : Tensor of shape (rows,) of class codes, or (rows, outputs)
    task_weights : Tensor of shape (sets, rows) or None
        Alternative weightings of the rows in the loss that trains the task networks:
        sample weights, and zero for rows a member must not see.
    mask_weights : Tensor of shape (sets, rows) or None
        The same for the loss that trains the mask, where it is another: with disjoint
        rows a gate stays open only if its feature helps on rows that the task network
        has not learnt from.
    set_of_member : Tensor of shape (members,) or None
        Which of the sets each member uses.
    gates : GateTensors or None
        None means one plain gate for each column.
    """

    features: Tensor | SparseRows
    targets: Tensor
    task_weights: Tensor | None = None
    mask_weights: Tensor | None = None
    set_of_member: Tensor | None = None
    gates: GateTensors | None = None

    def weights_of(
        self, rows: Tensor, reduction: Reduction
    ) -> tuple[Tensor | None, Tensor | None]:
        """Return task and mask weights of some rows, (members, rows) each."""
        picked: list[Tensor | None] = []
        for weights in (self.task_weights, self.mask_weights):
            if weights is None:
                picked.append(None)
            else:
                by_set = normalized_weights(weights[:, rows], reduction)
                picked.append(by_set[self.set_of_member])
        return picked[0], picked[1]


@dataclass(frozen=True)
class StepSettings:
    """What one training step needs to know besides the networks.

    Attributes
    ----------
    loss : TaskLoss
    penalty : SelectionPenalty
    noise : {"gumbel", "logistic"}
    reduction : {"mean", "sum"}
    mask_learning_rate, task_learning_rate : float
    """

    loss: TaskLoss
    penalty: SelectionPenalty = field(default_factory=SelectionPenalty)
    noise: NoiseKind = "gumbel"
    reduction: Reduction = "mean"
    mask_learning_rate: float = 4e-3
    task_learning_rate: float = 3e-4


class StackTrainer:
    """Train all members of a stack on the same mini-batches.

    Parameters
    ----------
    data : TrainingData
    settings : StepSettings
    task : StackedMLP or ModuleStack
    masking : MaskingNetwork or None
        Without one the mask is `fixed_mask`, or open.
    balances : Tensor of shape (members,) or None
        The weight of the penalty, needed with a masking network.
    fixed_mask : Tensor of shape (columns, members) or None
    seed : int
        Decides the order of the rows and the noise.
    noise_source : callable () -> Tensor of shape (gates, members) or None
        Replaces the drawn noise, for tests.
    """

    def __init__(
        self,
        data: TrainingData,
        settings: StepSettings,
        task: TaskStack,
        *,
        masking: MaskingNetwork | None = None,
        balances: Tensor | None = None,
        fixed_mask: Tensor | None = None,
        seed: int = 0,
        noise_source: NoiseSource | None = None,
    ) -> None:
        self.data, self.settings, self.task = data, settings, task
        self.masking, self.balances, self.fixed_mask = masking, balances, fixed_mask
        self.history = History()
        device = data.features.device
        self._order_generator = torch.Generator().manual_seed(seed)
        self.noise_generator = torch.Generator(device).manual_seed(seed + 1)
        self._noise_source = noise_source or self._draw_noise
        self._noise_block: Iterator[Tensor] = iter(())
        self._optimizer = self._build_optimizer()
        self._loss_sums = data.features.new_zeros(task.n_members)

    def _build_optimizer(self) -> StackAdam:
        """Return one Adam with the two learning rates."""
        settings = self.settings
        groups = [(self.task.trainable, settings.task_learning_rate)]
        if self.masking is not None:
            masks = [self.masking.parameters.flat]
            groups.append((masks, settings.mask_learning_rate))
        return StackAdam(groups)

    def _draw_noise(self) -> Tensor:
        """Return the next (gates, members) noise, drawing a block when it runs out."""
        noise = next(self._noise_block, None)
        if noise is not None:
            return noise
        assert self.masking is not None
        bias = self.masking.parameters.value["bias"]
        n_steps = max(1, _NOISE_BLOCK // bias.numel())
        block = bias.new_empty(n_steps, *bias.shape)
        draw_noise_(block, self.settings.noise, self.noise_generator)
        self._noise_block = iter(block.unbind(0)[1:])
        return block[0]

    def next_noise(self) -> Tensor | None:
        """Return the noise of the next step, (gates, members), or None if unmasked."""
        return None if self.masking is None else self._noise_source()

    def step_with_noise(
        self,
        rows: Tensor,
        temperature: Tensor | float,
        scale: Tensor | float,
        noise: Tensor | None,
    ) -> None:
        """Do one gradient step on some rows.

        Parameters
        ----------
        rows : Tensor of int
        temperature : float or scalar Tensor
        scale : float or scalar Tensor
            Factor on the balance, below one while the penalty is ramped up.
        noise : Tensor of shape (gates, members), or None without a masking network
        """
        settings = self.settings
        mask = self.fixed_mask
        if self.masking is not None:
            assert noise is not None
            mask = relaxed_mask(self.masking.logits(), noise, temperature)
        outputs = self.task.forward(
            self.data.features.index_select(0, rows), self._column_mask(mask)
        )
        losses, slope = settings.loss.losses_and_gradient(
            outputs, self.data.targets.index_select(0, rows)
        )
        task_weights, mask_weights = self.data.weights_of(rows, settings.reduction)
        self._loss_sums += self._reduce_(losses, slope, task_weights)
        mask_slope = self.task.backward(slope, task_weights, mask_weights)
        if self.masking is not None:
            assert mask is not None
            assert mask_slope is not None
            assert self.balances is not None
            if self.data.gates is not None:
                mask_slope = self.data.gates.gather(mask_slope)
            by_gate = settings.penalty.gradient(mask, self.data.gates)
            price = self.balances * (by_gate * scale)
            slope_by_logit = relaxed_mask_slope(mask, temperature)
            self.masking.backward(slope_by_logit.mul_(mask_slope.add_(price)))
        self._optimizer.step()

    def _column_mask(self, mask: Tensor | None) -> Tensor | None:
        """Return the mask of the columns from that of the gates, forced ones open."""
        gates = self.data.gates
        if mask is None or gates is None or self.masking is None:
            return mask  # a fixed mask is one of columns
        return gates.expand(gates.force_(mask))

    def _reduce_(
        self, losses: Tensor, slope: Tensor, task_weights: Tensor | None
    ) -> Tensor:
        """Reduce row losses to one a member; without weights scale `slope` to match."""
        if task_weights is not None:
            return (losses * task_weights).sum(dim=-1)
        if self.settings.reduction == "sum":
            return losses.sum(dim=-1)
        slope.mul_(1.0 / losses.shape[-1])
        return losses.mean(dim=-1)

    def run(
        self,
        schedule: Schedule,
        *,
        record_after: Sequence[float] = (1.0,),
        deadline: float | None = None,
        on_record: Callable[["StackTrainer"], None] | None = None,
    ) -> Schedule:
        """Train along a schedule.

        Parameters
        ----------
        schedule : Schedule
        record_after : sequence of float in (0, 1]
            Fractions of the run after which `history` gets an entry.
        deadline : float or None
            `time.monotonic` value; a run that would pass it is shortened, as a whole,
            after its first few steps have shown how fast it is.
        on_record : callable (trainer) -> None, or None
            Called after every entry.

        Returns
        -------
        Schedule
            What was really run, shorter than asked for if a deadline required it.
        """
        with self._on_device():
            return self._run(schedule, record_after, deadline, on_record)

    def _run(
        self,
        schedule: Schedule,
        record_after: Sequence[float],
        deadline: float | None,
        on_record: Callable[["StackTrainer"], None] | None,
    ) -> Schedule:
        """Take the steps."""
        take_step = self._step_function()
        batches = self._batches(schedule.batch_size)
        course = _Course(schedule, record_after)
        stopwatch = _Stopwatch(deadline)
        step = last_record = 0
        while step < course.schedule.n_steps:
            take_step(next(batches), course.temperatures[step], course.scales[step])
            step += 1
            n_steps = stopwatch.affordable_steps(step, self._synchronize)
            if n_steps is not None and n_steps < course.schedule.n_steps:
                course = _Course(schedule.shortened(n_steps), record_after)
            if step in course.records:
                self._record(step, step - last_record, course.temperatures[step - 1])
                last_record = step
                if on_record is not None:
                    on_record(self)
        return course.schedule

    def _step_function(self) -> Callable[[Tensor, float, float], None]:
        """Return the eager step, or on CUDA its captured form."""
        features = self.data.features
        is_captured = features.device.type == "cuda" and isinstance(
            self.task, StackedMLP
        )
        # The size of a sparse batch is never the same twice: nothing to capture.
        if is_captured and isinstance(features, Tensor):
            return CapturedStep(self.step_with_noise, self.next_noise, features)
        return self.train_step

    def train_step(self, rows: Tensor, temperature: float, scale: float) -> None:
        """Do one gradient step with the next noise."""
        self.step_with_noise(rows, temperature, scale, self.next_noise())

    def _batches(self, batch_size: int) -> Iterator[Tensor]:
        """Yield row numbers for ever, every row once an epoch, in a new order."""
        n_rows, device = self.data.features.shape[0], self.data.features.device
        # Batch normalisation in a user's module cannot train on a single row.
        is_last_single = n_rows > batch_size > 1 and n_rows % batch_size == 1
        n_used = n_rows - (is_last_single and isinstance(self.task, ModuleStack))
        while True:
            order = torch.randperm(n_rows, generator=self._order_generator)[:n_used]
            yield from order.to(device).split(batch_size)

    def _on_device(self) -> AbstractContextManager[object]:
        """Make the training device CUDA's current one, where streams and graphs go."""
        if self.data.features.device.type == "cuda":
            return torch.cuda.device(self.data.features.device)
        return nullcontext()

    def _synchronize(self) -> None:
        """Wait for the device, so that a clock can be read."""
        device = self.data.features.device
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        elif device.type == "mps":
            torch.mps.synchronize()

    def _record(self, step: int, n_steps: int, temperature: float) -> None:
        """Append means since the last record to the history."""
        task_loss = (self._loss_sums / n_steps).cpu().double().numpy()
        self._loss_sums.zero_()
        if not np.isfinite(task_loss).all():
            raise TrainingDivergedError(
                f"training diverged: the task loss is {task_loss.tolist()} after "
                f"{step} steps. Lower task_learning_rate, or look for extreme values."
            )
        self.history.step.append(step)
        self.history.temperature.append(float(temperature))
        self.history.task_loss.append(task_loss)
        if self.masking is not None:
            logits = self.masking.logits()
            mask = torch.sigmoid(logits / temperature)
            penalty = self.settings.penalty.value(mask, self.data.gates)
            self.history.penalty.append(penalty.cpu().double().numpy())
            self.history.logits.append(logits.T.cpu().float().numpy())


def stack_outputs(
    task: TaskStack, features: Tensor | SparseRows, mask: Tensor | None
) -> Tensor:
    """Return the outputs of all members, (members, rows, outputs), in chunks."""
    chunk = max(64, (1 << 22) // (task.n_members * 64))
    if isinstance(task, ModuleStack):
        task.evaluation_mode(True)
    parts = [task.forward(part, mask) for part in features.split(chunk)]
    if isinstance(task, ModuleStack):
        task.evaluation_mode(False)
    return torch.cat(parts, dim=1)


class _Course:
    """The numbers of a schedule, step by step."""

    def __init__(self, schedule: Schedule, record_after: Sequence[float]) -> None:
        self.schedule = schedule
        self.temperatures = schedule.temperatures().tolist()
        self.scales = schedule.penalty_scales().tolist()
        self.records = {
            max(1, round(fraction * schedule.n_steps)) for fraction in record_after
        }


class _Stopwatch:
    """Tell, once, how many steps fit before a deadline."""

    first, last = 8, 24  # steps between which the speed is measured

    def __init__(self, deadline: float | None) -> None:
        self._deadline = deadline
        self._started = 0.0

    def affordable_steps(self, step: int, wait: Callable[[], None]) -> int | None:
        """Return the number of steps to take in all, when it can be told."""
        if self._deadline is None or step not in (self.first, self.last):
            return None
        wait()
        now = time.monotonic()
        if step == self.first:
            self._started = now
            return None
        seconds_per_step = (now - self._started) / (self.last - self.first)
        return step + int(max(0.0, self._deadline - now) / max(seconds_per_step, 1e-9))
