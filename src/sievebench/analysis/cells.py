"""Runs to cells: one row for each table, scenario, selector and downstream."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from sievebench.labels import DATASET_LABELS, SCENARIO_LABELS, SELECTOR_LABELS

CELL = ["dataset", "scenario", "selector", "downstream"]


def summarize_cells(runs: pd.DataFrame, experiment: str = "benchmark") -> pd.DataFrame:
    """Return mean and standard deviation over the seeds of each cell.

    Only finished runs count; a cell without one has no score and says why. The standard
    deviation is that of a sample (n - 1), missing if there is one run.

    Parameters
    ----------
    runs : DataFrame
        As `check_runs` returns it.
    experiment : str, default="benchmark"
        Which runs.

    Returns
    -------
    DataFrame
        Columns dataset, scenario, selector, downstream, n_runs, n_done, score_mean,
        score_std, n_kept_mean, n_kept_std, n_original, n_features, seconds_mean,
        is_sample, why_missing.
    """
    rows = []
    chosen = runs[runs["experiment"] == experiment]
    for key, group in chosen.groupby(CELL, sort=False):
        done = group[group["status"] == "done"]
        rows.append(
            {
                **dict(zip(CELL, key, strict=True)),
                "n_runs": len(group),
                "n_done": len(done),
                **_mean_and_std(done, "score"),
                **_mean_and_std(done, "n_kept"),
                "n_original": group["n_original"].max(),
                "n_features": group["n_features"].max(),
                "seconds_mean": done["seconds"].mean(),
                "is_sample": bool(group["is_sample"].any()),
                "why_missing": "" if len(done) else _why(group),
            }
        )
    columns = [
        *(*CELL, "n_runs", "n_done", "score_mean", "score_std", "n_kept_mean"),
        *("n_kept_std", "n_original", "n_features", "seconds_mean", "is_sample"),
        "why_missing",
    ]
    return in_order(pd.DataFrame(rows, columns=columns))


def score_table(
    cells: pd.DataFrame, scenario: str, downstream: str, value: str = "score_mean"
) -> pd.DataFrame:
    """Return one number of each cell of a scenario, selectors × tables.

    Parameters
    ----------
    cells : DataFrame
        As `summarize_cells` returns it.
    scenario, downstream : str
        Which cells.
    value : str, default="score_mean"
        Which column.

    Returns
    -------
    DataFrame
        Index selector, columns dataset, both in the order of the paper; NaN where
        there is no value.
    """
    is_chosen = (cells["scenario"] == scenario) & (cells["downstream"] == downstream)
    chosen = cells[is_chosen]
    return chosen.pivot(index="selector", columns="dataset", values=value).reindex(
        index=ordered(chosen["selector"], SELECTOR_LABELS),
        columns=ordered(chosen["dataset"], DATASET_LABELS),
    )


def unfinished_tables(
    cells: pd.DataFrame, scenario: str, downstream: str
) -> dict[str, list[str]]:
    """Return the tables on which some selector has not been run at all.

    A run that failed or was skipped leaves a record with its reason. What has no record
    is not a result, and its table cannot be ranked yet.

    Parameters
    ----------
    cells : DataFrame
        As `summarize_cells` returns it.
    scenario, downstream : str
        Which cells.

    Returns
    -------
    dict
        Table → the selectors of the scenario that have no record on it.
    """
    n_runs = score_table(cells, scenario, downstream, "n_runs")
    without = {name: n_runs.index[n_runs[name].isna()] for name in n_runs.columns}
    return {name: list(missing) for name, missing in without.items() if len(missing)}


def ranked_tables(cells: pd.DataFrame, scenario: str, downstream: str) -> pd.DataFrame:
    """Return the scores that can be ranked, selectors × tables.

    Left out are tables on which some selector has no record, and those on which none
    has a score, because the data were not at hand, say: nothing is compared there.

    Parameters
    ----------
    cells : DataFrame
        As `summarize_cells` returns it.
    scenario, downstream : str
        Which cells.

    Returns
    -------
    DataFrame
        As `score_table` returns it.
    """
    scores = score_table(cells, scenario, downstream)
    begun = unfinished_tables(cells, scenario, downstream)
    return scores.drop(columns=list(begun)).dropna(axis="columns", how="all")


def ordered(names: Iterable[str], labels: Mapping[str, str]) -> list[str]:
    """Return each name once, those with a label first and in its order.

    Parameters
    ----------
    names : iterable of str
        Short names, perhaps with a variant after a colon.
    labels : mapping of str to str
        One of the tables of `sievebench.labels`.

    Returns
    -------
    list of str

    Examples
    --------
    >>> ordered(["otto", "my table", "eye", "otto"], DATASET_LABELS)
    ['eye', 'otto', 'my table']
    """
    places = {name: place for place, name in enumerate(labels)}
    return sorted(
        dict.fromkeys(names),
        key=lambda name: (places.get(name.partition(":")[0], len(places)), name),
    )


def in_order(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in the order of the paper: scenario, table, selector.

    Parameters
    ----------
    table : DataFrame
        With any of the columns scenario, dataset, selector.

    Returns
    -------
    DataFrame
    """
    labels = {
        "scenario": SCENARIO_LABELS,
        "dataset": DATASET_LABELS,
        "selector": SELECTOR_LABELS,
    }
    for column in ("selector", "dataset", "scenario"):
        if column not in table.columns:
            continue
        names = ordered(table[column], labels[column])
        places = {name: place for place, name in enumerate(names)}
        order = np.argsort(table[column].map(places).to_numpy(), kind="stable")
        table = table.iloc[order]
    return table.reset_index(drop=True)


def _mean_and_std(done: pd.DataFrame, name: str) -> dict[str, float]:
    """Return mean and standard deviation of a column under their names."""
    std = done[name].std(ddof=1) if len(done) > 1 else np.nan
    return {f"{name}_mean": done[name].mean(), f"{name}_std": std}


def _why(group: pd.DataFrame) -> str:
    """Return why a cell has no score: the reason, else the status."""
    reasons = [reason for reason in group["reason"] if reason]
    return str((reasons or list(group["status"]))[0])
