"""What the command says about a table and a selection: text, JSON, a picture."""

import json
import math
import re
from pathlib import Path
from typing import Any

from featuresieve import __version__
from featuresieve.cli._options import SelectOptions
from featuresieve.cli._scoring import LEAST_ROWS
from featuresieve.cli._select import SelectResult
from featuresieve.files import TableFile
from featuresieve.process import printable

# Raised when a field of the JSON is removed or changes its meaning.
_SCHEMA_VERSION = 1
_LONGEST_NAME = 48


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
    if options.verbose and len(selector.path_) > 1:
        lines += ["", *_path(selector)]
    return "\n".join(lines)


def _columns(outcome: SelectResult, is_all: bool) -> list[str]:
    """Return the kept columns, best ranked first."""
    rows = _ranked(outcome)
    shown = [row for row in rows if is_all or row["kept"]]
    names = [_short(row["name"]) for row in shown]
    width = max(len("column"), *map(len, names))
    head = f"{'column':<{width}}  frequency  rank" + ("  kept" if is_all else "")
    lines = [head]
    for name, row in zip(names, shown, strict=True):
        line = f"{name:<{width}}  {row['frequency']:>9.2f}  {row['rank']:>4}"
        mark = f"  {'yes' if row['kept'] else 'no':>4}" if is_all else ""
        lines.append(line + mark)
    return lines


def _ranked(outcome: SelectResult) -> list[dict[str, Any]]:
    """Return what is known of each column, best ranked first."""
    selector = outcome.selector
    names = outcome.inputs.features.column_names
    return [
        {
            "name": names[place],
            "kept": bool(selector.support_[place]),
            "frequency": float(selector.selection_frequency_[place]),
            "rank": rank,
        }
        for rank, place in enumerate(selector.order_, start=1)
    ]


def _score_lines(outcome: SelectResult) -> list[str]:
    """Return the scores, or why there are none."""
    score, selector = outcome.score, outcome.selector
    if score is None:
        return [
            "no score: it needs rows that the selection does not see (--test, and at "
            f"least {LEAST_ROWS} rows)"
        ]
    n_all, n_kept = len(selector.support_), selector.n_features_selected_
    width = len(str(n_all))
    return [
        f"{score.metric} of gradient boosting on {score.n_test} rows that the "
        "selection has not seen:",
        f"  all  {n_all:>{width}} columns  {_number(score.all_columns)} "
        f"± {_number(score.all_error)}",
        f"  kept {n_kept:>{width}} columns  {_number(score.kept_columns)} "
        f"± {_number(score.kept_error)}",
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
        "n_rows": file.table.num_rows,
        "n_rows_without_target": inputs.n_rows_left_out,
        "n_rows_used": outcome.n_rows_used,
        "seed": options.seed,
        "seconds": round(outcome.seconds, 3),
        "kept": outcome.kept,
        "score": None
        if score is None
        else {name: _finite(value) for name, value in vars(score).items()},
        "notes": list(inputs.notes),
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
        figure.savefig(path, dpi=130)
