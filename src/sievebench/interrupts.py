"""Ctrl-C while processes are started, and while modules are loaded."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import FrameType


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


@contextmanager
def interrupts_delayed() -> Iterator[None]:
    """Raise Ctrl-C at the end of the block; the second one at once.

    For imports: what is raised while modules are loaded may be dropped (in a callback
    of the import system), turn into another error, or end the process (inside torch).
    A program that handles the signal itself is left alone.

    Yields
    ------
    None
    """
    is_main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT)
    if not is_main or handler is not signal.default_int_handler:
        yield
        return
    is_asked = False

    def note(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        nonlocal is_asked
        if is_asked:
            raise KeyboardInterrupt
        is_asked = True

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if is_asked:
        raise KeyboardInterrupt
