"""A command line as a process: how it ends, and Ctrl-C. For both commands."""

import atexit
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

from featuresieve._interrupts import interrupts_delayed

__all__ = ["INTERRUPTED", "interrupts_delayed", "run_as_process", "was_interrupted"]

INTERRUPTED = 130  # the status after Ctrl-C


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
