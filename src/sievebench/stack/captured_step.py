"""Training steps of a stack, recorded once as a CUDA graph and replayed.

A step of a small network is dozens of kernels of a few microseconds each; launching
them one by one takes longer than running them. A replay launches all of them at once.
Several steps are recorded one after the other, so that Python, which has one thread
running at a time, is held up once for all of them and many trainings can go on side by
side.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from featuresieve.engine import record_graph

# Row numbers of the batch, learning rate.
Step = Callable[[Tensor, float | Tensor], None]


class CapturedSteps:
    """Take steps as usual a few times, then as replays of what was recorded.

    The first steps warm the libraries up, and are ordinary training steps. What
    differs between steps is copied into fixed memory before each replay. All batches
    must have the same size. The current stream must be one that is not shared.
    """

    n_eager = 3
    most_at_once = 4

    def __init__(
        self, step: Step, generators: Sequence[torch.Generator], device: torch.device
    ) -> None:
        self._step, self._generators = step, generators
        self._n_taken = 0
        self._rate_value = float("nan")
        self._rate = torch.zeros((), dtype=torch.float32, device=device)
        self._recorded: dict[int, tuple[torch.cuda.CUDAGraph, Tensor]] = {}

    def __call__(self, batches: Tensor, rate: float) -> None:
        """Take one step for each batch of row numbers, (steps, batch)."""
        if rate != self._rate_value:
            self._rate.fill_(rate)
            self._rate_value = rate
        at_once = steps_at_once(len(batches), self.most_at_once)
        n_eager = min(len(batches), max(0, self.n_eager - self._n_taken))
        self._n_taken += n_eager
        for rows in batches[:n_eager]:
            self._step(rows, self._rate)
        start = n_eager
        while start < len(batches):
            n_steps = at_once if start + at_once <= len(batches) else 1
            self._replay(batches[start : start + n_steps])
            start += n_steps

    def _replay(self, batches: Tensor) -> None:
        """Take some steps at once."""
        n_steps = len(batches)
        if n_steps not in self._recorded:
            self._recorded[n_steps] = self._record(batches)
        graph, fixed = self._recorded[n_steps]
        fixed.copy_(batches)
        graph.replay()

    def _record(self, batches: Tensor) -> tuple[torch.cuda.CUDAGraph, Tensor]:
        """Record the steps without taking them."""
        fixed = batches.clone()

        def steps() -> None:
            for rows in fixed:
                self._step(rows, self._rate)

        stream = torch.cuda.current_stream()
        return record_graph(steps, stream, self._generators), fixed


class CapturedCall:
    """Call a function without arguments twice, then replay what it does."""

    n_eager = 2

    def __init__(self, function: Callable[[], None]) -> None:
        self._function = function
        self._n_calls = 0
        self._graph: torch.cuda.CUDAGraph | None = None

    def __call__(self) -> None:
        """Do it once more."""
        self._n_calls += 1
        if self._n_calls <= self.n_eager:
            self._function()
            return
        if self._graph is None:
            self._graph = record_graph(self._function, torch.cuda.current_stream())
        self._graph.replay()


def steps_at_once(n_steps: int, most: int) -> int:
    """Return the size, at least 1, of the fewest equal blocks of at most so many steps.

    Fewer steps than there are blocks may be left over.
    """
    n_blocks = -(-n_steps // most)
    return max(1, n_steps // max(1, n_blocks))
