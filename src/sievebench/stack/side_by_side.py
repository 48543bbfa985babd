"""CUDA streams that one piece of work has for itself, and pieces of work side by side.

What another thread launches on a stream that is being recorded becomes part of the
recording. PyTorch has 32 streams of each priority and hands them out in turns: one made
anew for every training would soon be one that somebody works on. These are of high
priority, which others rarely ask for, and are given back.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import torch

from featuresieve.engine import resolve_device, torch_defaults

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
