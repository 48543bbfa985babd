"""Progress of a fit as text: one line that changes on a terminal, a few elsewhere."""

import shutil
import sys
import time
from collections.abc import Callable, Sequence

from featuresieve.process import as_clock

# Seconds between two states of the line on a terminal, and between lines elsewhere.
TERMINAL_SECONDS = 0.2
LINE_SECONDS = 15.0

# Shares of the time that stages usually take, to tell how long those to come will be.
_USUAL_SHARES = {"gates": 0.8, "refit": 0.16, "rounds": 2.5, "predictor": 0.04}
# Steps before the speed can be told.
_FIRST_STEPS = 8


class Progress:
    """Write to standard error where a fit stands."""

    def __init__(self, stages: Sequence[str], started: float) -> None:
        self._stages, self._started = list(stages), started
        stream = sys.stderr
        self._is_terminal = stream is not None and stream.isatty()
        self._interval = TERMINAL_SECONDS if self._is_terminal else LINE_SECONDS
        self._due = time.monotonic() + self._interval
        self._width = 0

    def begin_stage(
        self, name: str, step: int, n_steps: int, wait: Callable[[], None]
    ) -> None:
        """Start the clock of a stage."""
        self._name, self._wait = name, wait
        self._first, self._began = step, time.monotonic()
        self._step, self._n_steps = step, n_steps

    def after_step(self, step: int, n_steps: int) -> bool:
        """Write, if it is time to."""
        self._step, self._n_steps = step, n_steps
        if time.monotonic() >= self._due:
            self._wait()
            self._write()
            self._due = time.monotonic() + self._interval
        return False

    def end_stage(self, is_done: bool) -> None:
        """Write a last time about this stage."""
        self._write()
        is_last = self._name == self._stages[-1]
        if self._is_terminal and (is_last or not is_done):
            self._put("\n")

    def _write(self) -> None:
        """Write the line."""
        number = self._stages.index(self._name) + 1
        now = time.monotonic()
        line = (
            f"featuresieve: {self._name} ({number} of {len(self._stages)}), "
            f"step {self._step} of {self._n_steps}, {as_clock(now - self._started)}"
        )
        left = self._seconds_left(now)
        if left is not None and left >= 1:
            line += f", about {as_clock(left)} left"
        if self._is_terminal:
            line = line[: shutil.get_terminal_size().columns - 1]  # a wrapped one stays
            self._put("\r")  # alone: in a text, the commands escape it
            self._put(line.ljust(self._width))
            self._width = len(line)
        else:
            self._put(f"{line}\n")

    def _seconds_left(self, now: float) -> float | None:
        """Estimate the rest of the fit from the speed of this stage."""
        n_done = self._step - self._first
        if n_done < _FIRST_STEPS:
            return None
        per_step = (now - self._began) / n_done
        number = self._stages.index(self._name)
        later = sum(_USUAL_SHARES[name] for name in self._stages[number + 1 :])
        whole = per_step * self._n_steps
        left = per_step * (self._n_steps - self._step)
        return left + whole * later / _USUAL_SHARES[self._name]

    def _put(self, text: str) -> None:
        """Write text where progress goes."""
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()
