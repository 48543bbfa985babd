"""``sievebench report`` and ``sievebench paper``: tables and figures."""

import argparse
import shutil
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sievebench.cli import add_command, refuse

if TYPE_CHECKING:
    from sievebench.report import ReportData, Table
    from sievebench.report.writing import Sections

_FORMATS = ("markdown", "latex", "csv")
_PAPER_TABLES = (
    *("verdicts", "ranks", "scores", "counts", "datasets", "cohorts", "statements"),
)
_REPORT_EXAMPLES = """\
examples:
  sievebench report runs/quick --out report       every table and figure, and a page
  sievebench report runs/quick runs/shared --list       which ones these runs give
  sievebench report runs/quick --table ranks --format latex
  sievebench report runs/quick --figure counts > counts.svg

RUNS is the folder of an experiment's records, OUT/NAME of `sievebench run`, or OUT for
all of them; or a file with one row a run, see docs/report.md. The exit status is 0; 2
for arguments or files that do not fit.
"""
_RESULTS, _BENCHMARKS = Path("results"), Path("benchmarks/results")
_PAPER_EXAMPLES = """\
examples:
  sievebench paper                                every claim: the paper's figure, ours,
                                                  the verdict, the command behind it
  sievebench paper --results runs                 from other records than the clone's
  sievebench paper ranks                          printed, and as they follow from the
                                                  printed scores
  sievebench paper cohorts --format csv
"""


def add_report_parser(commands: Any) -> None:
    """Add `sievebench report` to the commands."""
    report = add_command(
        *(commands, "report", _report),
        help="tables and figures from the records of runs",
        description="Make tables, figures and one page from the records of runs, with "
        "the paper's numbers beside ours.",
        epilog=_REPORT_EXAMPLES,
    )
    add = report.add_argument
    about = "a folder of records, or a CSV or Parquet file of runs"
    add("runs", metavar="RUNS", type=Path, nargs="+", help=about)
    what = report.add_mutually_exclusive_group(required=True)
    what.add_argument("--out", type=Path, metavar="DIR", help="write all of it there")
    what.add_argument("--table", metavar="NAME", help="print one table")
    what.add_argument("--figure", metavar="NAME", help="print one figure, as SVG")
    what.add_argument("--list", action="store_true", help="print what there is")
    add("--format", choices=_FORMATS, default="markdown", help="of --table")
    add("--downstream", metavar="NAME", help="whose scores (default: mlp)")
    add("--no-figures", action="store_true", help="tables and page only")
    _add_benchmarks(add)


def add_paper_parser(commands: Any) -> None:
    """Add `sievebench paper` to the commands."""
    paper = add_command(
        *(commands, "paper", _paper),
        help="does it hold? every claim of the paper, and what it printed",
        description="Print every claim of the paper with its figure, ours, and the "
        "verdict; or the paper's numbers, with notes on what they are.",
        epilog=_PAPER_EXAMPLES,
    )
    add = paper.add_argument
    add("table", choices=_PAPER_TABLES, nargs="?", default="verdicts")
    about = "default: text for the verdicts, markdown for the others"
    add("--format", choices=("text", *_FORMATS), help=about)
    about = f"folder of records, for the verdicts (default: {_RESULTS})"
    add("--results", type=Path, metavar="DIR", default=_RESULTS, help=about)
    _add_benchmarks(add)


def _add_benchmarks(add: Any) -> None:
    about = "what the scripts of benchmarks/ stored, for the verdicts (default: "
    about += f"{_BENCHMARKS}; figures that are not there are missing)"
    add("--benchmarks", type=Path, metavar="DIR", default=_BENCHMARKS, help=about)


def _report(options: argparse.Namespace) -> int:
    # Lazily: --help need not wait for pandas and scipy.
    from sievebench.report import all_tables, gather, read_runs, write_report

    try:
        results = gather(
            read_runs(*options.runs), options.downstream, options.benchmarks
        )
        sections = all_tables(results)
    except ValueError as error:
        return refuse(error)
    if not any(tables for _, tables in sections):
        purposes = ", ".join(dict.fromkeys(results.runs["experiment"]))
        return refuse(
            f"runs of {purposes} give no table by themselves: name the folder of the "
            "benchmark's runs too."
        )
    if options.out is None:
        return _print_one(results, sections, options)
    try:
        paths = write_report(
            results, options.out, not options.no_figures, sections=sections
        )
    except OSError as error:
        return refuse(f"--out {str(options.out)!r}: {error.strerror}.")
    print(f"wrote {len(paths)} files; open {paths[0]}")
    return 0


def _print_one(
    results: "ReportData", sections: "Sections", options: argparse.Namespace
) -> int:
    from sievebench.report import all_figures, svg_text

    tables = {table.name: table for _, section in sections for table in section}
    if options.table is not None:
        if options.table not in tables:
            return refuse(f"no table {options.table!r}, but {', '.join(tables)}.")
        _print([tables[options.table]], options.format)
        return 0
    figures = {} if options.no_figures else all_figures(results)
    if options.figure is not None:
        if options.figure not in figures:
            return refuse(f"no figure {options.figure!r}, but {', '.join(figures)}.")
        print(svg_text(figures[options.figure]), end="")
        return 0
    width = max(map(len, (*tables, *figures)), default=0)
    for kind, found in (("table", tables), ("figure", figures)):
        for name, thing in found.items():
            print(f"{kind:<8}{name:<{width}}  {thing.title}")
    return 0


def _paper(options: argparse.Namespace) -> int:
    from sievebench.report import PAPER_TABLES

    if options.table == "verdicts":
        return _verdicts(options)
    if options.format == "text":
        return refuse("--format text is for the verdicts only.")
    _print(PAPER_TABLES[options.table](), options.format or "markdown")
    return 0


def _verdicts(options: argparse.Namespace) -> int:
    from sievebench.report import gather, read_runs, verdict_tables

    if not options.results.is_dir():
        return refuse(
            f"there is no folder {str(options.results)!r}: run this in a clone, or "
            "name a folder of records with --results."
        )
    try:
        results = gather(read_runs(options.results), benchmarks=options.benchmarks)
        tables = list(verdict_tables(results))
    except ValueError as error:
        return refuse(error)
    if not tables:
        return refuse(f"no claim can be judged by the runs in {options.results}.")
    if options.format in (None, "text"):
        _print_verdicts(tables[0])
    else:
        _print(tables, options.format)
    return 0


def _print_verdicts(table: "Table") -> None:
    """Print each claim as a paragraph, as wide as the terminal."""
    width = min(100, shutil.get_terminal_size().columns)
    print(*(textwrap.fill(note, width) for note in table.notes), sep="\n")
    fill = textwrap.TextWrapper(
        width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
    ).fill
    for row in table.data.to_dict("records"):
        rule = "" if row["rule"] == "either" else f" ({row['rule']} rule)"
        print(f"\n{row['verdict'].upper()}")
        print(fill(f"{row['claim']} ({row['where']})."))
        print(fill(f"paper: {row['paper']}"))
        print(fill(f"here: {row['ours']}{rule}"))
        if row["command"]:
            print(fill(f"$ {row['command']}"))


def _print(tables: Iterable["Table"], form: str) -> None:
    from sievebench.report import WRITERS

    print("\n".join(WRITERS[form](table) for table in tables), end="")
