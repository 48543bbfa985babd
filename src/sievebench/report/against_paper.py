"""Ours beside theirs, cell by cell."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from sievebench.analysis import in_order
from sievebench.labels import DATASET_LABELS, scenario_title, selector_label
from sievebench.report.paper import PAPER_SCENARIOS, paper_scores, printed_scores
from sievebench.report.report_data import ReportData
from sievebench.report.tables import MISSING, Columns, Table, number, signed, tables_of

_AGREEMENT: Columns = {
    "scenario": "{scenario:scenario}",
    "selector": "{selector:selector}",
    "mean difference": "{mean_difference:+3}",
    "mean distance": "{mean_distance:.3}",
    "cells": "{n_cells}",
    "samples left out": "{n_samples}",
    "missing": "{n_missing}",
}


def compare_scores(results: ReportData) -> pd.DataFrame:
    """Put every score of ours beside the paper's.

    All cells of the paper, and ours that it does not have: ours, ours_std, theirs,
    difference (ours less theirs), printed (theirs, as printed), is_sample, why_missing
    (ours).
    """
    parts = [_beside(results, scenario) for scenario in PAPER_SCENARIOS]
    return in_order(pd.concat(parts, ignore_index=True))


def _beside(results: ReportData, scenario: str) -> pd.DataFrame:
    wide, numbers = results.wide(scenario), paper_scores(scenario)
    own = {name.partition(":")[0] for name in wide.index}
    selectors = [*wide.index, *(name for name in numbers.index if name not in own)]
    datasets = [*DATASET_LABELS, *(d for d in wide.columns if d not in DATASET_LABELS)]
    keys = ["dataset", "selector"]
    cells = pd.MultiIndex.from_product([datasets, selectors], names=keys)
    ours = results.cells_of(scenario).set_index(keys).reindex(cells)

    def theirs(table: pd.DataFrame) -> Any:
        names = [name.partition(":")[0] for name in selectors]
        return table.reindex(index=names, columns=datasets).to_numpy().T.ravel()

    columns = {
        "ours": ours["score_mean"].astype(float),
        "ours_std": ours["score_std"].astype(float),
        "theirs": theirs(numbers),
        "difference": ours["score_mean"].astype(float) - theirs(numbers),
        "printed": theirs(printed_scores(scenario)),
        "is_sample": ours["is_sample"].eq(True),
        "why_missing": ours["why_missing"].fillna("not run"),
    }
    table = pd.DataFrame(columns).reset_index()
    table.insert(0, "scenario", scenario)
    return table


def agreement(comparison: pd.DataFrame) -> pd.DataFrame:
    """Return how far ours is from theirs, on average.

    mean_difference, mean_distance (of its absolute value), n_cells (with both scores,
    samples left out), n_samples, n_missing (theirs without ours).
    """
    whole = comparison["difference"].mask(comparison["is_sample"])
    lines = comparison.assign(whole=whole, distance=whole.abs())
    table = lines.groupby(["scenario", "selector"], sort=False).agg(
        mean_difference=("whole", "mean"),
        mean_distance=("distance", "mean"),
        n_cells=("whole", "count"),
        n_both=("difference", "count"),
        n_theirs=("theirs", "count"),
    )
    n_both = table.pop("n_both")
    table["n_samples"] = n_both - table["n_cells"]
    table["n_missing"] = table.pop("n_theirs") - n_both
    return table.reset_index()


def comparison_tables(results: ReportData) -> Iterator[Table]:
    """Yield one table a scenario, three lines a selector; then how far they agree."""
    scenarios = results.paper_scenarios
    if not scenarios or not set(results.datasets) & set(DATASET_LABELS):
        return
    comparison = compare_scores(results)
    for scenario in scenarios:
        part = comparison[comparison["scenario"] == scenario]
        yield _cell_by_cell(results, part, scenario)
    run = comparison[comparison["scenario"].isin(scenarios)]
    has_theirs = run.groupby("selector")["theirs"].transform("count") > 0
    yield from tables_of(
        agreement(run[has_theirs]),
        _AGREEMENT,
        name="paper-agreement",
        title="How far ours is from the paper's",
        n_text_columns=2,
        notes=("Difference: ours less the paper's; distance: its absolute value.",),
    )


def _cell_by_cell(results: ReportData, part: pd.DataFrame, scenario: str) -> Table:
    datasets = list(dict.fromkeys(part["dataset"]))
    rows: list[tuple[str, ...]] = []
    for selector, cells in part.groupby("selector", sort=False):
        label = selector_label(str(selector))
        line = cells.set_index("dataset").reindex(datasets)
        rows.append((label, "ours", *(number(score, 3) for score in line["ours"])))
        rows.append((label, "paper", *line["printed"].fillna("")))
        gaps = (signed(gap, 3, "") for gap in line["difference"])
        rows.append((label, "difference", *gaps))
    return Table(
        name=f"paper-{scenario}",
        title=f"{scenario_title(scenario)}: ours beside the paper's",
        data=part,
        header=("selector", "", *map(results.dataset_label, datasets)),
        rows=tuple(rows),
        n_text_columns=2,
        is_sortable=False,
        notes=(
            "The paper's cells as printed: OOM and N/A have no score, * is not "
            "explained there. It calls the scores accuracy and negative MSE; they are "
            "accuracy, ROC-AUC (HI) and -RMSE of the standardised target.",
            f"(sample): not all rows were at hand, so the scores need not agree. "
            f"{MISSING}: we have no score.",
        ),
    )
