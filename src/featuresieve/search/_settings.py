"""The choices that define a search, checked once and passed down unchanged."""

import time
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch

from featuresieve.engine import Ranks, Schedule, Training

# Temperature at the end of a run whose decay is chosen automatically.
_LAST_TEMPERATURE = 0.85
# Multiply-adds a run on the CPU may spend before its steps are cut, about a minute.
_CPU_WORK = 3e12
# Steps of an automatic run: this many times the root of the number of rows.
_STEPS_PER_ROOT_ROW = 7.5
_LEAST_STEPS = 200
_MOST_STEPS = 1500
# Bytes of tables that stay on a GPU for the length of a fit.
MOST_HELD = 1 << 29


@dataclass(frozen=True)
class Settings:
    """Everything a search needs to know besides the data."""

    training: Training = field(default_factory=Training)  # checked
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    n_threads: int = 1  # that train and judge on the CPU
    ranks: Ranks = field(default_factory=Ranks)  # that share the work
    # Tables that are on the device already, and of what they are.
    _held: dict[int, tuple[npt.NDArray[np.float32], torch.Tensor]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def on_device(self, table: npt.NDArray[np.float32]) -> torch.Tensor:
        """Return a table on the device, where it stays for other parts of the fit."""
        if id(table) in self._held:
            return self._held[id(table)][1]
        tensor = torch.from_numpy(table).to(self.device)
        if self.device.type != "cpu":  # there it is the same memory
            n_bytes = sum(known.nbytes for known, _ in self._held.values())
            if n_bytes + table.nbytes > MOST_HELD:
                self._held.clear()
            self._held[id(table)] = table, tensor
        return tensor

    def is_past(self, deadline: float | None) -> bool:
        """Tell whether a `time.monotonic` value is behind us, on the first rank."""
        if deadline is None:
            return False
        return self.ranks.from_first(lambda: time.monotonic() >= deadline)

    def schedule(
        self, n_rows: int, n_columns: int, n_members: int, share: float = 1.0
    ) -> Schedule:
        """Return how long a stack trains, or a share of it where less is enough."""
        training = self.training
        batch_size = min(n_rows, training.batch_size or _automatic_batch_size(n_rows))
        steps_per_epoch = -(-n_rows // batch_size)
        if training.n_epochs is not None:
            n_steps = max(1, round(training.n_epochs * steps_per_epoch * share))
        else:
            # More columns, more candidates for a gate: up to two thirds longer.
            patience = 1 + min(n_columns, 500) / 750
            wanted = _STEPS_PER_ROOT_ROW * patience * n_rows**0.5
            n_steps = int(min(max(wanted, _LEAST_STEPS), _MOST_STEPS) * share)
            if self.device.type == "cpu":
                width = n_members * sum((n_columns, *training.hidden_sizes)) * 32
                affordable = int(_CPU_WORK / (3 * batch_size * width))
                n_steps = min(n_steps, max(affordable, _LEAST_STEPS))
        decay = training.temperature_decay
        if decay is None:
            course = _LAST_TEMPERATURE / training.start_temperature
            decay = course ** (steps_per_epoch / n_steps)
        return Schedule(
            n_steps,
            steps_per_epoch,
            batch_size,
            training.start_temperature,
            decay,
            training.penalty_ramp,
        )


def _automatic_batch_size(n_rows: int) -> int:
    """Return a power of two between 32 and 256, an eighth to a quarter of the rows."""
    size = 32
    while size < 256 and size * 8 <= n_rows:
        size *= 2
    return size
