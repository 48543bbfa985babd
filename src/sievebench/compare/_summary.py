"""The rows of a comparison, for the screen and as CSV."""

import json
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sievebench.compare._comparison import Comparison, SelectorResult
from sievebench.compare._verdict import REFERENCE, against_best, verdict
from sievebench.labels import SELECTOR_LABELS

# Each figure of a row: its heading, and its decimals on screen and page.
_FIGURES = {
    "score": ("score", 4),  # mean over the folds
    "score_error": ("error", 4),  # its standard error
    "n_kept": ("kept", 1),  # mean number of kept columns
    "seconds": ("seconds", 2),  # mean of one fit
    # Mean Jaccard index with the columns that others keep in the same fold, and between
    # the columns kept in different folds.
    "agreement": ("agreement", 2),
    "stability": ("stability", 2),
}
HEADINGS = ("selector", *(heading for heading, _ in _FIGURES.values()))


def rows_of(comparison: Comparison) -> pd.DataFrame:
    """Return one row a selector, best score first, those without a score last.

    Of equal scores, that with fewer columns comes first.

    selector (short name), label, the figures above (NaN where there is nothing to say),
    columns (those kept in more than half of the folds), reason (why there is no score),
    and what `against_best` says.
    """
    agreement = agreement_matrix(comparison)
    np.fill_diagonal(agreement, np.nan)
    rows = pd.DataFrame([_row(comparison, result) for result in comparison.results])
    rows["agreement"] = pd.DataFrame(agreement).mean(axis=1)
    tested = against_best(_fold_scores(comparison))
    rows = rows.join(tested, on="selector")
    order = rows.assign(has_failed=rows["reason"] != "")
    keys = {"has_failed": True, "score": False, "n_kept": True}  # whether ascending
    order = order.sort_values([*keys], ascending=[*keys.values()], kind="stable")
    return rows.loc[order.index]


def _fold_scores(comparison: Comparison) -> pd.DataFrame:
    """Return the scores of the folds, one row for each selector that has all."""
    complete = [result for result in comparison.results if not result.reason]
    scores = [[fold.score for fold in result.folds] for result in complete]
    return pd.DataFrame(
        scores,
        index=[result.selector for result in complete],
        columns=range(comparison.plan.n_folds),
        dtype=np.float64,
    )


def agreement_matrix(comparison: Comparison) -> npt.NDArray[np.float64]:
    """Return the mean Jaccard index of each pair of selectors over the folds.

    NaN for selectors without a result, and for "none", which agrees with nobody by
    choice.
    """
    results = comparison.results
    matrix = np.full((len(results), len(results)), np.nan)
    supports = {
        i: _supports(result)
        for i, result in enumerate(results)
        if not result.reason and result.selector != REFERENCE
    }
    for (i, first), (j, second) in product(supports.items(), repeat=2):
        matrix[i, j] = _jaccard(first, second)
    return matrix


def _supports(result: SelectorResult) -> npt.NDArray[np.bool_]:
    """Return which columns were kept, (folds, columns)."""
    return np.array([fold.support for fold in result.folds])


def _jaccard(first: Any, second: Any) -> float:
    """Return the size of the intersection over that of the union, mean over pairs."""
    common, either = first & second, first | second
    return float(np.mean(common.sum(axis=1) / either.sum(axis=1)))


def _row(comparison: Comparison, result: SelectorResult) -> dict[str, Any]:
    """Return the figures of one selector, but for its agreement with others."""
    row = {
        "selector": result.selector,
        "label": SELECTOR_LABELS[result.selector],
        **dict.fromkeys(_FIGURES, float("nan")),
        "columns": (),
        "reason": result.reason,
    }
    if result.reason:
        done = f" ({len(result.folds)} of {comparison.plan.n_folds} folds done)"
        return row | {"reason": result.reason + (done if result.folds else "")}
    scores = np.array([fold.score for fold in result.folds])
    supports = _supports(result)
    pairs = np.array(list(combinations(supports, 2)))  # (pairs, 2, columns)
    names = comparison.table.features.columns
    return row | {
        "score": scores.mean(),
        "score_error": scores.std(ddof=1) / np.sqrt(len(scores)),
        "n_kept": supports.sum(axis=1).mean(),
        "seconds": np.mean([fold.seconds for fold in result.folds]),
        "stability": _jaccard(pairs[:, 0], pairs[:, 1]),
        "columns": tuple(names[supports.mean(axis=0) > 0.5]),
    }


def screen_text(comparison: Comparison) -> str:
    """Return the comparison as lines of text."""
    found = rows_of(comparison)
    rows = list(found.itertuples())
    cells = [HEADINGS, *(printed_cells(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for line, reason in zip(cells, ["", *(row.reason for row in rows)], strict=True):
        first = line[0].ljust(widths[0])
        numbers = map(str.rjust, line[1:], widths[1:])
        text = f"{first}  {reason}" if reason else "  ".join([first, *numbers])
        lines.append(text.rstrip())
    sentences = verdict(found, comparison.table.features.shape[1])
    return "\n".join([*facts(comparison), "", *lines, "", *sentences])


def printed_cells(row: Any) -> list[str]:
    """Return the printed cells of one row, a dash where there is no number."""
    figures = [(getattr(row, name), digits) for name, (_, digits) in _FIGURES.items()]
    return [
        row.label,
        *("–" if np.isnan(value) else f"{value:.{n}f}" for value, n in figures),
    ]


def csv_text(comparison: Comparison) -> str:
    """Return the comparison as CSV, one line per selector.

    The names of columns are a JSON list, nothing for a selector without a result.
    """
    rows = rows_of(comparison)
    lists = [json.dumps([*map(str, n)], ensure_ascii=False) for n in rows["columns"]]
    named = rows.assign(columns=lists)
    named.loc[rows["reason"] != "", "columns"] = ""
    return str(named.to_csv(index=False, float_format="%.6g", lineterminator="\n"))


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
