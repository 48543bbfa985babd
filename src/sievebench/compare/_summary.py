"""The rows of a comparison, for the screen and as CSV."""

import csv
import io
import json
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from sievebench.compare._comparison import Comparison, SelectorResult
from sievebench.labels import SELECTOR_LABELS

HEADINGS = ("selector", "score", "error", "kept", "seconds", "agreement", "stability")
# Decimals on screen and page of each figure of a row.
_DIGITS = {
    "score": 4,
    "score_error": 4,
    "n_kept": 1,
    "seconds": 2,
    "agreement": 2,
    "stability": 2,
}


@dataclass(frozen=True)
class Row:
    """One selector in figures; NaN where there is nothing to say."""

    selector: str  # short name
    label: str
    score: float  # mean over the folds
    score_error: float  # its standard error
    n_kept: float  # mean number of kept columns
    seconds: float  # mean seconds of one fit
    # mean Jaccard index with the columns other selectors keep in the same fold
    agreement: float
    stability: float  # mean Jaccard index between the columns kept in different folds
    columns: tuple[str, ...]  # columns kept in more than half of the folds
    reason: str  # why the figures are missing


def rows_of(comparison: Comparison) -> list[Row]:
    """Return the rows, best score first, those without a score last."""
    agreement = agreement_matrix(comparison)
    rows = []
    for i, result in enumerate(comparison.results):
        others = np.delete(agreement[i], i)
        known = others[~np.isnan(others)]
        mean = float(known.mean()) if len(known) else float("nan")
        rows.append(_row(comparison, result, mean))
    return sorted(rows, key=lambda row: (bool(row.reason), -np.nan_to_num(row.score)))


def agreement_matrix(comparison: Comparison) -> npt.NDArray[np.float64]:
    """Return the mean Jaccard index of each pair of selectors over the folds.

    NaN for selectors without a result, and for "none", which agrees with nobody by
    choice.
    """
    results = comparison.results
    matrix = np.full((len(results), len(results)), np.nan)
    for i, first in enumerate(results):
        for j, second in enumerate(results):
            if _is_choice(first) and _is_choice(second):
                pairs = zip(first.folds, second.folds, strict=True)
                indices = [jaccard(a.support, b.support) for a, b in pairs]
                matrix[i, j] = np.mean(indices)
    return matrix


def jaccard(first: tuple[bool, ...], second: tuple[bool, ...]) -> float:
    """Return the size of the intersection over that of the union."""
    a, b = np.array(first), np.array(second)
    return float((a & b).sum() / (a | b).sum())


def screen_text(comparison: Comparison) -> str:
    """Return the comparison as lines of text."""
    rows = rows_of(comparison)
    cells = [HEADINGS, *(printed_cells(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for line, reason in zip(cells, ["", *(row.reason for row in rows)], strict=True):
        first = line[0].ljust(widths[0])
        numbers = map(str.rjust, line[1:], widths[1:])
        text = f"{first}  {reason}" if reason else "  ".join([first, *numbers])
        lines.append(text.rstrip())
    return "\n".join([*facts(comparison), "", *lines])


def facts(comparison: Comparison) -> list[str]:
    """Return sentences about the table and the way of judging."""
    table, plan = comparison.table, comparison.plan
    n_rows, n_columns = table.features.shape
    n_text = sum(dtype.kind == "O" for dtype in table.features.dtypes)
    kind = "number"
    if plan.task == "classification":
        kind = f"{len(np.unique(table.target))} classes"
    is_free = plan.keep == "auto"
    keep = "the selector's own choice, else half" if is_free else plan.keep
    return [
        f"{table.name}: {n_rows} rows, {n_columns} columns ({n_text} text), "
        f"target {table.target_name!r} ({plan.task}, {kind}).",
        *table.notes,
        f"Score: {plan.metric} of {plan.predictor} on held-out rows, "
        f"{plan.n_folds} folds, seed {plan.seed}; columns kept: {keep}.",
    ]


def csv_text(comparison: Comparison) -> str:
    """Return the comparison as CSV, one line per selector.

    The names of columns are a JSON list, nothing for a selector without a result.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([heading.name for heading in fields(Row)])
    for row in rows_of(comparison):
        figures = [getattr(row, name) for name in _DIGITS]
        numbers = ["" if np.isnan(figure) else f"{figure:.6g}" for figure in figures]
        names = list(map(str, row.columns))
        columns = "" if row.reason else json.dumps(names, ensure_ascii=False)
        writer.writerow([row.selector, row.label, *numbers, columns, row.reason])
    return out.getvalue()


def _row(comparison: Comparison, result: SelectorResult, agreement: float) -> Row:
    """Return the figures of one selector."""
    label = SELECTOR_LABELS[result.selector]
    if result.reason:
        done = f" ({len(result.folds)} of {comparison.plan.n_folds} folds done)"
        reason = result.reason + (done if result.folds else "")
        empty = dict.fromkeys(_DIGITS, float("nan"))
        return Row(result.selector, label, **empty, columns=(), reason=reason)
    scores = np.array([fold.score for fold in result.folds])
    supports = np.array([fold.support for fold in result.folds])
    names = comparison.table.features.columns[supports.mean(axis=0) > 0.5]
    pairs = [
        jaccard(a.support, b.support)
        for i, a in enumerate(result.folds)
        for b in result.folds[:i]
    ]
    return Row(
        result.selector,
        label,
        score=float(scores.mean()),
        score_error=float(scores.std(ddof=1) / np.sqrt(len(scores))),
        n_kept=float(supports.sum(axis=1).mean()),
        seconds=float(np.mean([fold.seconds for fold in result.folds])),
        agreement=agreement,
        stability=float(np.mean(pairs)),
        columns=tuple(names),
        reason="",
    )


def printed_cells(row: Row) -> list[str]:
    """Return the printed cells of one row, a dash where there is no number."""
    figures = [(getattr(row, name), digits) for name, digits in _DIGITS.items()]
    return [
        row.label,
        *("–" if np.isnan(value) else f"{value:.{n}f}" for value, n in figures),
    ]


def _is_choice(result: SelectorResult) -> bool:
    """Tell whether a selector finished, and had a choice to make."""
    return not result.reason and result.selector != "none"
