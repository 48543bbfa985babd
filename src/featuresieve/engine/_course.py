"""The numbers of a run, step by step, and how many steps a deadline allows."""

import time
from collections.abc import Callable, Sequence

from featuresieve.engine._schedule import Schedule

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
    """Tell how many steps fit before a deadline.

    Once the speed is known, and again if the run goes on for more than a moment after
    the deadline, or after its own start if that is later.

    Parameters
    ----------
    deadline : float or None
        `time.monotonic` value.
    first_step : int, default=0
        Steps that were taken before, in a run that is resumed.
    """

    first, last = 8, 24  # steps between which the speed is measured
    moment = 0.4  # seconds

    def __init__(self, deadline: float | None, first_step: int = 0) -> None:
        is_told = first_step >= self.last  # by the run that took those steps
        self._deadline = None if is_told else deadline
        self._first, self._last = first_step + self.first, first_step + self.last
        self._latest = max(deadline or 0.0, time.monotonic()) + self.moment
        self._started = 0.0

    def affordable_steps(self, step: int, wait: Callable[[], None]) -> int | None:
        """Return the number of steps to take in all, when it can be told."""
        if self._deadline is None:
            return None
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
        n_left = max(0.0, self._deadline - now) / max(seconds_per_step, 1e-9)
        return step + int(min(n_left, _MOST_STEPS))
