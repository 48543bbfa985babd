"""Tables of the benchmark: scores, counts, and what is missing."""

from textwrap import shorten

import numpy as np
import pandas as pd

from sievebench.analysis import mean_ranks, overview, summarize_cells
from sievebench.labels import METRIC_LABELS, SCENARIO_LABELS, selector_label
from sievebench.report.material import PAPER_SCENARIOS, Material
from sievebench.report.paper import paper_counts
from sievebench.report.tables import (
    MISSING,
    Table,
    best_rows,
    number,
    with_deviation,
)

_DECIMALS = 3
_REASON_WIDTH = 140
_EXPERIMENTS = ("benchmark", "matched", "cohorts", "removal", "scaling", "balance")


def overview_tables(material: Material) -> list[Table]:
    """Return one table a scenario: each selector in one line.

    Parameters
    ----------
    material : Material
        As `gather` returns it.

    Returns
    -------
    list of Table
    """
    data = overview(material.runs, material.downstream)
    tables = []
    for scenario in material.scenarios:
        part = data[data["scenario"] == scenario]
        rows = [
            (
                selector_label(row["selector"]),
                number(row["rank"], 2),
                f"{row['n_best']} of {row['n_datasets']}",
                number(row["kept_share"], 2),
                number(row["misselected"], 3),
                number(row["seconds"], 1),
                str(row["n_missing"]),
            )
            for _, row in part.iterrows()
        ]
        header = ("selector", "mean rank", "best or tied", "kept / original")
        tables.append(
            Table(
                name=f"overview-{scenario}",
                title=f"{SCENARIO_LABELS[scenario]} columns added: each selector",
                data=part,
                header=(*header, "added among kept", "seconds", "missing"),
                rows=tuple(rows),
                bold=frozenset((i, 1) for i in best_rows(-part["rank"], 2)),
                notes=(
                    "Mean rank by the paper's rule; kept / original: columns kept over "
                    "columns before the scenario, mean over the tables; seconds: one "
                    "fit of the selector, median over the tables.",
                ),
            )
        )
    return tables


def score_tables(material: Material) -> list[Table]:
    """Return one table a scenario: selectors × tables, and the mean rank.

    Parameters
    ----------
    material : Material
        As `gather` returns it.

    Returns
    -------
    list of Table
    """
    return [_scores(material, scenario) for scenario in material.scenarios]


def _scores(material: Material, scenario: str) -> Table:
    """Return the scores of one scenario."""
    means = material.wide(scenario)
    deviations = material.wide(scenario, "score_std")
    ranks = mean_ranks(means)["rank"]
    rows = [
        (
            selector_label(selector),
            *(
                with_deviation(means.loc[selector, d], deviations.loc[selector, d], 3)
                for d in means.columns
            ),
            number(ranks[selector], 1),
        )
        for selector in means.index
    ]
    best = {
        (i, j + 1)
        for j, dataset in enumerate(means.columns)
        for i in best_rows(means[dataset], _DECIMALS)
    }
    best |= {(i, len(means.columns) + 1) for i in best_rows(-ranks, 1)}
    data = material.cells[
        (material.cells["scenario"] == scenario)
        & (material.cells["downstream"] == material.downstream)
    ]
    labels = [material.dataset_label(dataset) for dataset in means.columns]
    return Table(
        name=f"scores-{scenario}",
        title=f"{SCENARIO_LABELS[scenario]} columns added: scores",
        data=data,
        header=("selector", *labels, "rank"),
        rows=tuple(rows),
        bold=frozenset(best),
        notes=(_score_note(material), "Rank: mean over the tables, the paper's rule."),
    )


def _score_note(material: Material) -> str:
    """Return what the scores are."""
    chosen = material.runs[material.runs["experiment"] == "benchmark"]
    metrics = chosen.groupby("metric", sort=True)["dataset"].unique()
    parts = [
        f"{METRIC_LABELS.get(str(metric), metric)} "
        f"({', '.join(map(material.dataset_label, names))})"
        for metric, names in metrics.items()
        if metric
    ]
    seeds = chosen.groupby(["dataset", "scenario", "selector", "downstream"]).size()
    what = f"Test score, larger is better: {'; '.join(parts)}." if parts else ""
    spread = f"Mean ± standard deviation over seeds, up to {seeds.max()} of them."
    return f"{what} {spread}".strip()


def count_tables(material: Material) -> list[Table]:
    """Return how many columns AutoNFS keeps, ours and the paper's.

    Parameters
    ----------
    material : Material
        As `gather` returns it.

    Returns
    -------
    list of Table
    """
    scenarios = [s for s in material.scenarios if s in PAPER_SCENARIOS]
    chosen = material.cells[
        material.cells["selector"].isin(material.own_selectors)
        & (material.cells["downstream"] == material.downstream)
        & material.cells["scenario"].isin(scenarios)
    ]
    if chosen.empty:
        return []
    printed = paper_counts()
    keys = [(s, n) for s in scenarios for n in [*material.own_selectors, "paper"]]
    rows = []
    for dataset in material.datasets:
        part = chosen[chosen["dataset"] == dataset].set_index(["scenario", "selector"])
        cells = [
            _printed(printed[s].get(dataset)) if n == "paper" else _count(part, (s, n))
            for s, n in keys
        ]
        n_original = number(part["n_original"].max(), 0)
        rows.append((material.dataset_label(dataset), n_original, *cells))
    names = [
        f"{SCENARIO_LABELS[s]}: {n if n == 'paper' else selector_label(n)}"
        for s, n in keys
    ]
    return [
        Table(
            name="counts",
            title="Columns that AutoNFS keeps, ours and the paper's",
            data=chosen,
            header=("table", "original", *names),
            rows=tuple(rows),
            notes=("Mean ± standard deviation over seeds.",),
        )
    ]


def _printed(count: float | None) -> str:
    """Return the paper's number; it has none for tables of ours."""
    return "" if count is None or np.isnan(count) else number(count, 0)


def _count(part: pd.DataFrame, key: tuple[str, str]) -> str:
    """Return the printed number of columns of one cell."""
    if key not in part.index:
        return MISSING
    cell = part.loc[key]
    return with_deviation(cell["n_kept_mean"], cell["n_kept_std"], 1)


def missing_tables(material: Material) -> list[Table]:
    """Return the cells of which not all runs are done, and why.

    Parameters
    ----------
    material : Material
        As `gather` returns it.

    Returns
    -------
    list of Table
    """
    every = pd.concat(
        [
            summarize_cells(material.runs, experiment).assign(experiment=experiment)
            for experiment in _EXPERIMENTS
        ],
        ignore_index=True,
    )
    gaps = every[every["n_done"] < every["n_runs"]]
    if gaps.empty:
        return []
    key = ["experiment", "dataset", "scenario", "selector", "downstream"]
    reasons = material.runs[material.runs["status"] != "done"].groupby(key)
    rows = []
    for _, row in gaps.iterrows():
        first = reasons.get_group(tuple(row[key])).iloc[0]
        rows.append(
            (
                row["experiment"],
                SCENARIO_LABELS[row["scenario"]],
                material.dataset_label(row["dataset"]),
                selector_label(row["selector"]),
                row["downstream"],
                shorten(
                    f"{first['status']}: {first['reason']}".rstrip(": "),
                    width=_REASON_WIDTH,
                    placeholder=" …",
                ),
                f"{row['n_done']} of {row['n_runs']}",
            )
        )
    header = ("scenario", "table", "selector", "downstream", "why", "runs done")
    return [
        Table(
            name="missing",
            title="Runs without a result",
            data=gaps,
            header=("experiment", *header),
            rows=tuple(rows),
            n_text_columns=6,
        )
    ]
