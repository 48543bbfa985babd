"""The command line of the laboratory: parse, call, print."""

import argparse
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

from featuresieve.cli import complete
from featuresieve.process import (
    INTERRUPTED,
    NulError,
    check_words,
    printable_output,
    run_as_process,
    was_interrupted,
)
from sievebench.cli._commands import refuse

__all__ = ["console", "main"]


class _Parser(argparse.ArgumentParser):
    """A parser that says in one line what it has to complain about."""

    def error(self, message: str) -> NoReturn:
        """Say it, without all options before it, and exit."""
        self.exit(2, f"sievebench: error: {message} (see {self.prog} --help)\n")


def console() -> int:
    """Run the command line as a process."""
    return run_as_process(main)


@printable_output()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    try:
        words = sys.argv[1:] if arguments is None else list(arguments)
        check_words(words)
        parser = _parser()
        complete(parser)
        options = parser.parse_args(words)
        return int(options.run(options))
    except KeyboardInterrupt:  # before anything was finished
        return _interrupted()
    except Exception as error:
        if was_interrupted(error):
            return _interrupted()
        if isinstance(error, OSError | NulError):
            return refuse(error)
        traceback.print_exc()
        return 1


def _interrupted() -> int:
    print("sievebench: interrupted", file=sys.stderr)
    return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    # Here, where Ctrl-C is waited for.
    from sievebench.cli._commands import add_collect_parser
    from sievebench.cli._compare import add_compare_parser
    from sievebench.cli._data import add_data_parser
    from sievebench.cli._report import add_paper_parser, add_report_parser
    from sievebench.cli._run import add_run_parser

    parser = _Parser(prog="sievebench", description="Compare feature selectors.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    add_compare_parser(commands)
    add_data_parser(commands)
    add_run_parser(commands)
    add_collect_parser(commands)
    add_report_parser(commands)
    add_paper_parser(commands)
    return parser
