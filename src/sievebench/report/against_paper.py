"""Ours beside theirs, cell by cell."""

import numpy as np
import pandas as pd

from sievebench.analysis import in_order
from sievebench.labels import (
    DATASET_LABELS,
    SCENARIO_LABELS,
    scenario_title,
    selector_label,
)
from sievebench.report.material import PAPER_SCENARIOS, ReportData
from sievebench.report.paper import paper_scores, printed_scores
from sievebench.report.tables import MISSING, Table, number, signed


def compare_scores(material: ReportData) -> pd.DataFrame:
    """Put every score of ours beside the paper's."""
    frames = []
    for scenario in PAPER_SCENARIOS:
        cells = material.cells[
            (material.cells["scenario"] == scenario)
            & (material.cells["downstream"] == material.downstream)
        ].set_index(["dataset", "selector"])
        numbers, texts = paper_scores(scenario), printed_scores(scenario)
        for dataset, selector in _places(material, numbers, scenario):
            theirs = _lookup(numbers, selector.partition(":")[0], dataset)
            is_ours = (dataset, selector) in cells.index
            ours = cells.loc[(dataset, selector)] if is_ours else None
            frames.append(
                {
                    "scenario": scenario,
                    "dataset": dataset,
                    "selector": selector,
                    "ours": np.nan if ours is None else ours["score_mean"],
                    "ours_std": np.nan if ours is None else ours["score_std"],
                    "theirs": theirs,
                    "printed": _lookup(texts, selector.partition(":")[0], dataset),
                    "is_sample": ours is not None and bool(ours["is_sample"]),
                    "why_missing": "not run" if ours is None else ours["why_missing"],
                }
            )
    table = pd.DataFrame(frames)
    table.insert(6, "difference", table["ours"] - table["theirs"])
    return in_order(table)


def agreement(comparison: pd.DataFrame) -> pd.DataFrame:
    """Return how far ours is from theirs, on average."""
    rows = []
    for (scenario, selector), group in comparison.groupby(
        ["scenario", "selector"], sort=False
    ):
        both = group[group["difference"].notna()]
        whole = both.loc[~both["is_sample"], "difference"]
        is_gap = group["ours"].isna() & group["theirs"].notna()
        rows.append(
            {
                "scenario": scenario,
                "selector": selector,
                "mean_difference": whole.mean(),
                "mean_distance": whole.abs().mean(),
                "n_cells": len(whole),
                "n_samples": len(both) - len(whole),
                "n_missing": int(is_gap.sum()),
            }
        )
    return pd.DataFrame(rows)


def comparison_tables(material: ReportData) -> list[Table]:
    """Return one table a scenario, three lines a selector; then how far they agree."""
    if not set(material.scenarios) & set(PAPER_SCENARIOS):
        return []
    if not set(material.datasets) & set(DATASET_LABELS):
        return []
    comparison = compare_scores(material)
    tables = [
        _cell_by_cell(material, comparison[comparison["scenario"] == scenario])
        for scenario in PAPER_SCENARIOS
        if scenario in material.scenarios
    ]
    is_run = comparison["scenario"].isin(material.scenarios)
    return [*tables, _agreement_table(comparison[is_run])]


def _cell_by_cell(material: ReportData, part: pd.DataFrame) -> Table:
    """Return ours, theirs and the difference of one scenario."""
    scenario = part["scenario"].iloc[0]
    datasets = list(dict.fromkeys(part["dataset"]))
    rows = []
    for selector in dict.fromkeys(part["selector"]):
        cells = (
            part[part["selector"] == selector].set_index("dataset").reindex(datasets)
        )
        label = selector_label(selector)
        printed = [p if isinstance(p, str) else "" for p in cells["printed"]]
        rows += [
            (label, "ours", *(number(v, 3) for v in cells["ours"])),
            (label, "paper", *printed),
            (
                label,
                "difference",
                *("" if np.isnan(v) else signed(v, 3) for v in cells["difference"]),
            ),
        ]
    labels = [material.dataset_label(dataset) for dataset in datasets]
    return Table(
        name=f"paper-{scenario}",
        title=f"{scenario_title(scenario)}: ours beside the paper's",
        data=part,
        header=("selector", "", *labels),
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


def _agreement_table(comparison: pd.DataFrame) -> Table:
    """Return how far ours is from theirs, for the selectors that it has."""
    theirs = comparison.groupby("selector")["theirs"].transform("count")
    data = agreement(comparison[theirs > 0])
    rows = [
        (
            SCENARIO_LABELS[row["scenario"]],
            selector_label(row["selector"]),
            signed(row["mean_difference"], 3),
            number(row["mean_distance"], 3),
            *(str(row[name]) for name in ("n_cells", "n_samples", "n_missing")),
        )
        for _, row in data.iterrows()
    ]
    header = ("scenario", "selector", "mean difference", "mean distance", "cells")
    return Table(
        name="paper-agreement",
        title="How far ours is from the paper's",
        data=data,
        header=(*header, "samples left out", "missing"),
        rows=tuple(rows),
        n_text_columns=2,
        notes=("Difference: ours less the paper's; distance: its absolute value.",),
    )


def _places(
    material: ReportData, numbers: pd.DataFrame, scenario: str
) -> list[tuple[str, str]]:
    """Return every (table, selector) that the paper or we have."""
    wide = material.wide(scenario)
    own = {name.partition(":")[0] for name in wide.index}
    selectors = [*wide.index, *(name for name in numbers.index if name not in own)]
    datasets = [*DATASET_LABELS, *(d for d in wide.columns if d not in DATASET_LABELS)]
    return [(dataset, selector) for dataset in datasets for selector in selectors]


def _lookup(table: pd.DataFrame, row: str, column: str) -> float | str:
    """Return a cell, NaN if there is no such row or column."""
    if row not in table.index or column not in table.columns:
        return float("nan")
    value: float | str = table.loc[row, column]
    return value
