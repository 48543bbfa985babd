"""Tables of the shared experiment: all selectors judged by the same predictors."""

from dataclasses import replace
from typing import Any

from sievebench.analysis import mean_ranks, summarize_cells
from sievebench.labels import scenario_title
from sievebench.report.material import ReportData
from sievebench.report.rank_tables import ranks_side_by_side, variant_ranks
from sievebench.report.score_tables import scores_of_scenario
from sievebench.report.tables import Table

_ABOUT = (
    "What each selector kept in the benchmark, predicted from by the same predictors "
    "for all selectors of a table and scenario: those that did best on its validation "
    "rows, of the searches that the experiment's file allows (not_from). A score is "
    "the mean over predictors, then over seeds."
)


def shared_tables(material: ReportData) -> list[Table]:
    """Return ranks and scores with the same predictors for all selectors."""
    shared = replace(material, cells=summarize_cells(material.runs, "shared"))
    if not shared.scenarios:
        return []
    return [
        _ranks(shared, material),
        *variant_ranks(shared, "ranks-shared-variants", ", same predictors"),
        *(
            scores_of_scenario(
                shared,
                scenario,
                name=f"scores-shared-{scenario}",
                title=f"{scenario_title(scenario)}: scores with the same predictors",
                about=_ABOUT,
            )
            for scenario in shared.scenarios
        ),
    ]


def _ranks(shared: ReportData, material: ReportData) -> Table:
    """Return mean ranks, beside those with a predictor of one's own."""
    columns: dict[tuple[str, str], Any] = {}
    for scenario in shared.scenarios:
        scores = shared.ranked(scenario)
        columns[scenario, "same predictors"] = mean_ranks(scores)["rank"]
        if scenario in material.scenarios:
            tuned = material.wide(scenario).reindex(
                index=scores.index, columns=scores.columns
            )
            columns[scenario, "own search"] = mean_ranks(tuned)["rank"]
    return ranks_side_by_side(
        columns,
        shared.selectors,
        name="ranks-shared",
        title="Mean ranks with the same predictors for all",
        notes=(
            _ABOUT,
            "own search: as in the benchmark, each selector with the predictor that "
            "was found for it, on the same tables.",
            *shared.unranked_note(shared.scenarios),
        ),
    )
