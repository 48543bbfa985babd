"""Stage 5: one self-describing record a cell, and the table of all of them."""

from sievebench.store._earlier import counts_kept as counts_kept
from sievebench.store._earlier import earlier_results as earlier_results
from sievebench.store._records import STATUSES as STATUSES
from sievebench.store._records import DatasetFacts as DatasetFacts
from sievebench.store._records import Removal as Removal
from sievebench.store._records import RunRecord as RunRecord
from sievebench.store._records import RunResult as RunResult
from sievebench.store._records import Status as Status
from sievebench.store._records import Store as Store
from sievebench.store._records import find_stores as find_stores
from sievebench.store._table import collect as collect
