"""What all commands share, and ``sievebench collect``: one table of some runs."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from featuresieve.files import AtomicFiles, check_output

if TYPE_CHECKING:
    from sievebench.store import Store

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
    add = add_command(commands, "collect", _run, help=about).add_argument
    add("folders", nargs="+", type=Path, metavar="FOLDER", help="OUT/NAME or OUT")
    add("--out", type=Path, required=True, metavar="FILE", help="CSV or Parquet")


def _run(options: argparse.Namespace) -> int:
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
