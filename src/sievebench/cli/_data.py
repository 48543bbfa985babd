"""``sievebench data``: which data sets there are, and whether they are at hand."""

import argparse
import logging
import sys
import time
from typing import TYPE_CHECKING, Any

from featuresieve.process import show_status
from sievebench.cli import add_command, refuse

if TYPE_CHECKING:
    from sievebench.data import CatalogEntry

_MEGABYTE = 1 << 20
_BAR_WIDTH = 24
_EXAMPLES = """\
examples:
  sievebench data list                     what there is, and what is at hand
  sievebench data fetch california eye     download into the cache
  sievebench data check                    read every file at hand, check its md5

The folder that the environment variable FEATURESIEVE_DATA names is looked into first. A
catalog.toml there adds data sets of your own: docs/add_a_dataset.md.
"""


def add_data_parser(commands: Any) -> None:
    """Add `sievebench data` to the commands."""
    about = "list, fetch and check the data sets of the benchmark"
    data = add_command(commands, "data", _run, help=about, epilog=_EXAMPLES)
    data.add_argument("action", choices=("list", "fetch", "check"))
    text = "default: all"
    data.add_argument("names", nargs="*", default=[], metavar="NAME", help=text)


def _run(options: argparse.Namespace) -> int:
    """Return 0; 1 if a data set could not be got or is damaged; 2 for unknown names."""
    from sievebench.data import CatalogError, UnknownDatasetError, catalog, find_entry

    if options.action == "fetch" and not options.names:
        return refuse("say which data sets to fetch.")
    try:
        rows = [find_entry(name) for name in options.names or catalog()]
    except (CatalogError, UnknownDatasetError) as error:
        return refuse(error)
    if options.action == "check":
        return _check(rows, is_named=bool(options.names))
    return {"list": _list, "fetch": _fetch}[options.action](rows)


def _list(rows: list["CatalogEntry"]) -> int:
    print(f"{'name':<19}{'rows':>9}{'columns':>9}{'classes':>9}  {'metric':<18}at hand")
    for row in rows:
        classes = str(row.n_classes) if row.n_classes else "-"
        counts = f"{row.n_rows:>9}{row.n_columns:>9}{classes:>9}"
        print(f"{row.name:<19}{counts}  {row.metric:<18}{_at_hand(row)}")
    return 0


def _at_hand(row: "CatalogEntry") -> str:
    """Say whether a data set can be loaded without a network."""
    from sievebench.data import find_file

    if not row.needs_file:
        is_made = row.source["kind"] == "made"
        return "yes, it is made" if is_made else "yes, with scikit-learn"
    file = find_file(row)
    if file is not None and row.sample is not None and file.is_sample:
        return f"a sample of {row.sample.rows} rows"
    if file is not None:
        return "yes"
    is_manual = row.source["kind"] == "manual"
    return f"no: {row.source['why']}" if is_manual else "no, to be downloaded"


def _fetch(rows: list["CatalogEntry"]) -> int:
    """Download what is not there as a whole."""
    from sievebench.data import DataError, fetch, find_file

    n_failed = 0
    for row in rows:
        file = find_file(row) if row.needs_file else None
        if not row.needs_file or (file and not file.is_sample):
            print(f"{row.name}: at hand already")
            continue
        bar = _Bar(row.name)
        try:
            with bar:
                path = fetch(row.name, progress=bar).path
        except DataError as error:
            print(f"{row.name}: {error}", file=sys.stderr)
            n_failed += 1
            continue
        print(f"{row.name}: {path}")
    return 1 if n_failed else 0


def _check(rows: list["CatalogEntry"], *, is_named: bool) -> int:
    """Load and split what is at hand; what is not is no mistake, unless it is named."""
    from sievebench.data import DataError, find_file, load, split

    n_failed = 0
    for row in rows:
        if row.needs_file and find_file(row) is None:
            print(f"{row.name}: {_at_hand(row)}")
            n_failed += is_named
            continue
        try:
            dataset = load(row.name)
            split(dataset)
        except (DataError, OSError) as error:
            print(f"{row.name}: {error}", file=sys.stderr)
            n_failed += 1
            continue
        what = "sample" if dataset.is_sample else "whole"
        shape = f"{dataset.n_rows} × {dataset.n_columns}"
        print(f"{row.name}: good ({what}, {shape}) {dataset.checksum}".rstrip())
    return 1 if n_failed else 0


class _Bar(logging.Handler):
    """How much of a download has come, on a terminal, and why it is tried again."""

    def __init__(self, name: str) -> None:
        super().__init__(logging.INFO)
        self.name, self.shown = name, 0.0
        self.logger = logging.getLogger("sievebench.data")

    def __enter__(self) -> None:
        """Listen to what the downloads say."""
        self.logger.addHandler(self)
        self.logger.setLevel(logging.INFO)
        self._draw("asking ...")

    def __exit__(self, *_: object) -> None:
        """Clear the line."""
        self.logger.removeHandler(self)
        self._draw("")

    def emit(self, record: logging.LogRecord) -> None:
        """Print why a download is tried again."""
        self._draw("")
        print(f"{self.name}: {record.getMessage()}", file=sys.stderr, flush=True)

    def __call__(self, n_bytes: int, n_expected: int | None) -> None:
        """Show the bytes at hand, at most ten times a second."""
        now = time.monotonic()
        if now - self.shown < 0.1:
            return
        self.shown = now
        text = f"{n_bytes / _MEGABYTE:.1f} MB"
        if n_expected:
            share = n_bytes / n_expected
            n_full = round(share * _BAR_WIDTH)
            drawn = "#" * n_full + "-" * (_BAR_WIDTH - n_full)
            text = f"[{drawn}] {text} of {n_expected / _MEGABYTE:.1f} MB ({share:.0%})"
        self._draw(text)

    def _draw(self, text: str) -> None:
        """Replace the line on a terminal; nothing clears it."""
        show_status(f"{self.name}: {text}" if text else "")
