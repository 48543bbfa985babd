"""Each selector in one line: rank, columns, added columns, seconds."""

import pandas as pd

from sievebench.analysis.cells import (
    in_order,
    ranked_tables,
    summarize_cells,
)
from sievebench.analysis.misselection import misselection
from sievebench.analysis.ranks import mean_ranks


def overview(runs: pd.DataFrame, downstream: str) -> pd.DataFrame:
    """Return the main figures of each selector in each scenario.

    Parameters
    ----------
    runs : DataFrame
        As `check_runs` returns it; the benchmark counts.
    downstream : str
        Whose scores are ranked.

    Returns
    -------
    DataFrame
        Columns scenario, selector, rank, rank_complete, n_best, n_missing, n_datasets,
        n_complete (these of tables that are ranked, see `ranked_tables`), kept_share
        (columns kept over columns before the scenario, mean over the tables),
        misselected (share of added columns among the kept), seconds (median over the
        tables).
    """
    cells = summarize_cells(runs)
    cells = cells[cells["downstream"] == downstream]
    shares = misselection(runs, downstream).set_index(["scenario", "selector"])["share"]
    parts = []
    for scenario, chosen in cells.groupby("scenario", sort=False):
        ranks = mean_ranks(ranked_tables(cells, str(scenario), downstream))
        kept = chosen["n_kept_mean"] / chosen["n_original"]
        by_selector = chosen.assign(kept=kept).groupby("selector")
        wrong = [shares.get((scenario, name)) for name in ranks.index]
        part = ranks.assign(
            kept_share=by_selector["kept"].mean(),
            misselected=pd.Series(wrong, index=ranks.index, dtype=float),
            seconds=by_selector["seconds_mean"].median(),
        ).reset_index()
        part.insert(0, "scenario", scenario)
        parts.append(part)
    return in_order(pd.concat(parts)) if parts else pd.DataFrame()
