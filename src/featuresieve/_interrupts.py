"""Ctrl-C between two steps, where the state of training is whole, and in imports."""

import signal
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
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
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
def interrupts_delayed() -> Iterator[None]:
    """Raise Ctrl-C at the end of the block; the second one at once.

    For imports: what is raised while modules are loaded may be dropped (in a callback
    of the import system), turn into another error, or end the process (inside torch).

    Yields
    ------
    None
    """
    with HeldInterrupts() as held:
        yield
    if held.is_asked:
        raise KeyboardInterrupt
