"""A training step of a stack, recorded once as a CUDA graph and replayed.

A step of a small network is dozens of kernels of a few microseconds each; launching
them one by one takes longer than running them. A replay launches all of them at once,
and holds Python up so briefly that several threads can train side by side.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from sievebench.stack.streams import own_stream

# Row numbers of the batch, learning rate.
Step = Callable[[Tensor, float | Tensor], None]

# A recording must not be disturbed by the beginning of another one.
_RECORDING = threading.Lock()


class CapturedStep:
    """Take a step as usual a few times, then as a replay of what was recorded.

    The first steps warm the libraries up, and are ordinary training steps. What
    differs between steps is copied into fixed memory before each. All batches must
    have the same size.

    Parameters
    ----------
    step : callable (rows, learning rate) -> None
    generators : sequence of torch.Generator
        Whatever the step draws random numbers from. A replay goes on where the last
        step has left them.
    device : torch.device
    """

    n_eager = 3

    def __init__(
        self, step: Step, generators: Sequence[torch.Generator], device: torch.device
    ) -> None:
        self._step, self._generators = step, generators
        self._n_taken = 0
        self._rate_value = float("nan")
        self._rate = torch.zeros((), dtype=torch.float32, device=device)
        self._rows = torch.empty(0, dtype=torch.int64, device=device)
        self._graph: torch.cuda.CUDAGraph | None = None

    def __call__(self, rows: Tensor, rate: float) -> None:
        """Take the next step."""
        if rate != self._rate_value:
            self._rate.fill_(rate)
            self._rate_value = rate
        self._n_taken += 1
        if self._n_taken <= self.n_eager:
            self._step(rows, self._rate)
            return
        if self._graph is None:
            self._rows = rows.clone()
            self._graph = self._record()
        self._rows.copy_(rows)
        self._graph.replay()

    def _record(self) -> torch.cuda.CUDAGraph:
        """Record the step without running it."""
        graph = torch.cuda.CUDAGraph()
        for generator in self._generators:
            graph.register_generator_state(generator)
        # Not the whole device: others may be recording on it.
        torch.cuda.current_stream().synchronize()
        with _RECORDING:
            # Other threads may go on with what they do.
            graph.capture_begin(capture_error_mode="thread_local")
            try:
                self._step(self._rows, self._rate)
            finally:
                graph.capture_end()
        return graph


@contextmanager
def recordable_stream(device: torch.device) -> Iterator[None]:
    """Work on a stream that can be recorded, which CUDA's default stream cannot.

    Nothing happens on other devices, or if a stream has been chosen already.

    Parameters
    ----------
    device : torch.device
    """
    if device.type != "cuda":
        yield
        return
    with torch.cuda.device(device):
        current = torch.cuda.current_stream()
        if current != torch.cuda.default_stream():
            yield
            return
        with own_stream(device) as own:
            own.wait_stream(current)
            try:
                with torch.cuda.stream(own):
                    yield
            finally:  # what is still under way must not outlive its memory
                current.wait_stream(own)
                own.synchronize()
