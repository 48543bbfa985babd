"""How many of the kept columns a scenario had added."""

import numpy as np
import pandas as pd

from sievebench.analysis.cells import in_order


def misselection(runs: pd.DataFrame, downstream: str) -> pd.DataFrame:
    """Return the share of added columns among the kept ones, by scenario.

    The share of each run, its mean over the seeds of a table, and the mean of these
    over the tables. A run that keeps nothing has no share: it is left out and counted.
    Products and noisy copies count as added, though they may well be informative.

    Parameters
    ----------
    runs : DataFrame
        As `check_runs` returns it.
    downstream : str
        Whose runs: where selector and predictor are tuned together, the columns depend
        on both.

    Returns
    -------
    DataFrame
        Columns scenario, selector, share, share_std (over the tables), n_datasets,
        n_empty (runs that keep nothing).
    """
    is_done = (runs["experiment"] == "benchmark") & (runs["status"] == "done")
    chosen = runs[is_done & (runs["downstream"] == downstream)]
    shares = chosen["n_added_kept"] / chosen["n_kept"].where(chosen["n_kept"] > 0)
    rows = []
    for (scenario, selector), group in chosen.assign(share=shares).groupby(
        ["scenario", "selector"], sort=False
    ):
        by_dataset = group.groupby("dataset")["share"].mean().dropna()
        rows.append(
            {
                "scenario": scenario,
                "selector": selector,
                "share": by_dataset.mean(),
                "share_std": by_dataset.std(ddof=1) if len(by_dataset) > 1 else np.nan,
                "n_datasets": len(by_dataset),
                "n_empty": int((group["n_kept"] == 0).sum()),
            }
        )
    columns = ["scenario", "selector", "share", "share_std", "n_datasets", "n_empty"]
    return in_order(pd.DataFrame(rows, columns=columns))
