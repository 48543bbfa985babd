"""A training step captured as a CUDA graph and replayed."""

import threading
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from featuresieve.engine._training_data import SparseRows

Step = Callable[[Tensor, Tensor, Tensor, Tensor | None], None]

# Two threads, of the library or of the laboratory, must not begin to record at once.
_RECORDING = threading.Lock()
# For recording alone, one a device: what another thread launches on a stream that is
# recorded becomes part of the recording. PyTorch has 32 streams of each priority, which
# it hands out in turns, and those of high priority are rarely asked for.
_STREAMS: dict[torch.device, torch.cuda.Stream] = {}


class CapturedStep:
    """A training step as CUDA graphs, one for each size of batch.

    The first steps run eagerly, which warms the libraries up; they are ordinary
    training steps, so nothing has to be undone before the capture.

    All that differs between steps (rows, noise, temperature, scale) is copied into
    fixed memory, on the same stream, before a replay. No random numbers are drawn
    inside a graph: replays that queue up behind a busy device were seen to draw
    numbers out of turn there. `like` tells dtype and device.
    """

    n_eager = 3

    def __init__(
        self,
        step: Step,
        next_noise: Callable[[], Tensor | None],
        like: Tensor | SparseRows,
    ) -> None:
        self._step, self._next_noise = step, next_noise
        self._n_taken = 0
        self._knobs = like.new_zeros(2)  # temperature, scale
        self._noise: Tensor | None = None
        self._graphs: dict[int, tuple[torch.cuda.CUDAGraph, Tensor]] = {}

    def __call__(self, rows: Tensor, temperature: float, scale: float) -> None:
        """Take the next step."""
        self._knobs[0].fill_(temperature)
        self._knobs[1].fill_(scale)
        noise = self._next_noise()
        if noise is not None:  # put where the graphs read it
            if self._noise is None:
                self._noise = torch.empty_like(noise)
            self._noise.copy_(noise)
        self._n_taken += 1
        if self._n_taken <= self.n_eager:
            self._run(rows)
            return
        if rows.shape[0] not in self._graphs:
            copy, stream = rows.clone(), _recording_stream(rows.device)
            graph = record_graph(lambda: self._run(copy), stream)
            self._graphs[rows.shape[0]] = graph, copy
        graph, static_rows = self._graphs[rows.shape[0]]
        static_rows.copy_(rows)
        graph.replay()

    def _run(self, rows: Tensor) -> None:
        """Call the step with the fixed memory."""
        self._step(rows, self._knobs[0], self._knobs[1], self._noise)


def record_graph(
    work: Callable[[], None],
    stream: torch.cuda.Stream,
    generators: Sequence[torch.Generator] = (),
) -> torch.cuda.CUDAGraph:
    """Record what `work` does, without doing it.

    It reads and writes the same memory each time, and never waits for the device; no
    other thread may launch anything on `stream`. A replay draws on from `generators`
    where the last one has left them.
    """
    graph = torch.cuda.CUDAGraph()
    for generator in generators:
        graph.register_generator_state(generator)
    # Not the whole device: others may be recording on it.
    torch.cuda.current_stream().synchronize()
    with _RECORDING, torch.cuda.stream(stream):
        # Other threads may go on with what they do on the device.
        graph.capture_begin(capture_error_mode="thread_local")
        try:
            work()
        finally:
            graph.capture_end()
    return graph


def _recording_stream(device: torch.device) -> torch.cuda.Stream:
    """Return the stream that nothing runs on."""
    with _RECORDING:
        if device not in _STREAMS:
            _STREAMS[device] = torch.cuda.Stream(device, priority=-1)
        return _STREAMS[device]
