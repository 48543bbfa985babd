"""The figures of the report; only drawing them needs matplotlib."""

from sievebench.report.figures.canvas import Drawing as Drawing
from sievebench.report.figures.canvas import drawn as drawn
from sievebench.report.figures.canvas import png_bytes as png_bytes
from sievebench.report.figures.canvas import svg_text as svg_text
from sievebench.report.figures.critical_difference import (
    critical_difference_drawings as critical_difference_drawings,
)
from sievebench.report.figures.panels import balance_drawings as balance_drawings
from sievebench.report.figures.panels import count_drawings as count_drawings
from sievebench.report.figures.panels import power_drawings as power_drawings
from sievebench.report.figures.panels import scaling_drawings as scaling_drawings
from sievebench.report.figures.panels import score_drawings as score_drawings
from sievebench.report.figures.panels import versus_drawings as versus_drawings
