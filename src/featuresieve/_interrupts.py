"""Ctrl-C between two steps, where the state of training is whole, and in imports."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Self


class HeldInterrupts:
    """Note an interrupt instead of raising it; the second one is raised at once.

    Only in the main thread, and only where Python's own handler stands: a program that
    handles the signal itself is left alone.

    Attributes
    ----------
    is_asked : bool
        Whether an interrupt came.
    """

    def __init__(self) -> None:
        self.is_asked = False
        self._is_installed = False

    def __enter__(self) -> Self:
        if _python_handles_them():
            signal.signal(signal.SIGINT, self._note)
            self._is_installed = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._is_installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _note(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        """Handle the signal."""
        if self.is_asked:
            raise KeyboardInterrupt
        self.is_asked = True


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
