"""The metagenomic study: all columns against the kept ones, two downstreams."""

from typing import Any

import pandas as pd

from sievebench.analysis.cells import summarize_cells


def cohort_table(runs: pd.DataFrame, selector: str) -> pd.DataFrame:
    """Return the scores of each cohort in percent, with all and with kept columns.

    Parameters
    ----------
    runs : DataFrame
        As `check_runs` returns it; the cohorts experiment counts.
    selector : str
        Whose columns; "none" is all of them.

    Returns
    -------
    DataFrame
        Index dataset; columns mlp_full, mlp_kept, forest_full, forest_kept (percent),
        reduction (percent of the columns left out), n_features, n_kept.
    """
    cells = summarize_cells(runs, "cohorts")
    columns: dict[str, Any] = {}
    for downstream in ("mlp", "forest"):
        for name, which in (("full", "none"), ("kept", selector)):
            chosen = cells[
                (cells["downstream"] == downstream) & (cells["selector"] == which)
            ].set_index("dataset")
            columns[f"{downstream}_{name}"] = 100 * chosen["score_mean"]
    kept = cells[cells["selector"] == selector].groupby("dataset")
    n_kept, n_features = kept["n_kept_mean"].mean(), kept["n_features"].max()
    columns["reduction"] = 100 * (1 - n_kept / n_features)
    columns["n_features"], columns["n_kept"] = n_features, n_kept
    return pd.DataFrame(columns).rename_axis("dataset").sort_index()


def cohort_summary(cohorts: pd.DataFrame) -> pd.DataFrame:
    """Return averages over the cohorts, and where the kept columns do better.

    Parameters
    ----------
    cohorts : DataFrame
        As `cohort_table` returns it, or the paper's.

    Returns
    -------
    DataFrame
        Index downstream; columns full, kept (averages), gain, n_better, n_equal,
        n_worse, n_missing. Only cohorts with both scores count.
    """
    rows = {}
    for downstream in ("mlp", "forest"):
        pair = cohorts[[f"{downstream}_full", f"{downstream}_kept"]].dropna()
        full, kept = pair.iloc[:, 0], pair.iloc[:, 1]
        # Compared as printed, with one decimal.
        gain = (kept.round(1) - full.round(1)).round(1)
        rows[downstream] = {
            "full": full.mean(),
            "kept": kept.mean(),
            "gain": (kept - full).mean(),
            "n_better": int((gain > 0).sum()),
            "n_equal": int((gain == 0).sum()),
            "n_worse": int((gain < 0).sum()),
            "n_missing": len(cohorts) - len(pair),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("downstream")
