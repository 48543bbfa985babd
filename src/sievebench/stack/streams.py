"""CUDA streams that one piece of work has for itself while it lasts.

What another thread launches on a stream that is being recorded becomes part of the
recording. PyTorch has 32 streams of each priority and hands them out in turns: one made
anew for every training would soon be one that somebody works on. These are of high
priority, which others rarely ask for, and are given back.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

MOST_STREAMS = 16

_CHANGED = threading.Condition()
_FREE: dict[torch.device, list[torch.cuda.Stream]] = {}
_N_MADE: dict[torch.device, int] = {}


@contextmanager
def own_stream(device: torch.device) -> Iterator[torch.cuda.Stream]:
    """Lend a stream; where all are lent, wait for one.

    Parameters
    ----------
    device : torch.device
        A CUDA device.
    """
    number = torch.cuda.current_device() if device.index is None else device.index
    place = torch.device("cuda", number)
    stream = _taken(place)
    try:
        yield stream
    finally:
        with _CHANGED:
            _FREE[place].append(stream)
            _CHANGED.notify()


def _taken(device: torch.device) -> torch.cuda.Stream:
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
