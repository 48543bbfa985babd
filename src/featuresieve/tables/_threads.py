"""A function asked of many items, on several threads."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import chain
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

# More wait for Python's lock, which each takes between two calls of numpy, longer than
# they compute; and what they compute in no longer fits into the cache.
_MOST_THREADS = 8
# Items are handed to each thread in so many parts, for it to be done with the others.
_SHARES = 8
_LIMIT = threading.Lock()


def on_threads(
    function: Callable[[Item], Result], items: Sequence[Item], n_threads: int
) -> Iterator[Result]:
    """Yield what a function says of each item, in their order.

    A thread takes some items after the other, because to hand one over takes as long
    as some hundred small ones.
    """
    n_threads = min(n_threads, _MOST_THREADS)
    with _plain_products():
        if n_threads == 1 or len(items) < 2:
            yield from map(function, items)
            return
        shares = shares_of(items, n_threads)
        with ThreadPoolExecutor(n_threads, "featuresieve") as pool:
            yield from chain.from_iterable(
                pool.map(lambda share: [function(item) for item in share], shares)
            )


def shares_of(items: Sequence[Item], n_threads: int) -> list[Sequence[Item]]:
    """Cut items into runs, some for each thread, that one thread does at a time."""
    step = max(1, len(items) // (_SHARES * min(n_threads, _MOST_THREADS)))
    return [items[k : k + step] for k in range(0, len(items), step)]


@contextmanager
def _plain_products() -> Iterator[None]:
    """Have products of matrices computed by the thread that asks for them.

    Else each starts as many threads as there are cores: those of several threads wait
    for one another, and their last digits depend on the number of cores. It is a
    setting of the process, which only one caller at a time takes and puts back.
    """
    if not _LIMIT.acquire(blocking=False):
        yield
        return
    try:
        with _libraries().limit(limits=1, user_api="blas"):
            yield
    finally:
        _LIMIT.release()


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()
