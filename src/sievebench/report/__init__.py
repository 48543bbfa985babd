"""Stage 7: tables, figures, one page, and the paper's numbers beside ours."""

from sievebench.report.against_paper import agreement as agreement
from sievebench.report.against_paper import compare_scores as compare_scores
from sievebench.report.claims import paper_claims as paper_claims
from sievebench.report.claims import verdict_tables as verdict_tables
from sievebench.report.figures.canvas import svg_text as svg_text
from sievebench.report.paper import PAPER_TABLES as PAPER_TABLES
from sievebench.report.report_data import ReportData as ReportData
from sievebench.report.report_data import gather as gather
from sievebench.report.report_data import read_runs as read_runs
from sievebench.report.tables import Table as Table
from sievebench.report.tables import csv as csv
from sievebench.report.tables import latex as latex
from sievebench.report.tables import markdown as markdown
from sievebench.report.writing import WRITERS as WRITERS
from sievebench.report.writing import all_figures as all_figures
from sievebench.report.writing import all_tables as all_tables
from sievebench.report.writing import write_report as write_report
