"""Compare selectors on a table of the user's own: what `sievebench compare` does.

Importing this package imports neither torch nor the selectors: only the processes that
fit them do.
"""

from sievebench.compare._comparison import FAST as FAST
from sievebench.compare._comparison import Comparison as Comparison
from sievebench.compare._comparison import SelectorResult as SelectorResult
from sievebench.compare._comparison import run_comparison as run_comparison
from sievebench.compare._deciding import folds_of as folds_of
from sievebench.compare._jobs import usable_cores as usable_cores
from sievebench.compare._page import html_page as html_page
from sievebench.compare._summary import agreement_matrix as agreement_matrix
from sievebench.compare._summary import csv_text as csv_text
from sievebench.compare._summary import rows_of as rows_of
from sievebench.compare._summary import screen_text as screen_text
from sievebench.compare._table import CompareError as CompareError
from sievebench.compare._table import FoldScore as FoldScore
from sievebench.compare._table import Plan as Plan
from sievebench.compare._table import Table as Table
from sievebench.compare._table import encoder_of as encoder_of
from sievebench.compare._table import read_table as read_table
from sievebench.compare._verdict import REFERENCE as REFERENCE
from sievebench.compare._verdict import against_best as against_best
