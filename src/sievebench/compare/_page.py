"""A comparison as one HTML page that needs no other file."""

from importlib import resources
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Template

from sievebench.compare._comparison import Comparison
from sievebench.compare._figures import (
    Scale,
    clustered_order,
    count_scale,
    score_scale,
    spread_labels,
)
from sievebench.compare._summary import (
    HEADINGS,
    agreement_matrix,
    facts,
    printed_cells,
    rows_of,
)
from sievebench.compare._verdict import REFERENCE, is_level, verdict
from sievebench.labels import SELECTOR_LABELS

_MOST_COLUMNS = 40  # that are listed with the number of selectors that keep them
_LABEL_HEIGHT = 16.0  # pixels


def html_page(comparison: Comparison) -> str:
    """Return the comparison as a self-contained page."""
    source = resources.files("sievebench.compare").joinpath("page.html")
    template: Template = Template(
        source.read_text(encoding="utf-8"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    n_columns = comparison.table.features.shape[1]
    rows = rows_of(comparison)
    rows["kind"] = np.where(is_level(rows), "level", "worse")
    rows.loc[rows["selector"] == REFERENCE, "kind"] = "reference"
    scored = rows[rows["reason"] == ""]
    drawn = _within_bounds(scored, comparison.plan.metric)
    scale = score_scale([*scored["score"]] or [0.0], _interval_ends(drawn))
    first, *others = verdict(rows, n_columns)
    return template.render(
        title=f"Selectors on {comparison.table.name}",
        verdict=first,
        sentences=others,
        facts=facts(comparison),
        metric=comparison.plan.metric,
        ticks=scale.ticks(),
        dots=[_dot(row, scale) for row in drawn.itertuples()],
        failed=[row for row in rows.itertuples() if row.reason],
        scatter=_scatter(scored, scale, n_columns),
        agreement=_heat_map(comparison),
        columns=_kept_columns(scored),
        headings=HEADINGS,
        figures=[(row, printed_cells(row)) for row in scored.itertuples()],
    )


def _within_bounds(scored: pd.DataFrame, metric: str | None) -> pd.DataFrame:
    """Return rows whose intervals end where scores do: errors at 0, the others at 1."""
    most = 0.0 if (metric or "").startswith("neg_") else 1.0
    best = scored["score"] - scored["difference"]
    return scored.assign(high=scored["high"].clip(upper=most - best))


def _interval_ends(scored: pd.DataFrame) -> list[tuple[float, float]]:
    """Return where the intervals of the scores begin and end, but for the best one."""
    best = scored["score"] - scored["difference"]
    lows, highs = best + scored["low"], best + scored["high"]
    return [pair for pair in zip(lows, highs, strict=True) if pair[0] < pair[1]]


def _dot(row: Any, scale: Scale) -> dict[str, Any]:
    """Return a row of the dot plot: the score, and the interval of its difference."""
    best = row.score - row.difference
    return {
        "row": row,
        "at": scale.at(row.score),
        "is_beyond": not scale.has(row.score),
        "best": scale.at(best),
        "low": scale.at(best + row.low),
        "high": scale.at(best + row.high),
        "is_best": row.difference == 0 and row.low == row.high,
    }


def _scatter(scored: pd.DataFrame, scale: Scale, n_columns: int) -> dict[str, Any]:
    """Return the points of score against columns kept, labels spread beside them.

    Selectors at one place share a point, and the line to their labels.
    """
    across, ticks = count_scale(n_columns)
    height = max(240.0, _LABEL_HEIGHT * len(scored))
    scored = scored.sort_values(["score", "n_kept"], ascending=[False, True])
    heights = [round(height * (1 - scale.at(it) / 100), 1) for it in scored["score"]]
    positions = spread_labels(heights, _LABEL_HEIGHT, height)
    xs = [across.at(n_kept) for n_kept in np.log10(scored["n_kept"])]
    points: dict[tuple[float, float], list[Any]] = {}
    for x, y, row, position in zip(
        xs, heights, scored.itertuples(), positions, strict=True
    ):
        points.setdefault((x, y), []).append((row, position))
    levels = [(round(height * (1 - at / 100), 1), text) for at, text in scale.ticks()]
    return {"points": points, "height": height, "ticks": ticks, "levels": levels}


def _heat_map(comparison: Comparison) -> list[tuple[str, list[tuple[str, float]]]]:
    """Return, for each selector, its agreement with each: similar ones side by side."""
    matrix = agreement_matrix(comparison)
    known = np.flatnonzero(~np.isnan(np.diag(matrix)))
    order = known[clustered_order(matrix[np.ix_(known, known)])]
    labels = [SELECTOR_LABELS[comparison.results[k].selector] for k in order]
    return [
        (label, list(zip(labels, matrix[k, order], strict=True)))
        for label, k in zip(labels, order, strict=True)
    ]


def _kept_columns(scored: pd.DataFrame) -> dict[str, Any]:
    """Return how many selectors keep each column in more than half of the folds."""
    chosen = scored[scored["selector"] != REFERENCE]
    counts = pd.Series(
        [name for names in chosen["columns"] for name in names], dtype=object
    ).value_counts(sort=False)
    counts = counts.sort_values(ascending=False, kind="stable")
    return {
        "n_selectors": len(chosen),
        "counts": list(counts.head(_MOST_COLUMNS).items()),
        "n_more": max(0, len(counts) - _MOST_COLUMNS),
        "of_each": [(row.label, row.columns) for row in chosen.itertuples()],
    }
