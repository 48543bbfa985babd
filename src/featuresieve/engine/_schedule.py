"""How temperature and penalty move from the first training step to the last."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Schedule:
    """The length of a training run and what changes along it.

    Parameters
    ----------
    n_steps : int
        Number of mini-batches.
    steps_per_epoch : int
        Mini-batches in one pass over the rows; the unit of the annealing.
    batch_size : int
    start_temperature : float
    temperature_decay : float
        Factor per epoch.
    penalty_ramp : float
        Fraction of the run over which the penalty grows linearly from zero to its
        full weight; 0 means full weight from the first step.
    """

    n_steps: int
    steps_per_epoch: int
    batch_size: int
    start_temperature: float = 2.0
    temperature_decay: float = 0.997
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
