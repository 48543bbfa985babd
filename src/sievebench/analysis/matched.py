"""Every selector at the number of columns that one of them chose."""

import pandas as pd

from sievebench.analysis.cells import in_order, summarize_cells
from sievebench.analysis.ranks import as_printed

_WHERE = ["dataset", "scenario", "downstream"]


def matched_comparison(
    runs: pd.DataFrame, reference: str, n_decimals: int = 3
) -> pd.DataFrame:
    """Return each selector beside the reference, at the reference's number of columns.

    Parameters
    ----------
    runs : DataFrame
        As `check_runs` returns it. The others come from the matched experiment, the
        reference from the shared one, whose predictors they have; if it is not in
        there, from the benchmark.
    reference : str
        The selector whose number of columns the others were given.
    n_decimals : int, default=3
        Decimals of a score that count.

    Returns
    -------
    DataFrame
        Columns dataset, scenario, downstream, selector, n_kept, n_kept_reference,
        score, score_reference, difference (of the printed scores, above 0 if the
        reference is better), is_matched (its mean number of columns is within one half
        of the reference's), is_sample.
    """
    ours = _cells_of(runs, reference, "shared")
    if ours.empty:
        ours = _cells_of(runs, reference, "benchmark")
    others = summarize_cells(runs, "matched")
    named = {"score_mean": "score_reference", "n_kept_mean": "n_kept_reference"}
    joined = others.join(ours[list(named)].rename(columns=named), on=_WHERE)
    table = joined[[*_WHERE, "selector"]].assign(
        n_kept=joined["n_kept_mean"],
        n_kept_reference=joined["n_kept_reference"],
        score=joined["score_mean"],
        score_reference=joined["score_reference"],
    )
    printed = as_printed(table[["score", "score_reference"]].astype(float), n_decimals)
    gap = (table["n_kept"] - table["n_kept_reference"]).abs()
    return in_order(
        table.assign(
            difference=printed["score_reference"] - printed["score"],
            is_matched=gap <= 0.5,
            is_sample=joined["is_sample"],
        )
    )


def _cells_of(runs: pd.DataFrame, selector: str, experiment: str) -> pd.DataFrame:
    """Return the cells of one selector by their place."""
    cells = summarize_cells(runs, experiment)
    return cells[cells["selector"] == selector].set_index(_WHERE)


def matched_summary(comparison: pd.DataFrame) -> pd.DataFrame:
    """Count where the reference is better, equal or worse at equal numbers of columns.

    Parameters
    ----------
    comparison : DataFrame
        As `matched_comparison` returns it.

    Returns
    -------
    DataFrame
        Columns scenario, selector, n_better, n_equal, n_worse (of the reference),
        mean_difference, n_missing (of the tables that any selector has in the
        scenario), n_unmatched (left out of the counts).
    """
    rows = []
    selectors = comparison["selector"].unique()
    for scenario, tables in comparison.groupby("scenario", sort=False):
        n_tables = len(tables[_WHERE].drop_duplicates())
        for selector in selectors:  # also one that was not run in this scenario
            group = tables[tables["selector"] == selector]
            judged = group[group["difference"].notna()]
            difference = judged.loc[judged["is_matched"], "difference"].round(9)
            rows.append(
                {
                    "scenario": scenario,
                    "selector": selector,
                    "n_better": int((difference > 0).sum()),
                    "n_equal": int((difference == 0).sum()),
                    "n_worse": int((difference < 0).sum()),
                    "mean_difference": difference.mean(),
                    "n_missing": n_tables - len(judged),
                    "n_unmatched": len(judged) - len(difference),
                }
            )
    columns = [
        *("scenario", "selector", "n_better", "n_equal", "n_worse"),
        *("mean_difference", "n_missing", "n_unmatched"),
    ]
    return in_order(pd.DataFrame(rows, columns=columns))
