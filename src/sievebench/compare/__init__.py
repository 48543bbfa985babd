"""Compare selectors on a table of the user's own: what `sievebench compare` does.

Importing this package imports neither torch nor the selectors: only the processes that
fit them do.
"""

from sievebench.compare._comparison import Comparison, SelectorResult, run_comparison
from sievebench.compare._page import html_page
from sievebench.compare._plan import CompareError, Plan
from sievebench.compare._summary import csv_text, screen_text
from sievebench.compare._table import Table, read_table

__all__ = [
    "CompareError",
    "Comparison",
    "Plan",
    "SelectorResult",
    "Table",
    "csv_text",
    "html_page",
    "read_table",
    "run_comparison",
    "screen_text",
]
