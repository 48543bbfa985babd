"""What the command says of a table and a selection: text, JSON, picture, page."""

import json
import math
import re
import shlex
import warnings
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from featuresieve import __version__
from featuresieve.cli._options import SelectOptions
from featuresieve.cli._scoring import LEAST_ROWS
from featuresieve.cli._select import SelectResult
from featuresieve.files import TableFile
from featuresieve.process import printable

# Raised when a field of the JSON is removed or changes its meaning.
_SCHEMA_VERSION = 1
_LONGEST_NAME = 48
# Rows that the page draws its pictures from.
_MOST_PAGE_ROWS = 5000
# What a selection does not depend on.
_SILENT = ("out", "json", "save", "plot", "report", "quiet", "verbose")


def screen_text(outcome: SelectResult, options: SelectOptions) -> str:
    """Return the selection as lines of text."""
    selector = outcome.selector
    n_columns = len(selector.support_)
    count = f"kept {selector.n_features_selected_} of {n_columns} columns"
    origin = "chosen" if options.balance == "auto" else "used"
    lines = [
        f"{count}, balance {origin} {selector.balance_:.3g}, "
        f"{outcome.n_rows_used} rows, {outcome.seconds:.1f} s",
        "",
        *_columns(outcome, options.verbose),
        "",
        *_score_lines(outcome),
    ]
    if outcome.notes and not options.quiet:
        lines += ["", *(f"note: {note}" for note in outcome.notes)]
    if options.verbose and len(selector.path_) > 1:
        lines += ["", *_path(selector)]
    return "\n".join(lines)


def _columns(outcome: SelectResult, is_all: bool) -> list[str]:
    """Return the kept columns, best ranked first."""
    selector = outcome.selector
    ranked = enumerate(selector.order_, start=1)
    shown = [(rank, j) for rank, j in ranked if is_all or selector.support_[j]]
    names = [_short(outcome.inputs.features.column_names[j]) for _, j in shown]
    width = max(len("column"), *map(len, names))
    lines = [f"{'column':<{width}}  frequency  rank{'  kept' if is_all else ''}"]
    for name, (rank, j) in zip(names, shown, strict=True):
        frequency, kept = selector.selection_frequency_[j], selector.support_[j]
        line = f"{name:<{width}}  {frequency:>9.2f}  {rank:>4}"
        lines.append(f"{line}  {'yes' if kept else 'no':>4}" if is_all else line)
    return lines


def _score_lines(outcome: SelectResult) -> list[str]:
    """Return the scores, or why there are none."""
    score, selector = outcome.score, outcome.selector
    if score is None:
        return [
            "no score: it needs rows that the selection does not see (--test, and at "
            f"least {LEAST_ROWS} rows)"
        ]
    width = len(str(len(selector.support_)))

    def line(word: str, count: int, value: float, error: float) -> str:
        numbers = f"{_number(value)} ± {_number(error)}"
        noun = "column" if count == 1 else "columns"
        return f"  {word:<4} {count:>{width}} {noun:<7}  {numbers}"

    later = "" if outcome.inputs.times is None else "later "
    return [
        f"{score.metric} of gradient boosting on {score.n_test} {later}rows that the "
        "selection has not seen:",
        line("all", len(selector.support_), score.all_columns, score.all_error),
        line(
            "kept", selector.n_features_selected_, score.kept_columns, score.kept_error
        ),
    ]


def _path(selector: Any) -> list[str]:
    """Return the candidate sets that were compared."""
    lines = ["candidate sets:", "   balance  columns     loss    error"]
    for row in selector.path_:
        mark = "  chosen" if row["is_chosen"] else ""
        lines.append(
            f"{row['balance']:>10.3g}  {row['n_kept']:>7}  {row['loss']:>7.4f}  "
            f"{row['loss_error']:>7.4f}{mark}"
        )
    return lines


def _number(value: float) -> str:
    """Return a score with three decimals, or a dash."""
    return "–" if math.isnan(value) else f"{round(value, 3) + 0.0:.3f}"


def _short(name: str) -> str:
    """Return a name on one line, and not too long."""
    plain = printable(name)
    return plain if len(plain) <= _LONGEST_NAME else f"{plain[: _LONGEST_NAME - 1]}…"


def json_text(outcome: SelectResult, file: TableFile, options: SelectOptions) -> str:
    """Return the selection as JSON; docs/command.md describes its fields."""
    inputs, score = outcome.inputs, outcome.score
    content = {
        "schema": "featuresieve-command",
        "schema_version": _SCHEMA_VERSION,
        "featuresieve_version": __version__,
        "file": file.source.name,
        "target": inputs.target.name,
        "task": inputs.target.task,
        "task_reason": inputs.target.reason,
        "n_rows": file.n_rows,
        "n_rows_without_target": inputs.n_rows_left_out,
        "n_rows_used": outcome.n_rows_used,
        "seed": options.seed,
        "seconds": round(outcome.seconds, 3),
        "kept": outcome.kept,
        "score": None
        if score is None
        else {name: _finite(value) for name, value in vars(score).items()},
        "notes": [*inputs.notes, *outcome.notes],
        "warnings": list(outcome.warnings),
        "selection": json.loads(outcome.selector.to_json()),
    }
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    # Those that JSON lets stand, and terminals obey.
    text = re.sub(r"[\x7f-\x9f]", lambda found: f"\\u{ord(found[0]):04x}", text)
    return f"{text}\n"


def _finite(value: Any) -> Any:
    """Return a value that JSON can hold."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def draw(selector: Any, path: Path) -> None:
    """Save the candidates with their losses, and the votes for each column."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from featuresieve.plotting import BalancePathDisplay, StabilityDisplay

    with mpl.rc_context({"svg.hashsalt": "featuresieve"}):
        figure = Figure(figsize=(11, 5.2), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(1, 1.25))
        BalancePathDisplay.from_estimator(selector, ax=left)
        StabilityDisplay.from_estimator(selector, ax=right, max_features=24)
        left.set_title("How many?")
        right.set_title("Which?")
        with warnings.catch_warnings():  # a name may have letters that no font has
            warnings.filterwarnings("ignore", "Glyph", UserWarning)
            figure.savefig(path, dpi=130)


def write_page(
    outcome: SelectResult, file: TableFile, options: SelectOptions, path: Path
) -> None:
    """Write the page about a selection."""
    inputs, values = outcome.inputs, outcome.inputs.target.values
    some = np.random.default_rng(0).permutation(len(values))[:_MOST_PAGE_ROWS]
    ends = [values.argmin(), values.argmax()]
    if inputs.target.task == "classification":
        ends = np.unique(values, return_index=True)[1].tolist()
    rows = np.union1d(some, ends)  # no class is left out
    facts = {
        "target": inputs.target.name,
        "file": Path(file.source.name).name,
        "command": command_line(options),
        "score": None if outcome.score is None else vars(outcome.score),
        "notes": [*inputs.notes, *outcome.notes],
        "warnings": outcome.warnings,
    }
    outcome.selector.report(path, inputs.features.take(rows), values[rows], facts=facts)


def command_line(options: SelectOptions) -> str:
    """Return the words that select the same again."""
    words = ["featuresieve", "select", options.file, "--target", options.target]
    for item in fields(options):
        value = getattr(options, item.name)
        is_default = value == item.default or not (value or isinstance(value, float))
        if is_default or item.name in ("file", "target", *_SILENT):
            continue
        option = f"--{item.name.replace('_', '-')}"
        if item.name == "group":
            for members in value:
                words += [option, *members]
        elif value == {"balanced": 1.0}:
            words += [option, "balanced"]
        elif isinstance(value, Mapping):
            words += [option, *(f"{name}={each}" for name, each in value.items())]
        else:
            is_one = isinstance(value, str | float | int)
            words += [option, *([str(value)] if is_one else map(str, value))]
    return shlex.join(words)
