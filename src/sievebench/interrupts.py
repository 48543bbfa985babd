"""Ctrl-C while processes are started."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back in the block, and in processes that are started there.

    A terminal sends it to every process of a command. One that is started in the block
    never sees it, from its first instruction on. Here it arrives after the block, or
    in it if the process has other threads. Windows has no such mask: there nothing is
    held.

    Yields
    ------
    None
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # starting it in the block would lift the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
