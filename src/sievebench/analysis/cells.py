"""Runs to cells: one row for each table, scenario, selector and downstream."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from sievebench.labels import DATASET_LABELS, SCENARIO_LABELS, SELECTOR_LABELS

CELL = ["dataset", "scenario", "selector", "downstream"]


def summarize_cells(runs: pd.DataFrame, experiment: str = "benchmark") -> pd.DataFrame:
    """Return mean and standard deviation over the seeds of each cell.

    Only finished runs count; a cell without one has no score and says why. The standard
    deviation is that of a sample (n - 1), missing if there is one run.
    """
    chosen = runs[runs["experiment"] == experiment]
    is_done = chosen["status"] == "done"
    told = chosen.assign(
        **chosen[["score", "n_kept", "seconds"]].where(is_done),
        is_done=is_done,
        reason=chosen["reason"].where(chosen["reason"] != ""),
    )
    cells = told.groupby(CELL, sort=False).agg(
        n_runs=("status", "size"),
        n_done=("is_done", "sum"),
        score_mean=("score", "mean"),
        score_std=("score", "std"),
        n_kept_mean=("n_kept", "mean"),
        n_kept_std=("n_kept", "std"),
        n_original=("n_original", "max"),
        n_features=("n_features", "max"),
        seconds_mean=("seconds", "mean"),
        is_sample=("is_sample", "any"),
        why_missing=("reason", "first"),
        status=("status", "first"),
    )
    why = cells["why_missing"].fillna(cells.pop("status"))
    cells["why_missing"] = why.where(cells["n_done"] == 0, "")
    return in_order(cells.reset_index())


def score_table(
    cells: pd.DataFrame, scenario: str, downstream: str, value: str = "score_mean"
) -> pd.DataFrame:
    """Return one number of each cell of a scenario, selectors × tables.

    Both in the order of the paper; NaN where there is no value.
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
    """Return the tables on which some selector has not been run, and the selectors.

    A run that failed or was skipped leaves a record with its reason. What has no record
    is not a result, and its table cannot be ranked yet.
    """
    n_runs = score_table(cells, scenario, downstream, "n_runs")
    without = {name: n_runs.index[n_runs[name].isna()] for name in n_runs.columns}
    return {name: list(missing) for name, missing in without.items() if len(missing)}


def ranked_tables(cells: pd.DataFrame, scenario: str, downstream: str) -> pd.DataFrame:
    """Return the scores that can be ranked, selectors × tables.

    Left out are tables on which some selector has no record, and those on which none
    has a score, because the data were not at hand, say: nothing is compared there.
    """
    scores = score_table(cells, scenario, downstream)
    begun = unfinished_tables(cells, scenario, downstream)
    return scores.drop(columns=list(begun)).dropna(axis="columns", how="all")


def ordered(names: Iterable[str], labels: Mapping[str, str]) -> list[str]:
    """Return each name once, those with a label first and in its order.

    Examples
    --------
    >>> ordered(["otto", "my table", "eye", "otto"], DATASET_LABELS)
    ['eye', 'otto', 'my table']
    """
    positions = {name: i for i, name in enumerate(labels)}
    return sorted(
        dict.fromkeys(names),
        key=lambda name: (positions.get(name.partition(":")[0], len(labels)), name),
    )


def in_order(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in the order of the paper: scenario, table, selector."""
    labels = {
        "scenario": SCENARIO_LABELS,
        "dataset": DATASET_LABELS,
        "selector": SELECTOR_LABELS,
    }

    def positions(column: Any) -> Any:
        names = ordered(column, labels[column.name])
        return column.map({name: i for i, name in enumerate(names)})

    return table.sort_values(
        [name for name in labels if name in table.columns],
        key=positions,
        kind="stable",
        ignore_index=True,
    )
