"""A command line as a process: its end, Ctrl-C, its output. For both commands."""

import atexit
import os
import signal
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any

from featuresieve._interrupts import interrupts_delayed

__all__ = [
    "CLEAR_LINE",
    "INTERRUPTED",
    "interrupts_delayed",
    "printable",
    "printable_output",
    "run_as_process",
    "was_interrupted",
]

INTERRUPTED = 130  # the status after Ctrl-C
CLEAR_LINE = "\r\033[K"
# What the commands themselves send to a terminal, each in a write of its own.
_CONTROLS = ("\r", CLEAR_LINE)


def run_as_process(main: Callable[[], int]) -> int:
    """Run a command as a process, which ends with it.

    After Ctrl-C the process ends by that signal (130 for a shell), as a loop in a
    shell needs it to stop too.

    Parameters
    ----------
    main : callable
        Returns the exit status, `INTERRUPTED` after Ctrl-C.

    Returns
    -------
    int
        The exit status.
    """
    statuses: list[int] = []
    atexit.register(_end, statuses)  # the first to be registered is called last
    statuses.append(main())
    return statuses[0]


def was_interrupted(error: BaseException | None) -> bool:
    """Tell whether Ctrl-C is at the bottom: in an import it may turn into an error.

    Parameters
    ----------
    error : BaseException or None

    Returns
    -------
    bool
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def printable(text: str) -> str:
    r"""Return a text with control characters escaped, such as ``\x1b`` and ``\n``.

    Names from a file could otherwise clear a terminal, or write into its title.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
    """
    if text.isprintable():
        return text
    return "".join(
        letter
        if letter.isprintable() or unicodedata.category(letter) == "Zs"
        else letter.encode("unicode_escape").decode()
        for letter in text
    )


@contextmanager
def printable_output() -> Iterator[None]:
    """Escape control characters in all that is printed, but for ends of lines.

    What is written to ``sys.stdout.buffer`` is data, and stays as it is.

    Yields
    ------
    None
    """
    with (
        redirect_stdout(_PrintableStream(sys.stdout)),
        redirect_stderr(_PrintableStream(sys.stderr)),
    ):
        yield


class _PrintableStream:
    """A text stream on which control characters are readable, and do nothing."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write text; control characters only if they are all of it."""
        if text not in _CONTROLS:
            text = "\n".join(map(printable, text.split("\n")))
        return int(self._stream.write(text))

    def __getattr__(self, name: str) -> Any:
        """Return what the stream has; without a fileno, Python adds no colours."""
        if name == "fileno":
            raise AttributeError(name)
        return getattr(self._stream, name)


def _end(statuses: list[int]) -> None:
    """End the process before Python takes itself apart.

    A thread of pyarrow that lets go of a Python object then would abort the process.
    """
    if not statuses:  # an error that main does not know of
        return
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # nobody reads it; it is closed
            stream.flush()
    if statuses[0] == INTERRUPTED:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)
    os._exit(statuses[0])
