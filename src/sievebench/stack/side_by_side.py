"""Independent pieces of work at the same time, if there is a GPU to share."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

from featuresieve.engine import resolve_device, torch_defaults
from sievebench.stack.streams import MOST_STREAMS, own_stream

T = TypeVar("T")


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
    place = resolve_device(device, needs_float64=True)
    if place.type != "cuda" or len(work) < 2:
        return [piece() for piece in work]

    def on_own_stream(piece: Callable[[], T]) -> T:
        with own_stream(place) as stream:
            with torch.cuda.stream(stream):
                result = piece()
            stream.synchronize()
        return result

    n_threads = min(len(work), MOST_STREAMS)
    # Each thread sets and restores torch's settings: they must be the same all along.
    with torch_defaults(is_exact=False), ThreadPoolExecutor(n_threads) as threads:
        return list(threads.map(on_own_stream, work))
