"""Stage 5: one self-describing record a cell, and the table of all of them."""

from sievebench.store._folder import Store, find_stores
from sievebench.store._former import counts_kept, former_results
from sievebench.store._record import (
    STATUSES,
    DatasetFacts,
    Removal,
    RunRecord,
    RunResult,
    Status,
)
from sievebench.store._table import collect

__all__ = [
    "STATUSES",
    "DatasetFacts",
    "Removal",
    "RunRecord",
    "RunResult",
    "Status",
    "Store",
    "collect",
    "counts_kept",
    "find_stores",
    "former_results",
]
