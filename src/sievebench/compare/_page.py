"""A comparison as one HTML page that needs no other file."""

from html import escape

import numpy as np

from sievebench.compare._comparison import Comparison
from sievebench.compare._summary import (
    Row,
    agreement_matrix,
    facts,
    number,
    rows_of,
)
from sievebench.labels import SELECTOR_LABELS

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 62em;
       padding: 0 1em; color: #222; background: #fff; }
h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin-top: 2em; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25em .6em; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child, td.text { text-align: left; }
td.text { color: #555; } tr.failed td { color: #888; }
.bar { display: inline-block; height: .7em; background: #4878a8; }
"""
_BAR_WIDTH_EM = 8
_EXPLANATION = (
    "bars: the score, from 0; error: standard error over the folds, whose training "
    "rows overlap, so a rough guide; kept: mean number of columns; seconds: one fit of "
    "the selector; agreement: mean Jaccard index with the other selectors in the same "
    "fold; stability: the same between the folds of one selector."
)


def html_page(comparison: Comparison) -> str:
    """Return the comparison as a self-contained page."""
    title = f"Selectors on {comparison.table.name}"
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        *(f"<p>{escape(fact)}</p>" for fact in facts(comparison)),
        _score_table(rows_of(comparison)),
        f"<p>{escape(_EXPLANATION)}</p>",
        _kept_table(rows_of(comparison)),
        _agreement_table(comparison),
        "</body></html>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _score_table(rows: list[Row]) -> str:
    """Return the main table, with bars that begin at a score of 0."""
    scores = [row.score for row in rows if not np.isnan(row.score)]
    low, high = min([0.0, *scores]), max([0.0, *scores])
    lines = []
    for row in rows:
        label = f"<td>{escape(row.label)}</td>"
        if row.reason:
            reason = f'<td class="text" colspan="7">{escape(row.reason)}</td>'
            lines.append(f'<tr class="failed">{label}{reason}</tr>')
            continue
        bar = _bar(row.score, low, high)
        cells = (
            number(row.score, 4),
            number(row.score_error, 4),
            number(row.n_kept, 1),
            number(row.seconds, 2),
            number(row.agreement, 2),
            number(row.stability, 2),
        )
        numbers = "".join(f"<td>{cell}</td>" for cell in cells)
        lines.append(f'<tr>{label}<td class="text">{bar}</td>{numbers}</tr>')
    scale = f"{low:.3g} to {high:.3g}"
    heads = ("selector", scale, "score", "error", "kept", "seconds", "agreement")
    return _table((*heads, "stability"), lines)


def _bar(score: float, low: float, high: float) -> str:
    """Return a bar between 0 and a score on an axis from `low` to `high`."""
    if np.isnan(score) or high == low:
        return ""
    em = _BAR_WIDTH_EM / (high - low)
    start, width = (min(score, 0.0) - low) * em, abs(score) * em
    style = f"margin-left:{start:.2f}em;width:{width:.2f}em"
    return f'<span class="bar" style="{style}"></span>'


def _kept_table(rows: list[Row]) -> str:
    """Return which columns each selector keeps in more than half of the folds."""
    lines = [
        f"<tr><td>{escape(row.label)}</td>"
        f'<td class="text">{escape(", ".join(row.columns))}</td></tr>'
        for row in rows
        if not row.reason and row.selector != "none"
    ]
    if not lines:
        return ""
    table = _table(("selector", ""), lines)
    return f"<h2>Columns kept in more than half of the folds</h2>{table}"


def _agreement_table(comparison: Comparison) -> str:
    """Return the mean Jaccard index of each pair, the darker the larger."""
    matrix = agreement_matrix(comparison)
    known = np.flatnonzero(~np.isnan(np.diag(matrix)))
    if len(known) < 2:
        return ""
    labels = [SELECTOR_LABELS[comparison.results[k].selector] for k in known]
    lines = []
    for label, i in zip(labels, known, strict=True):
        cells = "".join(
            f'<td style="background:rgba(72,120,168,{matrix[i, j] * 0.8:.2f})">'
            f"{number(float(matrix[i, j]), 2)}</td>"
            for j in known
        )
        lines.append(f"<tr><td>{escape(label)}</td>{cells}</tr>")
    return f"<h2>Agreement</h2>{_table(('', *labels), lines)}"


def _table(heads: tuple[str, ...], lines: list[str]) -> str:
    """Return a table that scrolls if it is too wide."""
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "\n".join(lines)
    return f'<div class="wide"><table><tr>{head}</tr>\n{body}\n</table></div>'
