"""Stage 6: from a table of runs to the numbers that are reported.

Pure functions, data frame to data frame. All but those of ranks and tests start from
runs that `check_runs` has seen; `schema.COLUMNS` says what a run is.
"""

from sievebench.analysis.cells import in_order as in_order
from sievebench.analysis.cells import ordered as ordered
from sievebench.analysis.cells import ranked_tables as ranked_tables
from sievebench.analysis.cells import score_table as score_table
from sievebench.analysis.cells import stacked as stacked
from sievebench.analysis.cells import summarize_cells as summarize_cells
from sievebench.analysis.cells import unfinished_tables as unfinished_tables
from sievebench.analysis.comparisons import SIGNIFICANCE as SIGNIFICANCE
from sievebench.analysis.comparisons import compare_differences as compare_differences
from sievebench.analysis.comparisons import compare_with as compare_with
from sievebench.analysis.comparisons import interval_of_mean as interval_of_mean
from sievebench.analysis.comparisons import rank_margin as rank_margin
from sievebench.analysis.comparisons import without_sisters as without_sisters
from sievebench.analysis.fields import EQUIVALENCE as EQUIVALENCE
from sievebench.analysis.fields import FIELDS as FIELDS
from sievebench.analysis.fields import OURS as OURS
from sievebench.analysis.fields import field_cube as field_cube
from sievebench.analysis.fields import field_losses as field_losses
from sievebench.analysis.fields import field_scores as field_scores
from sievebench.analysis.fields import field_summary as field_summary
from sievebench.analysis.fields import signed_rank_posterior as signed_rank_posterior
from sievebench.analysis.ranks import as_printed as as_printed
from sievebench.analysis.ranks import complete_datasets as complete_datasets
from sievebench.analysis.ranks import complete_selectors as complete_selectors
from sievebench.analysis.ranks import critical_difference as critical_difference
from sievebench.analysis.ranks import friedman_test as friedman_test
from sievebench.analysis.ranks import groups_alike as groups_alike
from sievebench.analysis.ranks import mean_ranks as mean_ranks
from sievebench.analysis.ranks import rank_scores as rank_scores
from sievebench.analysis.schema import COLUMNS as COLUMNS
from sievebench.analysis.schema import RunTableError as RunTableError
from sievebench.analysis.schema import check_runs as check_runs
from sievebench.analysis.studies import added_shares as added_shares
from sievebench.analysis.studies import balance_influence as balance_influence
from sievebench.analysis.studies import cohort_summary as cohort_summary
from sievebench.analysis.studies import cohort_table as cohort_table
from sievebench.analysis.studies import losses_by_seed as losses_by_seed
from sievebench.analysis.studies import matched_comparison as matched_comparison
from sievebench.analysis.studies import matched_summary as matched_summary
from sievebench.analysis.studies import misselection as misselection
from sievebench.analysis.studies import overview as overview
from sievebench.analysis.studies import predictive_power as predictive_power
from sievebench.analysis.studies import scaling_exponents as scaling_exponents
from sievebench.analysis.studies import scaling_times as scaling_times
