"""Ctrl-C while processes are started, and while modules are loaded."""

import signal
import sys
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
def interrupts_noted() -> Iterator[None]:
    """Raise Ctrl-C in the block, and at its end if something in it dropped it.

    For imports: one that comes while modules are loaded is at times raised where nobody
    hears of it, in a callback of the import system or before an except clause for
    everything, or turns into an error of another kind.

    Yields
    ------
    None
    """
    if not _python_handles_them():
        yield
        return
    is_asked, show = False, sys.unraisablehook

    def note(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        nonlocal is_asked
        is_asked = True
        raise KeyboardInterrupt

    def show_others(dropped: "sys.UnraisableHookArgs") -> None:
        if not isinstance(dropped.exc_value, KeyboardInterrupt):
            show(dropped)

    signal.signal(signal.SIGINT, note)
    sys.unraisablehook = show_others
    try:
        yield
    except Exception as error:
        if is_asked:
            raise KeyboardInterrupt from error
        raise
    finally:
        sys.unraisablehook = show
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if is_asked:
        raise KeyboardInterrupt


def _python_handles_them() -> bool:
    """Return whether this thread gets interrupts, from Python's own handler."""
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
