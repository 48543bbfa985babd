"""How stacks share a GPU: recorded steps, streams of their own, and its memory.

A step of a small network is dozens of kernels of a few microseconds each; launching
them one by one takes longer than running them. A replay of a CUDA graph launches all of
them at once. Several steps are recorded one after the other, so that Python, which has
one thread running at a time, is held up once for all of them and many trainings can go
on side by side.

What another thread launches on a stream that is being recorded becomes part of the
recording. PyTorch has 32 streams of each priority and hands them out in turns: one made
anew for every training would soon be one that somebody works on. Those here are of high
priority, which others rarely ask for, and are given back.
"""

import ctypes
import gc
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import torch
from torch import Tensor

from featuresieve.engine import record_graph, resolve_device, torch_defaults

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


T = TypeVar("T")

MOST_STREAMS = 16

_CHANGED = threading.Condition()
_FREE: dict[torch.device, list[torch.cuda.Stream]] = {}
_N_MADE: dict[torch.device, int] = {}


def side_by_side(work: Sequence[Callable[[], T]], device: str) -> list[T]:
    """Do each piece of work and return what came of them, in their order.

    Small networks leave most of a GPU idle. There every piece has a thread and a CUDA
    stream of its own; elsewhere one comes after the other. The results are the same.
    The first exception of a piece of work is raised once all have ended.
    """
    used = resolve_device(device, needs_float64=True)
    if used.type != "cuda" or len(work) < 2:
        return [piece() for piece in work]

    def on_own_stream(piece: Callable[[], T]) -> T:
        with own_stream(used) as stream:
            with torch.cuda.stream(stream):
                result = piece()
            stream.synchronize()
        return result

    n_threads = min(len(work), MOST_STREAMS)
    # Each thread sets and restores torch's settings: they must be the same all along.
    with torch_defaults(is_exact=False), ThreadPoolExecutor(n_threads) as threads:
        return list(threads.map(on_own_stream, work))


@contextmanager
def recordable_stream(device: torch.device) -> Iterator[None]:
    """Work on a stream that can be recorded, which CUDA's default stream cannot.

    Nothing happens on other devices, or if a stream has been chosen already.
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


@contextmanager
def own_stream(device: torch.device) -> Iterator[torch.cuda.Stream]:
    """Lend a stream of a CUDA device; where all are lent, wait for one."""
    index = torch.cuda.current_device() if device.index is None else device.index
    device = torch.device("cuda", index)
    stream = _free_stream(device)
    try:
        yield stream
    finally:
        with _CHANGED:
            _FREE[device].append(stream)
            _CHANGED.notify()


def _free_stream(device: torch.device) -> torch.cuda.Stream:
    """Take a stream that nobody has."""
    with _CHANGED:
        free = _FREE.setdefault(device, [])
        while not free:
            n_made = _N_MADE.get(device, 0)
            if n_made < MOST_STREAMS:
                _N_MADE[device] = n_made + 1
                return torch.cuda.Stream(device, priority=-1)
            _CHANGED.wait()
        return free.pop()


_BLOCKING_SYNC = 4  # CU_CTX_SCHED_BLOCKING_SYNC


def wait_asleep() -> bool:
    """Sleep while waiting for the GPU, where CUDA would keep a core busy.

    With more waiting threads than cores, those that have work to do come first. Has an
    effect only before this process uses the GPU. Returns whether there is a CUDA driver
    that does so.
    """
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    if driver.cuInit(0) != 0:
        return False
    count = ctypes.c_int()
    driver.cuDeviceGetCount(ctypes.byref(count))
    device, answers = ctypes.c_int(), []
    for number in range(count.value):
        driver.cuDeviceGet(ctypes.byref(device), number)
        answers.append(driver.cuDevicePrimaryCtxSetFlags_v2(device, _BLOCKING_SYNC))
    return bool(answers) and not any(answers)


def round_products() -> None:
    """Let CUDA round the factors of matrix products to 10 binary places (TF32).

    Networks are trained like this as a rule: several times faster, and the rounding is
    lost in the noise of mini-batches. Products on the CPU stay as they are.
    """
    torch.backends.cuda.matmul.allow_tf32 = True


def give_memory_back() -> None:
    """Return the GPU memory that this process has cached but does not use."""
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        gc.collect()
        torch.cuda.empty_cache()
