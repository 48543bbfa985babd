"""Stage 6: from a table of runs to the numbers that are reported.

Pure functions, data frame to data frame. All but those of ranks and tests start from
runs that `check_runs` has seen; `schema.COLUMNS` says what a run is.
"""

from sievebench.analysis.cells import (
    in_order,
    ordered,
    ranked_tables,
    score_table,
    summarize_cells,
    unfinished_tables,
)
from sievebench.analysis.ranks import (
    as_printed,
    complete_datasets,
    complete_selectors,
    critical_difference,
    friedman_test,
    groups_alike,
    mean_ranks,
    rank_scores,
    ranks_by_variant,
)
from sievebench.analysis.schema import COLUMNS, RunTableError, check_runs
from sievebench.analysis.studies import (
    balance_influence,
    cohort_summary,
    cohort_table,
    matched_comparison,
    matched_summary,
    misselection,
    overview,
    predictive_power,
    scaling_exponents,
    scaling_times,
)

__all__ = [
    "COLUMNS",
    "RunTableError",
    "as_printed",
    "balance_influence",
    "check_runs",
    "cohort_summary",
    "cohort_table",
    "complete_datasets",
    "complete_selectors",
    "critical_difference",
    "friedman_test",
    "groups_alike",
    "in_order",
    "matched_comparison",
    "matched_summary",
    "mean_ranks",
    "misselection",
    "ordered",
    "overview",
    "predictive_power",
    "rank_scores",
    "ranked_tables",
    "ranks_by_variant",
    "scaling_exponents",
    "scaling_times",
    "score_table",
    "summarize_cells",
    "unfinished_tables",
]
