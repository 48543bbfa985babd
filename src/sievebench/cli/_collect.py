"""``sievebench collect``: one table of the runs of some experiments."""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sievebench.store import Store

_SUFFIXES = (".csv", ".parquet")


def add_collect_parser(commands: Any) -> None:
    """Add `sievebench collect` to the commands.

    Parameters
    ----------
    commands : argparse's collection of sub-parsers
    """
    collect = commands.add_parser(
        "collect", help="make one table of the records of experiments"
    )
    collect.set_defaults(run=run_collect)
    add = collect.add_argument
    add("folders", nargs="+", type=Path, metavar="FOLDER", help="OUT/NAME or OUT")
    add("--out", type=Path, required=True, metavar="FILE", help="CSV or Parquet")


def run_collect(options: argparse.Namespace) -> int:
    """Write the table of the runs in some folders and return the exit status.

    Parameters
    ----------
    options : argparse.Namespace

    Returns
    -------
    int
        0; 2 if there are no records, one is damaged, or the file cannot be written.
    """
    from sievebench.store import find_stores

    try:
        check_table_file("--out", options.out)
        stores = [store for path in options.folders for store in find_stores(path)]
        write_table(stores, options.out)
    except ValueError as error:
        print(f"sievebench: error: {error}", file=sys.stderr)
        return 2
    return 0


def check_table_file(option: str, path: Path) -> None:
    """Raise ValueError if a table of runs cannot be written there.

    Parameters
    ----------
    option : str
        The argument that names the file.
    path : Path
    """
    if path.suffix not in _SUFFIXES:
        raise ValueError(
            f"{option} must end in {' or '.join(_SUFFIXES)}, got {str(path)!r}."
        )
    if not path.parent.is_dir():
        raise ValueError(
            f"{option} must be in a folder that exists, got {str(path)!r}."
        )
    is_writable = os.access(path if path.exists() else path.parent, os.W_OK)
    if path.is_dir() or not is_writable:
        raise ValueError(f"{option} must be a file to write, got {str(path)!r}.")


def write_table(stores: list["Store"], path: Path) -> None:
    """Write the runs of all stores as CSV or Parquet.

    Parameters
    ----------
    stores : list of Store
    path : Path

    Raises
    ------
    ValueError
        If a file in a store is no record.
    """
    from sievebench.store import collect

    table = collect(record for store in stores for record in store.records())
    if path.suffix == ".parquet":
        table.to_parquet(path, index=False)
    else:
        table.to_csv(path, index=False)
    print(f"wrote {path}: {len(table)} runs", file=sys.stderr)
