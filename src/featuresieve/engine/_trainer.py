"""Train a stack: run and train_step."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from copy import copy
from dataclasses import replace
from functools import cached_property
from itertools import islice

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from featuresieve.engine._cuda_graph import CapturedStep
from featuresieve.engine._device import wait_for
from featuresieve.engine._losses import SelectionPenalty, TaskLoss, reduced
from featuresieve.engine._masking import (
    MaskingNetwork,
    NoiseBuffer,
    relaxed_mask,
    relaxed_mask_slope,
)
from featuresieve.engine._module_network import ModuleStack
from featuresieve.engine._open_gates import OpenGates, networks_of
from featuresieve.engine._optimizer import StackOptimizer
from featuresieve.engine._ranks import Ranks
from featuresieve.engine._schedule import Course, Schedule, StepBudget
from featuresieve.engine._slices import Slices, TakeStep, cuts_of, watch
from featuresieve.engine._state import (
    RUNNING,
    History,
    Monitor,
    State,
    array_of,
    check_finite,
    load_tensors_,
    number_array,
    number_of,
    tensor_state,
    with_prefix,
    without_prefix,
)
from featuresieve.engine._task_network import StackedMLP
from featuresieve.engine._task_stack import TaskStack
from featuresieve.engine._training import Training
from featuresieve.engine._training_data import TrainingData

NoiseSource = Callable[[], Tensor]
OnRecord = Callable[["StackTrainer"], None]


class StackTrainer:
    """Train all members of a stack on the same mini-batches.

    `balances`, (members,), weigh the penalty of a masking network. Without one the mask
    is `fixed_mask`, (columns, members), or open. `seed` decides the order of the rows
    and the noise, which tests replace. A large stack trains in slices, on `n_threads`
    and by `ranks`, of which the first trains what is one slice; all know it at records.
    If it `may_shrink`, gates that every member has shut leave it at a record.
    """

    def __init__(
        self,
        data: TrainingData,
        loss: TaskLoss,
        training: Training,
        task: TaskStack,
        *,
        masking: MaskingNetwork | None = None,
        balances: Tensor | None = None,
        fixed_mask: Tensor | None = None,
        seed: int = 0,
        noise_source: NoiseSource | None = None,
        n_threads: int = 1,
        ranks: Ranks | None = None,
        may_shrink: bool = False,
    ) -> None:
        self.data, self.loss, self.training, self.task = data, loss, training, task
        self.penalty = SelectionPenalty(training.penalty, training.target_count)
        self.masking, self.balances, self.fixed_mask = masking, balances, fixed_mask
        self.history = History()
        device = data.features.device
        self._order_generator = torch.Generator().manual_seed(seed)
        self.noise_generator = torch.Generator(device).manual_seed(seed + 1)
        self._noise, self.open_gates = noise_source, None
        if masking is not None:
            bias = masking.parameters.value["bias"]  # (gates, members)
            drawn = NoiseBuffer(bias, training.noise, self.noise_generator)
            self._noise = noise_source or drawn
        if may_shrink and masking is not None:
            self.open_gates = OpenGates(data.gates, masking.logits())
        self._loss_sums = data.features.new_zeros(task.n_members)
        self._n_threads, self.ranks = n_threads, ranks or Ranks()
        self._slices: Slices | None = None
        self.step = 0  # steps taken
        self.planned_steps = 0  # fewer than asked for if a deadline required it
        self.is_stopped = False  # whether the run was asked to stop before

    @cached_property
    def _optimizers(self) -> list[tuple[StackOptimizer, float]]:
        """Make the optimisers: not before they are needed, since slices have theirs."""
        training = self.training
        trained = [(self.task.trainable, training.task_learning_rate)]
        if self.masking is not None:
            flat = [self.masking.parameters.flat]
            trained.append((flat, training.mask_learning_rate))
        with torch.inference_mode(False):
            return [(StackOptimizer(values), rate) for values, rate in trained]

    def next_noise(self) -> Tensor | None:
        """Return the noise of the next step, (gates, members), or None if unmasked."""
        noise = None if self._noise is None else self._noise()
        if noise is None or self.open_gates is None:
            return noise
        return self.open_gates.pick(noise)

    def step_with_noise(
        self,
        rows: Tensor,
        temperature: Tensor | float,
        scale: Tensor | float,
        noise: Tensor | None,
    ) -> None:
        """Do one gradient step on some rows.

        `scale` is a factor on the balance, below one while the penalty is ramped up,
        and `noise` is (gates, members), None without a masking network.
        """
        self.step_on(self.batch(rows), temperature, scale, noise)

    def batch(self, rows: Tensor) -> TrainingData:
        """Pick the rows of a step."""
        return self.data.batch(rows, self.training.reduction)

    def step_on(
        self,
        batch: TrainingData,
        temperature: Tensor | float,
        scale: Tensor | float,
        noise: Tensor | None,
    ) -> None:
        """Do the step of `step_with_noise` on rows that are picked already."""
        gates = batch.gates
        mask = column_mask = self.fixed_mask
        if self.masking is not None:
            assert noise is not None
            mask = relaxed_mask(self.masking.logits(), noise, temperature)
            column_mask = mask if gates is None else gates.expand(gates.force_(mask))
        outputs = self.task.forward(batch.features, column_mask)
        losses, slope = self.loss.losses_and_gradient(outputs, batch.targets)
        task_weights, mask_weights = batch.weights_by_member()
        reduction = self.training.reduction
        self._loss_sums += reduced(losses, slope, task_weights, reduction)
        mask_slope = self.task.backward(slope, task_weights, mask_weights)
        if self.masking is not None:
            assert mask is not None
            assert mask_slope is not None
            assert self.balances is not None
            if gates is not None:
                mask_slope = gates.gather(mask_slope)
            price = self.balances * (self.penalty.gradient(mask, gates) * scale)
            slope_by_logit = relaxed_mask_slope(mask, temperature)
            self.masking.backward(slope_by_logit.mul_(mask_slope.add_(price)))
        for optimizer, learning_rate in self._optimizers:
            optimizer.step_(learning_rate)

    def run(
        self,
        schedule: Schedule,
        *,
        record_after: Sequence[float] = (1.0,),
        deadline: float | None = None,
        on_record: OnRecord | None = None,
        monitor: Monitor | None = None,
    ) -> Schedule:
        """Train along a schedule; return what was really run.

        After the fractions `record_after` of the run `history` gets an entry, and
        `on_record` is called. A run that would pass the `deadline`, a `time.monotonic`
        value, is shortened, as a whole, once its first steps have shown how fast it is.
        The `monitor` follows the run: resumes it, reports on it, stops it.
        """
        self.planned_steps = schedule.n_steps
        following = nullcontext() if monitor is None else monitor.following(self)
        device = self.data.features.device
        # Streams and graphs go to CUDA's current device.
        current = torch.cuda.device(device) if device.type == "cuda" else nullcontext()
        with current, following:
            return self._run(schedule, record_after, deadline, on_record, monitor)

    def _run(
        self,
        schedule: Schedule,
        record_after: Sequence[float],
        deadline: float | None,
        on_record: OnRecord | None,
        monitor: Monitor | None,
    ) -> Schedule:
        """Take the steps that are left."""
        # The order of the rows is drawn again up to the step a resumed run goes on at.
        is_whole, order = not isinstance(self.task, ModuleStack), self._order_generator
        orders = self.data.orders(schedule.batch_size, order, is_whole)
        batches = islice(orders, self.step, None)
        course = Course(schedule.shortened(self.planned_steps), record_after)
        stopwatch = StepBudget(deadline, self.step, self.ranks)
        while self.step < self.planned_steps and not self.is_stopped:
            # Not elsewhere: a resumed run must shrink where it would have shrunk.
            if self.step == 0 or self.step in course.records:
                self._shrink_(self._still_open())
            with self._stepping(schedule.batch_size) as take_step:
                while self.step < self.planned_steps and not self.is_stopped:
                    temperature, scale = course.at(self.step)
                    take_step(next(batches), temperature, scale)
                    self.step += 1
                    n_steps = stopwatch.affordable_steps(self.step, self.synchronize)
                    if n_steps is not None and n_steps < self.planned_steps:
                        course = Course(schedule.shortened(n_steps), record_after)
                        self.planned_steps = course.schedule.n_steps
                    if self.step in course.records:
                        self._record(temperature, on_record)
                    if monitor is not None and monitor.after_step(self):
                        self.is_stopped = True
                        if self.history.step[-1:] != [self.step]:
                            self._record(temperature, on_record)
                    if self.step in course.records and self._still_open() is not None:
                        break
        return replace(course.schedule, n_steps=self.step)

    def _still_open(self) -> npt.NDArray[np.bool_] | None:
        """Tell which gates may matter yet, if they are far fewer than are left."""
        if self.open_gates is None or self.masking is None:
            return None
        return self.open_gates.still_open(self.masking.logits(), self.step)

    def _shrink_(self, is_open: npt.NDArray[np.bool_] | None) -> None:
        """Go on with some gates; None: with all."""
        masking, open_gates = self.masking, self.open_gates
        if is_open is None or masking is None or open_gates is None:
            return
        assert isinstance(self.task, StackedMLP)
        open_gates.spread(masking.logits())
        if self._slices is not None:
            self._slices.collect_()
            self._slices = None
        self.data, columns = self.data.of_gates(is_open)
        gates = open_gates.keep_(is_open)
        present = self.task, masking, vars(self).get("_optimizers", [])
        self.task, self.masking, optimizers = networks_of(*present, columns, gates)
        if optimizers:
            self._optimizers = optimizers

    @contextmanager
    def _stepping(self, batch_size: int) -> Iterator[TakeStep]:
        """Yield what takes a step: for a large stack, slice by slice."""
        cuts = cuts_of(self.task, self.data, batch_size, self.ranks.size)
        if self._slices is not None and not self._slices.are(cuts):
            self._slices.collect_()
            self._slices = None
        if len(cuts) == 1:
            yield self._step_function() if self.ranks.is_first else watch
            return
        slices = self._slices or Slices(self, cuts, self._part, self._n_threads)
        self._slices = slices
        with slices.working():
            yield slices.step_function()
        if self.history.step[-1:] != [self.step]:
            slices.collect_(is_brief=True)

    def _part(self, members: slice) -> "StackTrainer":
        """Return a trainer of a slice, in memory of its own, for its steps alone."""
        assert isinstance(self.task, StackedMLP)
        part = copy(self)
        part.__dict__.pop("_optimizers", None)
        part.data = self.data.of_members(members)
        part.task = self.task.of_members(members)
        part._loss_sums = self._loss_sums[members]
        if self.fixed_mask is not None:
            part.fixed_mask = self.fixed_mask[:, members].contiguous()
        if self.masking is not None:
            assert self.balances is not None
            part.balances = self.balances[members]
            part.masking = self.masking.of_members(members)
        if self.step > 0:  # before, the optimisers have nothing to remember
            own, whole = part.member_views(slice(None)), self.member_views(members)
            for its, ours in zip(own, whole, strict=True):
                its.copy_(ours)
        return part

    def member_views(self, members: slice, *, is_brief: bool = False) -> list[Tensor]:
        """Return what training changes of some members; brief: the networks alone."""
        networks = [self.task] if self.masking is None else [self.task, self.masking]
        views = [self._loss_sums[members]]
        for number, network in enumerate(networks):
            assert not isinstance(network, ModuleStack)
            flats = [network.parameters.flat]
            if not is_brief:
                *remembered, n_steps = self._optimizers[number][0].state_tensors
                flats += remembered
                views.append(n_steps)
            for flat in flats:
                views += network.parameters.member_views(flat, members)
        return views

    def _step_function(self) -> TakeStep:
        """Return the eager step, or on CUDA its captured form."""
        features = self.data.features
        if isinstance(self.task, ModuleStack):
            return self.train_step
        if features.device.type == "cuda":
            return CapturedStep(self.step_with_noise, self.next_noise, features)
        # No tape is needed, and without its bookkeeping a step of a small stack takes a
        # quarter less time on the CPU.
        return torch.inference_mode()(self.train_step)

    def train_step(self, rows: Tensor, temperature: float, scale: float) -> None:
        """Do one gradient step with the next noise."""
        self.step_with_noise(rows, temperature, scale, self.next_noise())

    def synchronize(self) -> None:
        """Wait for the device or the slices, so that a clock can be read."""
        if self._slices is not None:
            self._slices.wait()
        wait_for(self.data.features.device)

    def _record(self, temperature: float, on_record: OnRecord | None) -> None:
        """Append means since the last record to the history."""
        if self._slices is not None:
            self._slices.collect_(is_brief=True)
        elif self.ranks.size > 1:
            self.ranks.broadcast_(self._live_tensors(is_brief=True), 0)
        n_steps = self.step - (self.history.step[-1] if self.history.step else 0)
        task_loss = (self._loss_sums / n_steps).cpu().double().numpy()
        self._loss_sums.zero_()
        check_finite(task_loss, self.step)
        self.history.step.append(self.step)
        self.history.temperature.append(float(temperature))
        self.history.task_loss.append(task_loss)
        if self.masking is not None:
            logits, gates = self.masking.logits(), self.data.gates
            if self.open_gates is not None:
                logits, gates = self.open_gates.spread(logits), self.open_gates.of_all
            penalty = self.penalty.value(torch.sigmoid(logits / temperature), gates)
            self.history.penalty.append(penalty.cpu().double().numpy())
            # In one layout, resumed or not: means depend on it in the last digit.
            self.history.logits.append(logits.T.float().contiguous().cpu().numpy())
        if on_record is not None:
            on_record(self)

    def _live_tensors(self, *, is_brief: bool = False) -> list[Tensor]:
        """Return what the rest of a run depends on; brief: what a record does."""
        masks = [] if self.masking is None else [self.masking.parameters.flat]
        optimizers = [] if is_brief else self._optimizers
        remembered = [t for adam, _ in optimizers for t in adam.state_tensors]
        return [*self.task.state_tensors, *masks, *remembered, self._loss_sums]

    def state(self) -> State:
        """Return the state between two steps; what a finished run can spare is marked.

        The order of the rows is no part of it: it follows from seed and step.
        """
        if self._slices is not None:
            self._slices.collect_()
        running = tensor_state(self._live_tensors())
        if isinstance(self._noise, NoiseBuffer):
            running |= with_prefix("noise.", self._noise.state())
        if isinstance(self.task, ModuleStack):
            running["dropout_seed"] = number_array(self.task.dropout_seed)
        if self.open_gates is not None and not self.open_gates.are_all:
            running["open_gates"] = self.open_gates.left.astype(np.int64)
        numbers = {
            "step": number_array(self.step),
            "planned_steps": number_array(self.planned_steps),
            "is_stopped": number_array(self.is_stopped),
        }
        history = with_prefix("history.", self.history.state())
        return numbers | history | with_prefix(RUNNING, running)

    def load_state_dict(self, state: State) -> None:
        """Go on from what `state` was taken from."""
        planned = number_of(state, "planned_steps", 1, self.planned_steps)
        self.step = number_of(state, "step", 0, planned)
        self.planned_steps = planned
        self.is_stopped = bool(number_of(state, "is_stopped", 0, 1))
        history, is_masked = without_prefix("history.", state), self.masking is not None
        self.history.load_state_dict(history, self.task.n_members, is_masked)
        running = without_prefix(RUNNING, state)
        if not running and (self.is_stopped or self.step == planned):
            return
        self._slices = None
        if self.open_gates is not None and "open_gates" in running:
            left = array_of(running, "open_gates", np.int64, (None,))
            self._shrink_(np.isin(self.open_gates.left, left))
            if self.history.logits:
                self.open_gates.remember(self.history.logits[-1])
        load_tensors_(self._live_tensors(), running)
        if isinstance(self._noise, NoiseBuffer):
            self._noise.load_state_dict(without_prefix("noise.", running))
        if isinstance(self.task, ModuleStack):
            self.task.dropout_seed = number_of(running, "dropout_seed", 0, 2**63 - 1)
