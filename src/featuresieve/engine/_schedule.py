"""How temperature and penalty move along a run, and how many steps fit into it."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from featuresieve.engine._ranks import BEAT, Ranks

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Schedule:
    """The length of a training run and what changes along it."""

    n_steps: int  # mini-batches
    steps_per_epoch: int  # in one pass over the rows, the unit of the annealing
    batch_size: int
    start_temperature: float = 2.0
    temperature_decay: float = 0.997  # factor per epoch
    # Fraction of the run over which the penalty grows linearly from zero to its full
    # weight; 0 means full weight from the first step.
    penalty_ramp: float = 0.0

    def temperatures(self, first: int = 0, n_steps: int | None = None) -> FloatArray:
        """Return the temperature of every step, or some: ``start * decay^epoch``."""
        epochs = self._steps(first, n_steps) // self.steps_per_epoch
        return np.asarray(self.start_temperature * self.temperature_decay**epochs)

    def penalty_scales(self, first: int = 0, n_steps: int | None = None) -> FloatArray:
        """Return the factor in [0, 1] on the penalty at every step, or some."""
        steps, n_ramp = self._steps(first, n_steps), self.penalty_ramp * self.n_steps
        if n_ramp < 1:
            return np.ones(len(steps))
        return np.minimum(steps / n_ramp, 1.0)

    def _steps(self, first: int, n_steps: int | None) -> npt.NDArray[np.int64]:
        """Return the numbers of some steps, by default of all."""
        n_left = self.n_steps - first
        last = first + (n_left if n_steps is None else min(n_steps, n_left))
        return np.arange(first, last)

    def shortened(self, n_steps: int) -> "Schedule":
        """Return the same course squeezed into fewer steps.

        The annealing per step grows so that the last temperature stays the same.
        """
        n_steps = max(1, min(n_steps, self.n_steps))
        stretch = self.n_steps / n_steps
        return replace(
            self, n_steps=n_steps, temperature_decay=self.temperature_decay**stretch
        )


# Steps whose numbers are computed at once: a plan may have more than memory holds.
_BLOCK = 1 << 16
_MOST_STEPS = 1 << 62


class Course:
    """The numbers of a schedule, step by step."""

    def __init__(self, schedule: Schedule, record_after: Sequence[float]) -> None:
        self.schedule = schedule
        self.records = {
            max(1, round(fraction * schedule.n_steps)) for fraction in record_after
        }
        self._first = -1
        self._temperatures: list[float] = []
        self._scales: list[float] = []

    def at(self, step: int) -> tuple[float, float]:
        """Return the temperature, and the scale of the penalty, of a step."""
        first = step - step % _BLOCK
        if first != self._first:
            self._first = first
            self._temperatures = self.schedule.temperatures(first, _BLOCK).tolist()
            self._scales = self.schedule.penalty_scales(first, _BLOCK).tolist()
        return self._temperatures[step - first], self._scales[step - first]


class StepBudget:
    """Tell how many steps fit before a deadline, a `time.monotonic` value.

    Once the speed is known, and again if the run goes on for more than a moment after
    the deadline, or after its own start if that is later. A run that is resumed took
    `first_step` steps before. Of several ranks the clock of the first one counts.
    """

    first, last = 8, 24  # steps between which the speed is measured
    moment = 0.4  # seconds

    def __init__(
        self, deadline: float | None, first_step: int = 0, ranks: Ranks | None = None
    ) -> None:
        self._ranks, self._first_step = ranks or Ranks(), first_step
        is_told = first_step >= self.last  # by the run that took those steps
        self._deadline = None if is_told else deadline
        self._first, self._last = first_step + self.first, first_step + self.last
        self._latest = max(deadline or 0.0, time.monotonic()) + self.moment
        self._started = 0.0

    def affordable_steps(self, step: int, wait: Callable[[], None]) -> int | None:
        """Return the number of steps to take in all, when it can be told."""
        if self._deadline is None:
            return None
        told = None
        if self._ranks.is_first:
            told = self._by_own_clock(step, self._deadline, wait)
        if self._ranks.size == 1:
            return told
        if (step - self._first_step) % BEAT:
            return None
        return self._ranks.most(told or 0) or None

    def _by_own_clock(
        self, step: int, deadline: float, wait: Callable[[], None]
    ) -> int | None:
        """Return the number of steps to take in all, when it can be told."""
        if step <= self._last:
            wait()
        now = time.monotonic()
        if step != self._last and now >= self._latest:
            return step
        if step == self._first:
            self._started = now
        if step != self._last:
            return None
        seconds_per_step = (now - self._started) / (self._last - self._first)
        n_left = max(0.0, deadline - now) / max(seconds_per_step, 1e-9)
        return step + int(min(n_left, _MOST_STEPS))
