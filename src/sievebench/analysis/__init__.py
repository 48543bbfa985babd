"""Stage 6: from a table of runs to the numbers that are reported.

Pure functions, data frame to data frame. All but those of ranks and tests start from
runs that `check_runs` has seen; `schema.COLUMNS` says what a run is.
"""

from sievebench.analysis.balance import balance_influence
from sievebench.analysis.cells import (
    in_order,
    ordered,
    ranked_tables,
    score_table,
    summarize_cells,
    unfinished_tables,
)
from sievebench.analysis.cohorts import cohort_summary, cohort_table
from sievebench.analysis.friedman import (
    critical_difference,
    friedman_test,
    groups_alike,
)
from sievebench.analysis.matched import matched_comparison, matched_summary
from sievebench.analysis.misselection import misselection
from sievebench.analysis.overview import overview
from sievebench.analysis.predictive_power import predictive_power
from sievebench.analysis.ranks import (
    as_printed,
    complete_datasets,
    complete_selectors,
    mean_ranks,
    rank_scores,
    ranks_by_variant,
)
from sievebench.analysis.scaling import scaling_exponents, scaling_times
from sievebench.analysis.schema import COLUMNS, RunTableError, check_runs

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
