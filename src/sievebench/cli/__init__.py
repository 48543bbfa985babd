"""The command line of the laboratory: parse, call, print."""

import argparse
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from featuresieve import __version__, process
from featuresieve.cli import Parser, UsageError, complete
from featuresieve.files import AtomicFiles, check_output

if TYPE_CHECKING:
    from sievebench.store import Store

__all__ = ["console", "main"]


def console() -> int:
    """Run the command line as a process."""
    return process.run_as_process(main)


@process.printable_output()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    try:
        words = sys.argv[1:] if arguments is None else list(arguments)
        process.check_words(words)
        parser = _parser()
        complete(parser)
        options = parser.parse_args(words)
        status = int(options.run(options))
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # whoever reads the output has seen enough
        return process.nobody_reads()
    except KeyboardInterrupt:  # before anything was finished
        return _interrupted()
    except Exception as error:
        if process.was_interrupted(error):
            return _interrupted()
        if isinstance(error, OSError | process.NulError | UsageError):
            return refuse(error)
        traceback.print_exc()
        return 1


def _interrupted() -> int:
    print("sievebench: interrupted", file=sys.stderr)
    return process.INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    # Here, where Ctrl-C is waited for.
    from sievebench.cli._compare import add_compare_parser
    from sievebench.cli._data import add_data_parser
    from sievebench.cli._report import add_paper_parser, add_report_parser
    from sievebench.cli._run import add_run_parser

    parser = Parser(prog="sievebench", description="Compare feature selectors.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_commands()
    add_compare_parser(commands)
    add_data_parser(commands)
    add_run_parser(commands)
    add_collect_parser(commands)
    add_report_parser(commands)
    add_paper_parser(commands)
    return parser


TABLE_ENDINGS = (".csv", ".parquet")


def add_command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], **texts: str
) -> argparse.ArgumentParser:
    """Add a command, which `run` runs; its epilog is shown as it is written."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name, formatter_class=argparse.RawDescriptionHelpFormatter, **texts
    )
    parser.set_defaults(run=run)
    return parser


def refuse(error: object) -> int:
    """Print what is wrong and return the exit status."""
    print(f"sievebench: error: {error}", file=sys.stderr)
    return 2


def add_collect_parser(commands: Any) -> None:
    """Add `sievebench collect` to the commands."""
    about = "make one table of the records of experiments"
    add = add_command(commands, "collect", _collect, help=about).add_argument
    add("folders", nargs="+", type=Path, metavar="FOLDER", help="OUT/NAME or OUT")
    add("--out", type=Path, required=True, metavar="FILE", help="CSV or Parquet")


def _collect(options: argparse.Namespace) -> int:
    from sievebench.store import find_stores

    try:
        check_output("--out", str(options.out), TABLE_ENDINGS)
        stores = [store for path in options.folders for store in find_stores(path)]
        write_table(stores, options.out)
    except ValueError as error:
        return refuse(error)
    return 0


def write_table(stores: list["Store"], path: Path) -> None:
    """Write the runs of all stores as CSV or Parquet."""
    from sievebench.store import collect

    table = collect(record for store in stores for record in store.records())
    with AtomicFiles() as files:
        draft = files.path(str(path))
        if path.suffix == ".parquet":
            table.to_parquet(draft, index=False)
        else:
            table.to_csv(draft, index=False)
    print(f"wrote {path}: {len(table)} runs", file=sys.stderr)
