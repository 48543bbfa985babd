"""The figures of the report: a file for each kind; only these need matplotlib."""

from collections.abc import Callable

from sievebench.report.figures.balance import balance_drawings
from sievebench.report.figures.canvas import (
    Drawing,
    house_style,
    png_bytes,
    svg_text,
)
from sievebench.report.figures.counts import count_drawings
from sievebench.report.figures.critical_difference import critical_difference_drawings
from sievebench.report.figures.power import power_drawings
from sievebench.report.figures.scaling import scaling_drawings
from sievebench.report.figures.scores_and_columns import score_drawings
from sievebench.report.material import ReportData

# In the order of the page. Each returns nothing if there is nothing to draw.
FIGURES: dict[str, Callable[[ReportData], list[Drawing]]] = {
    "critical-difference": critical_difference_drawings,
    "score-and-columns": score_drawings,
    "counts": count_drawings,
    "power": power_drawings,
    "scaling": scaling_drawings,
    "balance": balance_drawings,
}

__all__ = ["FIGURES", "Drawing", "draw", "png_bytes", "svg_text"]


def draw(kind: str, material: ReportData) -> list[Drawing]:
    """Return the figures of one kind, in the style of the report."""
    with house_style():
        return FIGURES[kind](material)
