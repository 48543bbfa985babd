"""Stage 7: tables, figures, one page, and the paper's numbers beside ours."""

from sievebench.report.against_paper import agreement, compare_scores
from sievebench.report.material import ReportData, gather, read_runs
from sievebench.report.paper_tables import PAPER_TABLES
from sievebench.report.tables import Table, csv, latex, markdown
from sievebench.report.writing import (
    WRITERS,
    all_figures,
    all_tables,
    svg_of,
    write_report,
)

__all__ = [
    "PAPER_TABLES",
    "WRITERS",
    "ReportData",
    "Table",
    "agreement",
    "all_figures",
    "all_tables",
    "compare_scores",
    "csv",
    "gather",
    "latex",
    "markdown",
    "read_runs",
    "svg_of",
    "write_report",
]
