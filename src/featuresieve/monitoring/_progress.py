"""Progress of a fit as text: a line that changes on a terminal and in a notebook."""

import shutil
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module

from featuresieve.process import as_clock

# Seconds between two states of the line on a terminal, and between lines elsewhere.
TERMINAL_SECONDS = 0.2
LINE_SECONDS = 15.0

# Shares of the time that stages usually take, to tell how long those to come will be.
_USUAL_SHARES = {"gates": 0.8, "refit": 0.16, "rounds": 2.5, "predictor": 0.04}
# Steps before the speed can be told.
_FIRST_STEPS = 8


class Progress:
    """Show where a fit stands: in the cell of a notebook, else on standard error."""

    def __init__(self, stages: Sequence[str], started: float) -> None:
        self._stages, self._started = list(stages), started
        stream = sys.stderr
        self._is_terminal = stream is not None and stream.isatty()
        self._cell = _notebook_cell()
        is_live = self._is_terminal or self._cell is not None
        self._interval = TERMINAL_SECONDS if is_live else LINE_SECONDS
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
        if self._is_terminal and self._cell is None and (is_last or not is_done):
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
        if self._cell is not None:
            self._cell(line)
        elif self._is_terminal:
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


def _notebook_cell() -> Callable[[str], None] | None:
    """Return what changes a line below the cell that runs; None if there is none."""
    kernel = sys.modules.get("ipykernel.zmqshell")
    if kernel is None:
        return None
    if not isinstance(
        import_module("IPython").get_ipython(), kernel.ZMQInteractiveShell
    ):
        return None
    handle = import_module("IPython.display").DisplayHandle()
    is_new = [True]  # until it is shown

    def show(line: str) -> None:
        """Show a line in place of the one before."""
        put = handle.display if is_new else handle.update
        is_new.clear()
        put({"text/plain": line}, raw=True)

    return show
