"""What the balance λ does to score and number of columns."""

import pandas as pd

from sievebench.analysis.cells import in_order

_WHERE = ["dataset", "scenario", "selector", "downstream", "balance"]


def balance_influence(runs: pd.DataFrame) -> pd.DataFrame:
    """Return score and columns kept at each balance, mean and deviation over seeds.

    Parameters
    ----------
    runs : DataFrame
        As `check_runs` returns it; the balance experiment counts.

    Returns
    -------
    DataFrame
        Columns dataset, scenario, selector, downstream, balance, score_mean, score_std,
        n_kept_mean, n_kept_std, n_added_kept_mean, n_done, n_empty, is_sample; balances
        ascending.
    """
    chosen = runs[(runs["experiment"] == "balance") & (runs["status"] == "done")]
    chosen = chosen.assign(is_empty=chosen["n_kept"] == 0)
    table = (
        chosen.groupby(_WHERE)
        .agg(
            score_mean=("score", "mean"),
            score_std=("score", "std"),
            n_kept_mean=("n_kept", "mean"),
            n_kept_std=("n_kept", "std"),
            n_added_kept_mean=("n_added_kept", "mean"),
            n_done=("score", "size"),
            n_empty=("is_empty", "sum"),
            is_sample=("is_sample", "any"),
        )
        .reset_index()
        .sort_values("balance", kind="stable")
    )
    return in_order(table)
