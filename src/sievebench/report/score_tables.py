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
from sievebench.report.paper import paper_counts
from sievebench.report.report_data import ReportData
from sievebench.report.tables import (
    MISSING,
    Columns,
    Table,
    best_cells,
    number,
    tables_of,
    with_deviation,
)
from sievebench.run_spec import PURPOSES

_DECIMALS = 3
_REASON_WIDTH = 240
_OVERVIEW: Columns = {
    "selector": "{selector:selector}",
    "mean rank": "{rank:.2}",
    "best or tied": "{n_best} of {n_datasets}",
    "kept / original": "{kept_share:.2}",
    "added among kept": "{misselected:.3}",
    "seconds": "{seconds:.1}",
    "missing": "{n_missing}",
}


def overview_tables(results: ReportData) -> Iterator[Table]:
    """Yield one table a scenario: each selector in one line."""
    data = analysis.overview(results.runs, results.downstream)
    for scenario in results.scenarios:
        part = data[data["scenario"] == scenario]
        yield from tables_of(
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
                *results.unranked_note([scenario]),
            ),
        )


def score_tables(results: ReportData) -> Iterator[Table]:
    """Yield one table a scenario: selectors × tables, and the mean rank."""
    for scenario in results.scenarios:
        yield scores_of_scenario(
            results,
            scenario,
            name=f"scores-{scenario}",
            title=f"{scenario_title(scenario)}: scores",
            about=_score_note(results, scenario),
        )


def scores_of_scenario(
    results: ReportData, scenario: str, *, name: str, title: str, about: str
) -> Table:
    """Return the scores of one scenario, and the mean ranks they give."""
    means = results.wide(scenario)
    deviations = results.wide(scenario, "score_std")
    ranks = analysis.mean_ranks(results.ranked(scenario))["rank"]
    rows = []
    for selector in means.index:
        pairs = zip(means.loc[selector], deviations.loc[selector], strict=True)
        scores = [with_deviation(mean, std, _DECIMALS) for mean, std in pairs]
        rows.append((selector_label(selector), *scores, number(ranks[selector], 1)))
    labels = map(results.dataset_label, means.columns)
    return Table(
        name=name,
        title=title,
        data=results.cells_of(scenario),
        header=("selector", *labels, "rank"),
        rows=tuple(rows),
        bold=best_cells(means, _DECIMALS)
        | best_cells(-ranks.to_frame(), 1, first_column=1 + means.shape[1]),
        notes=(
            about,
            "Rank: mean over the tables, the paper's rule.",
            *results.unranked_note([scenario]),
        ),
    )


def _score_note(results: ReportData, scenario: str) -> str:
    runs = results.runs
    chosen = runs[(runs["experiment"] == "benchmark") & (runs["scenario"] == scenario)]
    metrics = chosen.groupby("metric", sort=True)["dataset"].unique()
    parts = [
        f"{METRIC_LABELS.get(str(metric), metric)} "
        f"({', '.join(map(results.dataset_label, names))})"
        for metric, names in metrics.items()
        if metric
    ]
    seeds = chosen.groupby(["dataset", "scenario", "selector", "downstream"]).size()
    what = f"Test score, larger is better: {'; '.join(parts)}." if parts else ""
    spread = f"Mean ± standard deviation over seeds, up to {seeds.max()} of them."
    return f"{what} {spread}".strip()


def count_tables(results: ReportData) -> Iterator[Table]:
    """Yield how many columns AutoNFS keeps, ours and the paper's."""
    scenarios, own = results.paper_scenarios, results.own_selectors
    chosen = results.scored[
        results.scored["selector"].isin(own)
        & results.scored["scenario"].isin(scenarios)
    ]
    if chosen.empty:
        return
    printed = paper_counts()
    rows = []
    for dataset in results.datasets:
        part = chosen[chosen["dataset"] == dataset].set_index(["scenario", "selector"])
        cells = [results.dataset_label(dataset), number(part["n_original"].max(), 0)]
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


def missing_tables(results: ReportData) -> Iterator[Table]:
    """Yield the cells of which not all runs are done, and why."""
    gaps = analysis.stacked([_unfinished_runs(results), _without_record(results)])
    done = gaps["n_done"].astype(str) + " of " + gaps["n_runs"].astype(str)
    done = done.where(gaps["n_runs"] > 0, "0")
    # Tables that lack the same for the same reason share a line.
    alike = ["experiment", "scenario", "selector", "downstream", "why", "done"]
    lines = gaps.assign(done=done).groupby(alike, sort=False)["dataset"].agg(list)
    columns: Columns = {
        "experiment": "{experiment}",
        "scenario": "{scenario:scenario}",
        "tables": lambda row: ", ".join(map(results.dataset_label, row["dataset"])),
        "selector": "{selector:selector}",
        "downstream": "{downstream}",
        "why": lambda row: _cut(row["why"]),
        "runs done": "{done}",
    }
    yield from tables_of(
        lines.reset_index(),
        columns,
        name="missing",
        title="Runs without a result",
        data=gaps,
        n_text_columns=6,
    )


def _unfinished_runs(results: ReportData) -> pd.DataFrame:
    """Return the cells with a record of runs that did not end well."""
    every = [
        analysis.summarize_cells(results.runs, purpose).assign(experiment=purpose)
        for purpose in PURPOSES
    ]
    gaps = analysis.stacked(every).query("n_done < n_runs")
    key = ["experiment", "dataset", "scenario", "selector", "downstream"]
    runs = results.runs[results.runs["status"] != "done"].drop_duplicates(key)
    why = (runs["status"] + ": " + runs["reason"]).str.rstrip(": ")
    return gaps.join(runs[key].assign(why=why).set_index(key), on=key)


def _without_record(results: ReportData) -> pd.DataFrame:
    """Return the cells of the benchmark that nobody has run."""
    cells = [
        (dataset, scenario, selector)
        for scenario in results.scenarios
        for dataset, selectors in results.unfinished(scenario).items()
        for selector in selectors
    ]
    table = pd.DataFrame(cells, columns=["dataset", "scenario", "selector"])
    return analysis.in_order(table).assign(
        experiment="benchmark",
        downstream=results.downstream,
        n_runs=0,
        n_done=0,
        why="no record",
    )


def _cut(text: str) -> str:
    text = " ".join(text.split())
    if len(text) <= _REASON_WIDTH:
        return text
    return f"{text[: _REASON_WIDTH - 2].rstrip()} …"
