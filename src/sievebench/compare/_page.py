"""A comparison as one HTML page that needs no other file."""

from importlib import resources

import numpy as np
from jinja2 import Template

from sievebench.compare._comparison import Comparison
from sievebench.compare._summary import (
    HEADINGS,
    agreement_matrix,
    facts,
    printed_cells,
    rows_of,
)
from sievebench.labels import SELECTOR_LABELS

_BAR_WIDTH_EM = 8


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
    rows = list(rows_of(comparison).itertuples())
    scores = [row.score for row in rows if not np.isnan(row.score)]
    low, high = min([0.0, *scores]), max([0.0, *scores])
    matrix = agreement_matrix(comparison)
    known = np.flatnonzero(~np.isnan(np.diag(matrix)))
    return template.render(
        title=f"Selectors on {comparison.table.name}",
        facts=facts(comparison),
        headings=HEADINGS,
        scale=f"{low:.3g} to {high:.3g}",
        rows=[(row, printed_cells(row), _bar(row.score, low, high)) for row in rows],
        chosen=[row for row in rows if not row.reason and row.selector != "none"],
        pairs={
            SELECTOR_LABELS[comparison.results[k].selector]: matrix[k, known]
            for k in known
        },
    )


def _bar(score: float, low: float, high: float) -> str:
    """Return the style of a bar from 0 to a score on an axis from `low` to `high`."""
    if np.isnan(score) or high == low:
        return ""
    em = _BAR_WIDTH_EM / (high - low)
    start, width = (min(score, 0.0) - low) * em, abs(score) * em
    return f"margin-left:{start:.2f}em;width:{width:.2f}em"
