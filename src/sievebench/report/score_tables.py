"""Tables of the benchmark: scores, counts, and what is missing."""

from collections.abc import Iterator

import pandas as pd

from sievebench import analysis
from sievebench.labels import (
    METRIC_LABELS,
    SCENARIO_LABELS,
    scenario_title,
    selector_label,
)
from sievebench.report.material import ReportData
from sievebench.report.paper import paper_counts
from sievebench.report.tables import (
    MISSING,
    Table,
    best_cells,
    decimals,
    number,
    scenario_cell,
    selector_cell,
    table_of,
    with_deviation,
)
from sievebench.run_spec import PURPOSES

_DECIMALS = 3
_REASON_WIDTH = 240
_OVERVIEW = {
    "selector": selector_cell,
    "mean rank": decimals("rank", 2),
    "best or tied": "{0[n_best]} of {0[n_datasets]}".format,
    "kept / original": decimals("kept_share", 2),
    "added among kept": decimals("misselected", 3),
    "seconds": decimals("seconds", 1),
    "missing": "{0[n_missing]}".format,
}


def overview_tables(material: ReportData) -> Iterator[Table]:
    """Yield one table a scenario: each selector in one line."""
    data = analysis.overview(material.runs, material.downstream)
    for scenario in material.scenarios:
        part = data[data["scenario"] == scenario]
        yield table_of(
            part,
            _OVERVIEW,
            name=f"overview-{scenario}",
            title=f"{scenario_title(scenario)}: each selector",
            bold=best_cells(-part[["rank"]], 2),
            notes=(
                "Mean rank by the paper's rule; kept / original: columns kept over "
                "columns before the scenario, mean over the tables; seconds: one "
                "fit of the selector, median over the tables, beside whatever else "
                "its machine did.",
                *material.unranked_note([scenario]),
            ),
        )


def score_tables(material: ReportData) -> Iterator[Table]:
    """Yield one table a scenario: selectors × tables, and the mean rank."""
    for scenario in material.scenarios:
        yield scores_of_scenario(
            material,
            scenario,
            name=f"scores-{scenario}",
            title=f"{scenario_title(scenario)}: scores",
            about=_score_note(material, scenario),
        )


def scores_of_scenario(
    material: ReportData, scenario: str, *, name: str, title: str, about: str
) -> Table:
    """Return the scores of one scenario, and the mean ranks they give."""
    means = material.wide(scenario)
    deviations = material.wide(scenario, "score_std")
    ranks = analysis.mean_ranks(material.ranked(scenario))["rank"]
    rows = []
    for selector in means.index:
        pairs = zip(means.loc[selector], deviations.loc[selector], strict=True)
        scores = [with_deviation(mean, std, _DECIMALS) for mean, std in pairs]
        rows.append((selector_label(selector), *scores, number(ranks[selector], 1)))
    labels = map(material.dataset_label, means.columns)
    return Table(
        name=name,
        title=title,
        data=material.cells_of(scenario),
        header=("selector", *labels, "rank"),
        rows=tuple(rows),
        bold=best_cells(means, _DECIMALS)
        | best_cells(-ranks.to_frame(), 1, first_column=1 + means.shape[1]),
        notes=(
            about,
            "Rank: mean over the tables, the paper's rule.",
            *material.unranked_note([scenario]),
        ),
    )


def _score_note(material: ReportData, scenario: str) -> str:
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


def count_tables(material: ReportData) -> Iterator[Table]:
    """Yield how many columns AutoNFS keeps, ours and the paper's."""
    scenarios, own = material.paper_scenarios, material.own_selectors
    chosen = material.scored[
        material.scored["selector"].isin(own)
        & material.scored["scenario"].isin(scenarios)
    ]
    if chosen.empty:
        return
    printed = paper_counts()
    rows = []
    for dataset in material.datasets:
        part = chosen[chosen["dataset"] == dataset].set_index(["scenario", "selector"])
        cells = [material.dataset_label(dataset), number(part["n_original"].max(), 0)]
        for scenario in scenarios:
            cells += [_count(part, (scenario, selector)) for selector in own]
            cells.append(number(printed[scenario].get(dataset), 0, ""))
        rows.append(tuple(cells))
    names = [*map(selector_label, own), "paper"]
    columns = [f"{SCENARIO_LABELS[s]}: {name}" for s in scenarios for name in names]
    yield Table(
        name="counts",
        title="Columns that AutoNFS keeps, ours and the paper's",
        data=chosen,
        header=("table", "original", *columns),
        rows=tuple(rows),
        notes=("Mean ± standard deviation over seeds.",),
    )


def _count(part: pd.DataFrame, key: tuple[str, str]) -> str:
    if key not in part.index:
        return MISSING
    cell = part.loc[key]
    return with_deviation(cell["n_kept_mean"], cell["n_kept_std"], 1)


def missing_tables(material: ReportData) -> Iterator[Table]:
    """Yield the cells of which not all runs are done, and why."""
    gaps = _stacked([_unfinished_runs(material), _without_record(material)])
    if gaps.empty:
        return
    done = [
        f"{n_done} of {n_runs}" if n_runs else "0"
        for n_done, n_runs in zip(gaps["n_done"], gaps["n_runs"], strict=True)
    ]
    # Tables that lack the same for the same reason share a line.
    alike = ["experiment", "scenario", "selector", "downstream", "why", "done"]
    lines = gaps.assign(done=done).groupby(alike, sort=False)["dataset"].agg(list)
    columns = {
        "experiment": "{0[experiment]}".format,
        "scenario": scenario_cell,
        "tables": lambda row: ", ".join(map(material.dataset_label, row["dataset"])),
        "selector": selector_cell,
        "downstream": "{0[downstream]}".format,
        "why": lambda row: _cut(row["why"]),
        "runs done": "{0[done]}".format,
    }
    yield table_of(
        lines.reset_index(),
        columns,
        name="missing",
        title="Runs without a result",
        data=gaps,
        n_text_columns=6,
    )


def _stacked(parts: list[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all parts; empty ones have no say in the types (pandas 2)."""
    return pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)


def _unfinished_runs(material: ReportData) -> pd.DataFrame:
    """Return the cells with a record of runs that did not end well."""
    every = _stacked(
        [
            analysis.summarize_cells(material.runs, experiment).assign(
                experiment=experiment
            )
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
    table = pd.DataFrame(cells, columns=["dataset", "scenario", "selector"])
    return analysis.in_order(table).assign(
        experiment="benchmark",
        downstream=material.downstream,
        n_runs=0,
        n_done=0,
        why="no record",
    )


def _cut(text: str) -> str:
    text = " ".join(text.split())
    if len(text) <= _REASON_WIDTH:
        return text
    return f"{text[: _REASON_WIDTH - 2].rstrip()} …"
