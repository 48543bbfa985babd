"""The command line of the laboratory: parse, call, print."""

import argparse
import atexit
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress

__all__ = ["console", "main"]

_INTERRUPTED = 130


def console() -> int:
    """Run the command line as a process, which ends with it.

    After Ctrl-C the process ends by that signal (130 for a shell), as a loop in a
    shell needs it to stop too.

    Returns
    -------
    int
        The exit status.
    """
    statuses: list[int] = []
    atexit.register(_end, statuses)  # the first to be registered is called last
    statuses.append(main())
    return statuses[0]


def _end(statuses: list[int]) -> None:
    """End the process before Python takes itself apart.

    A thread of pyarrow that lets go of a Python object then would abort the process.
    """
    if not statuses:  # an error that main does not know of
        return
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # nobody reads it; it is closed
            stream.flush()
    if statuses[0] == _INTERRUPTED:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)
    os._exit(statuses[0])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        The words after the command; None takes those of the process.

    Returns
    -------
    int
        The exit status.
    """
    try:
        options = _parser().parse_args(arguments)
        return int(options.run(options))
    except KeyboardInterrupt:  # before anything was finished
        return _interrupted()
    except Exception as error:
        if _was_interrupted(error):
            return _interrupted()
        if isinstance(error, OSError):
            print(f"sievebench: error: {error}", file=sys.stderr)
            return 2
        raise


def _interrupted() -> int:
    """Say so, and return the exit status."""
    print("sievebench: interrupted", file=sys.stderr)
    return _INTERRUPTED


def _was_interrupted(error: BaseException | None) -> bool:
    """Tell whether Ctrl-C is at the bottom: some imports wrap it in an error."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    # Here, where Ctrl-C is waited for.
    from sievebench.cli._collect import add_collect_parser
    from sievebench.cli._compare import add_compare_parser
    from sievebench.cli._data import add_data_parser
    from sievebench.cli._report import add_paper_parser, add_report_parser
    from sievebench.cli._run import add_run_parser

    parser = argparse.ArgumentParser(
        prog="sievebench", description="Compare feature selectors."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    add_compare_parser(commands)
    add_data_parser(commands)
    add_run_parser(commands)
    add_collect_parser(commands)
    add_report_parser(commands)
    add_paper_parser(commands)
    return parser
