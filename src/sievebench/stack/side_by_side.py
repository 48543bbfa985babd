"""Independent pieces of work at the same time, if there is a GPU to share."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

from sievebench.stack.device import resolve_device
from sievebench.stack.torch_settings import own_torch_settings

T = TypeVar("T")

_STREAMS: dict[torch.device, list[torch.cuda.Stream]] = {}


def side_by_side(work: Sequence[Callable[[], T]], device: str) -> list[T]:
    """Do each piece of work and return what came of them, in their order.

    Small networks leave most of a GPU idle. There every piece has a thread and a CUDA
    stream of its own; elsewhere one comes after the other. The results are the same.

    Parameters
    ----------
    work : sequence of callable
    device : str
        "auto" or the name of a torch device.

    Returns
    -------
    list

    Raises
    ------
    Exception
        The first one that a piece of work raised, once all have ended.
    """
    place = resolve_device(device)
    if place.type != "cuda" or len(work) < 2:
        return [piece() for piece in work]

    def on_stream(piece: Callable[[], T], stream: torch.cuda.Stream) -> T:
        with torch.cuda.stream(stream):
            result = piece()
        stream.synchronize()
        return result

    streams = _streams(place, len(work))
    # Each thread sets and restores torch's settings: they must be the same all along.
    with own_torch_settings(), ThreadPoolExecutor(len(work)) as threads:
        return list(threads.map(on_stream, work, streams))


def _streams(device: torch.device, n_streams: int) -> list[torch.cuda.Stream]:
    """Return streams, the same ones each time: PyTorch has 32 of them to hand out."""
    streams = _STREAMS.setdefault(device, [])
    while len(streams) < n_streams:
        streams.append(torch.cuda.Stream(device))
    return streams[:n_streams]
