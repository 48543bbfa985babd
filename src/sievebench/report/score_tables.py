"""Tables of the benchmark: scores, counts, and what is missing."""

import numpy as np
import pandas as pd

from sievebench.analysis import in_order, mean_ranks, overview, summarize_cells
from sievebench.labels import (
    METRIC_LABELS,
    SCENARIO_LABELS,
    scenario_title,
    selector_label,
)
from sievebench.report.material import PAPER_SCENARIOS, ReportData
from sievebench.report.paper import paper_counts
from sievebench.report.tables import (
    MISSING,
    Table,
    best_rows,
    number,
    with_deviation,
)
from sievebench.run_spec import PURPOSES

_DECIMALS = 3
_REASON_WIDTH = 240


def overview_tables(material: ReportData) -> list[Table]:
    """Return one table a scenario: each selector in one line."""
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
                title=f"{scenario_title(scenario)}: each selector",
                data=part,
                header=(*header, "added among kept", "seconds", "missing"),
                rows=tuple(rows),
                bold=frozenset((i, 1) for i in best_rows(-part["rank"], 2)),
                notes=(
                    "Mean rank by the paper's rule; kept / original: columns kept over "
                    "columns before the scenario, mean over the tables; seconds: one "
                    "fit of the selector, median over the tables, beside whatever else "
                    "its machine did.",
                    *material.unranked_note([scenario]),
                ),
            )
        )
    return tables


def score_tables(material: ReportData) -> list[Table]:
    """Return one table a scenario: selectors × tables, and the mean rank."""
    return [
        scores_of_scenario(
            material,
            scenario,
            name=f"scores-{scenario}",
            title=f"{scenario_title(scenario)}: scores",
            about=_score_note(material, scenario),
        )
        for scenario in material.scenarios
    ]


def scores_of_scenario(
    material: ReportData, scenario: str, *, name: str, title: str, about: str
) -> Table:
    """Return the scores of one scenario, and the mean ranks they give."""
    means = material.wide(scenario)
    deviations = material.wide(scenario, "score_std")
    ranks = mean_ranks(material.ranked(scenario))["rank"]
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
        name=name,
        title=title,
        data=data,
        header=("selector", *labels, "rank"),
        rows=tuple(rows),
        bold=frozenset(best),
        notes=(
            about,
            "Rank: mean over the tables, the paper's rule.",
            *material.unranked_note([scenario]),
        ),
    )


def _score_note(material: ReportData, scenario: str) -> str:
    """Return what the scores are."""
    runs = material.runs
    chosen = runs[(runs["experiment"] == "benchmark") & (runs["scenario"] == scenario)]
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


def count_tables(material: ReportData) -> list[Table]:
    """Return how many columns AutoNFS keeps, ours and the paper's."""
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


def missing_tables(material: ReportData) -> list[Table]:
    """Return the cells of which not all runs are done, and why."""
    gaps = _stacked([_unfinished_runs(material), _without_record(material)])
    if gaps.empty:
        return []
    gaps["runs done"] = [
        f"{n_done} of {n_runs}" if n_runs else "0"
        for n_done, n_runs in zip(gaps["n_done"], gaps["n_runs"], strict=True)
    ]
    # Tables that lack the same for the same reason share a line.
    alike = ["experiment", "scenario", "selector", "downstream", "why", "runs done"]
    rows = [
        (
            experiment,
            SCENARIO_LABELS[scenario],
            ", ".join(map(material.dataset_label, datasets)),
            selector_label(selector),
            downstream,
            _cut(why),
            n_done,
        )
        for (experiment, scenario, selector, downstream, why, n_done), datasets in (
            gaps.groupby(alike, sort=False)["dataset"]
        )
    ]
    header = ("scenario", "tables", "selector", "downstream", "why", "runs done")
    return [
        Table(
            name="missing",
            title="Runs without a result",
            data=gaps.drop(columns="runs done"),
            header=("experiment", *header),
            rows=tuple(rows),
            n_text_columns=6,
        )
    ]


def _stacked(parts: list[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all parts; empty ones have no say in the types (pandas 2)."""
    return pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)


def _unfinished_runs(material: ReportData) -> pd.DataFrame:
    """Return the cells with a record of runs that did not end well."""
    every = _stacked(
        [
            summarize_cells(material.runs, experiment).assign(experiment=experiment)
            for experiment in PURPOSES
        ]
    )
    gaps = every[every["n_done"] < every["n_runs"]]
    key = ["experiment", "dataset", "scenario", "selector", "downstream"]
    reasons = material.runs[material.runs["status"] != "done"].groupby(key)
    first = [reasons.get_group(tuple(row)).iloc[0] for _, row in gaps[key].iterrows()]
    return gaps.assign(
        why=[f"{run['status']}: {run['reason']}".rstrip(": ") for run in first]
    )


def _without_record(material: ReportData) -> pd.DataFrame:
    """Return the cells of the benchmark that nobody has run."""
    cells = [
        (dataset, scenario, selector)
        for scenario in material.scenarios
        for dataset, selectors in material.unfinished(scenario).items()
        for selector in selectors
    ]
    return in_order(
        pd.DataFrame(cells, columns=["dataset", "scenario", "selector"]).assign(
            experiment="benchmark",
            downstream=material.downstream,
            n_runs=0,
            n_done=0,
            why="no record",
        )
    )


def _cut(text: str) -> str:
    """Return a reason that is not too long."""
    text = " ".join(text.split())
    if len(text) <= _REASON_WIDTH:
        return text
    return f"{text[: _REASON_WIDTH - 2].rstrip()} …"
