"""``sievebench compare``: selectors on a table of one's own."""

import argparse
import os
import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from featuresieve.cli import (
    add_reading,
    add_types,
    as_seed,
    number,
    plain_number,
    whole_number,
)
from featuresieve.errors import LARGEST_INTEGER, did_you_mean
from featuresieve.process import INTERRUPTED, interrupts_delayed
from sievebench.cli import add_command, refuse
from sievebench.cli._live_table import LiveTable
from sievebench.labels import SELECTOR_LABELS

if TYPE_CHECKING:  # pandas and scikit-learn: only when there is something to compare
    from sievebench.compare import Comparison

_EXAMPLES = """\
examples:
  sievebench compare churn.csv --target churned
  sievebench compare houses.parquet --target price --selectors none lasso forest
  sievebench compare churn.csv --target churned --fast --html churn.html
  sievebench compare churn.csv --target churned --keep 10
  sievebench compare churn.csv --target churned --exclude lassonet --time-limit 60

selectors:
{selectors}

Text columns become the number of their label and missing numbers the median of the
column, both learnt from the training rows of each fold. Ctrl-C stops and keeps what is
finished. The exit status is 0 if a selector finished, 1 if none did, 2 for arguments
or files that do not fit, 130 after Ctrl-C.
"""
_MOST_SECONDS = 1_000_000  # a process cannot be waited for much longer


def add_compare_parser(commands: Any) -> None:
    """Add `sievebench compare` to the commands."""
    names = "\n".join(f"  {name:<13}{label}" for name, label in SELECTOR_LABELS.items())
    compare = add_command(
        *(commands, "compare", _run),
        help="compare selectors on a table of your own",
        description="Compare selectors on a table of your own, by cross-validation: "
        "select and train a predictor on most rows, score it on the others.",
        epilog=_EXAMPLES.format(selectors=names),
    )
    _add_arguments(compare)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("table", metavar="TABLE", help="CSV, Parquet, JSON lines, Excel; - for input")
    add("--target", metavar="COLUMN", required=True, help="the column to predict")
    drop: dict[str, Any] = {"action": "extend", "nargs": "+", "default": []}
    add("--drop", **drop, metavar="COLUMN", help="columns to leave out; * in patterns")
    reading = parser.add_argument_group("how the table is written")
    add_reading(reading)
    add_types(reading)
    name_list: dict[str, Any] = {"nargs": "+", "metavar": "NAME", "type": _selectors}
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--selectors", **name_list, help="which selectors (default: all)"
    )
    which.add_argument(
        "--fast",
        action="store_true",
        help="only selectors that take seconds on a table of thousands of rows",
    )
    add("--exclude", **name_list, default=[], help="which selectors to leave out")
    tasks = ("auto", "classification", "regression")
    add("--task", choices=tasks, default="auto", help="what the target is")
    add(
        *("--keep", "-k"),
        type=_keep,
        default="auto",
        help="columns to keep: a count, a fraction such as 0.5, or auto (default), "
        "which is the selector's own choice where it makes one, else half",
    )
    add(
        "--folds",
        type=whole_number(2),
        default=5,
        help="parts of the cross-validation (5)",
    )
    add(
        "--predictor",
        choices=("boosting", "linear"),
        default="boosting",
        help="trained on the kept columns: gradient boosting (default), or logistic "
        "and ridge regression",
    )
    add(
        "--metric",
        help="a score of scikit-learn: balanced_accuracy (default), accuracy, roc_auc, "
        "neg_log_loss; r2 (default), neg_root_mean_squared_error, "
        "neg_mean_absolute_error",
    )
    add(
        "--time-limit",
        type=number(
            f"a number of seconds up to {_MOST_SECONDS:,}",
            lambda seconds: 0 <= seconds <= _MOST_SECONDS,
        ),
        default=600.0,
        metavar="SECONDS",
        help="most seconds of one fit of a selector (600; 0 for no limit)",
    )
    add(
        *("--jobs", "-j"),
        type=whole_number(1),
        metavar="N",
        help="processes side by side, of one thread each (default: one a core); the "
        "scores are the same for any number",
    )
    add("--seed", type=as_seed, default=0, help="decides all that is random (0)")
    add("--csv", type=Path, metavar="FILE", help="write the result as CSV")
    add("--html", type=Path, metavar="FILE", help="write the result as a page")
    add("--quiet", action="store_true", help="no progress")


def _run(options: argparse.Namespace) -> int:
    with interrupts_delayed():
        from featuresieve.files import TableFileError
        from sievebench.compare import CompareError

    try:
        return _compare(options)
    except (CompareError, TableFileError) as error:
        return refuse(error)


def _compare(options: argparse.Namespace) -> int:
    from sievebench.compare import Plan, read_table, run_comparison, usable_cores

    _check_outputs(options)
    plan = Plan(
        selectors=_chosen(options),
        task=options.task,
        keep=options.keep,
        n_folds=options.folds,
        predictor=options.predictor,
        metric=options.metric,
        time_limit_seconds=options.time_limit or None,
        seed=options.seed,
    )
    table = read_table(
        *(options.table, options.target),
        task=options.task,
        drop=options.drop,
        types=dict(options.type or {}),
        missing=options.missing or (),
        encoding=options.encoding,
        delimiter=options.delimiter,
        skip=options.skip or 0,
        sheet=options.sheet,
    )
    progress = LiveTable(plan.n_folds, options.quiet)
    n_jobs = options.jobs or usable_cores()
    comparison = run_comparison(table, plan, progress, n_jobs=n_jobs)
    progress.close()
    if comparison.is_interrupted and not any(r.folds for r in comparison.results):
        raise KeyboardInterrupt  # files of an earlier comparison stay as they are
    _show(comparison, options)
    if comparison.is_interrupted:
        return INTERRUPTED
    return 0 if any(not result.reason for result in comparison.results) else 1


def _chosen(options: argparse.Namespace) -> tuple[str, ...]:
    """Return the selectors to compare."""
    from sievebench.compare import FAST, CompareError

    every = [name for name in SELECTOR_LABELS if name in FAST or not options.fast]
    named = chain.from_iterable(options.selectors or [every])
    excluded = set(chain.from_iterable(options.exclude))
    names = tuple(name for name in dict.fromkeys(named) if name not in excluded)
    if not names:
        raise CompareError("--exclude leaves no selector to compare.")
    return names


def _check_outputs(options: argparse.Namespace) -> None:
    """Refuse, before any work is done, a file that cannot or should not be written."""
    from featuresieve.files import TableFileError, check_output

    # Not Path.resolve: it raises RuntimeError for links that lead to themselves.
    taken = {os.path.realpath(options.table): "the table itself"}
    for option, path in (("--csv", options.csv), ("--html", options.html)):
        if path is None:
            continue
        check_output(option, str(path))
        real = os.path.realpath(path)
        if real in taken:
            raise TableFileError(f"{option}: {str(path)!r} is {taken[real]}.")
        taken[real] = f"the file of {option}"


def _show(comparison: "Comparison", options: argparse.Namespace) -> None:
    from featuresieve.files import AtomicFiles
    from sievebench.compare import csv_text, html_page, screen_text

    print(screen_text(comparison))
    outputs = ((options.csv, csv_text), (options.html, html_page))
    wanted = [(path, text) for path, text in outputs if path is not None]
    with AtomicFiles() as files:
        for path, text in wanted:
            with files.open(str(path)) as file:
                file.write(text(comparison).encode())
    for path, _ in wanted:
        print(f"wrote {path}", file=sys.stderr)


def _selectors(text: str) -> list[str]:
    """Return short names of selectors, commas between them, or name the nearest."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise argparse.ArgumentTypeError(f"must name a selector, got {text!r}")
    for name in names:
        if name not in SELECTOR_LABELS:
            hint = did_you_mean(name, SELECTOR_LABELS, "")
            raise argparse.ArgumentTypeError(f"there is no selector {name!r}{hint}")
    return names


def _keep(text: str) -> int | float | str:
    if text == "auto":
        return text
    value = plain_number(text)
    if text.isdecimal() and 1 <= value <= LARGEST_INTEGER:
        return int(value)
    if not text.isdecimal() and 0 < value <= 1:
        return value
    raise argparse.ArgumentTypeError(
        f"must be a count, a fraction above 0 and at most 1.0, or auto, got {text!r}"
    )
