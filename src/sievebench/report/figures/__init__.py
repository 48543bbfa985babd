"""The figures of the report; only these need matplotlib."""

from collections.abc import Callable, Iterator

from sievebench.report.figures.canvas import Drawing as Drawing
from sievebench.report.figures.canvas import house_style
from sievebench.report.figures.canvas import png_bytes as png_bytes
from sievebench.report.figures.canvas import svg_text as svg_text
from sievebench.report.figures.critical_difference import critical_difference_drawings
from sievebench.report.figures.panels import (
    balance_drawings,
    count_drawings,
    power_drawings,
    scaling_drawings,
    score_drawings,
    versus_drawings,
)
from sievebench.report.report_data import ReportData

# In the order of the page. Each yields nothing if there is nothing to draw.
FIGURES: dict[str, Callable[[ReportData], Iterator[Drawing]]] = {
    "versus": versus_drawings,
    "critical-difference": critical_difference_drawings,
    "score-and-columns": score_drawings,
    "counts": count_drawings,
    "power": power_drawings,
    "scaling": scaling_drawings,
    "balance": balance_drawings,
}


def draw(kind: str, results: ReportData) -> list[Drawing]:
    """Return the figures of one kind, in the style of the report."""
    with house_style():
        return list(FIGURES[kind](results))
