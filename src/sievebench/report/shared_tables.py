"""Tables of the shared experiment: all selectors judged by the same predictors."""

from dataclasses import replace
from typing import Any

import pandas as pd

from sievebench.analysis import mean_ranks, summarize_cells
from sievebench.labels import SCENARIO_LABELS, scenario_title, selector_label
from sievebench.report.material import Material
from sievebench.report.rank_tables import variant_ranks
from sievebench.report.tables import Table, best_rows, number, with_deviation

_NOTE = (
    "What each selector kept in the benchmark, predicted from by the same predictors "
    "for all selectors of a table: those whose search did best on its validation rows. "
    "A score is the mean over predictors, then over seeds."
)


def shared_tables(material: Material) -> list[Table]:
    """Return ranks and scores with the same predictors for all selectors.

    Parameters
    ----------
    material : Material
        As `gather` returns it.

    Returns
    -------
    list of Table
    """
    shared = replace(material, cells=summarize_cells(material.runs, "shared"))
    if not shared.scenarios:
        return []
    return [
        _ranks(shared, material),
        *variant_ranks(shared, "ranks-shared-variants", ", same predictors"),
        *(_scores(shared, scenario) for scenario in shared.scenarios),
    ]


def _ranks(shared: Material, material: Material) -> Table:
    """Return mean ranks, beside those with a predictor of one's own."""
    columns: dict[tuple[str, str], Any] = {}
    for scenario in shared.scenarios:
        scores = shared.ranked(scenario)
        columns[scenario, "same predictors"] = mean_ranks(scores)["rank"]
        if scenario not in material.scenarios:
            continue
        tuned = material.wide(scenario).reindex(scores.index)
        known = [name for name in scores.columns if name in tuned.columns]
        columns[scenario, "own search"] = mean_ranks(tuned[known])["rank"]
    wide = pd.DataFrame(columns, index=shared.selectors)
    rows = [
        (selector_label(selector), *(number(value, 1) for value in wide.loc[selector]))
        for selector in wide.index
    ]
    bold = {
        (i, j + 1) for j in range(wide.shape[1]) for i in best_rows(-wide.iloc[:, j], 1)
    }
    data = wide.set_axis([f"{s}: {what}" for s, what in wide.columns], axis=1)
    return Table(
        name="ranks-shared",
        title="Mean ranks with the same predictors for all",
        data=data.rename_axis("selector").reset_index(),
        header=("selector", *(f"{SCENARIO_LABELS[s]}: {w}" for s, w in columns)),
        rows=tuple(rows),
        bold=frozenset(bold),
        notes=(
            _NOTE,
            "own search: as in the benchmark, each selector with the predictor that "
            "was found for it, on the same tables.",
            *shared.unranked_note(shared.scenarios),
        ),
    )


def _scores(shared: Material, scenario: str) -> Table:
    """Return the scores of one scenario."""
    means = shared.wide(scenario)
    deviations = shared.wide(scenario, "score_std")
    rows = [
        (
            selector_label(selector),
            *(
                with_deviation(means.loc[selector, d], deviations.loc[selector, d], 3)
                for d in means.columns
            ),
        )
        for selector in means.index
    ]
    is_chosen = shared.cells["scenario"] == scenario
    is_chosen &= shared.cells["downstream"] == shared.downstream
    return Table(
        name=f"scores-shared-{scenario}",
        title=f"{scenario_title(scenario)}: scores with the same predictors",
        data=shared.cells[is_chosen],
        header=("selector", *map(shared.dataset_label, means.columns)),
        rows=tuple(rows),
        bold=frozenset(
            (i, j + 1)
            for j, dataset in enumerate(means.columns)
            for i in best_rows(means[dataset], 3)
        ),
        notes=(_NOTE,),
    )
