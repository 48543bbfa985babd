"""Tables of ranks: ours and the paper's, and whether the selectors differ."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sievebench import analysis
from sievebench.labels import SCENARIO_LABELS, scenario_title, selector_label
from sievebench.report.finding import with_interval
from sievebench.report.material import ReportData
from sievebench.report.paper import paper_ranks, paper_scores
from sievebench.report.score_tables import scores_of_scenario
from sievebench.report.tables import (
    MISSING,
    Table,
    best_cells,
    decimals,
    number,
    probability,
    scenario_cell,
    table_of,
)

_SAME_TABLES = "paper, same tables"
_SHARED = (
    "What each selector kept in the benchmark, predicted from by the same predictors "
    "for all selectors of a table and scenario: those that did best on its validation "
    "rows, of the searches that the experiment's file allows (not_from). A score is "
    "the mean over predictors, then over seeds."
)
_FRIEDMAN = {
    "scenario": scenario_cell,
    "complete over": "{0[cases]}".format,
    "best": lambda row: selector_label(row["best"]),
    "selectors": "{0[n_selectors]}".format,
    "tables": "{0[n_datasets]}".format,
    "χ²": decimals("chi_square", 1),
    "p": lambda row: probability(row["p_value"]),
    "F": decimals("f_statistic", 1),
    "p of F": lambda row: probability(row["f_p_value"]),
    "critical difference": decimals("critical_difference", 2),
    "like the best": "{0[n_like_best]}".format,
}

_MARGIN_COLUMNS = {
    "": "rank",
    ": low": "low",
    ": high": "high",
    ": best other": "best_other",
    ": ahead by": "margin",
    ": ahead by, low": "margin_low",
    ": ahead by, high": "margin_high",
}
Columns = dict[tuple[str, str], Any]  # by scenario and what the ranks are


def rank_tables(material: ReportData) -> Iterator[Table]:
    """Yield the mean ranks: ours by both rules, and the paper's."""
    scenarios = material.paper_scenarios
    if not scenarios:
        return
    theirs = paper_ranks()
    columns: Columns = {}
    for scenario in scenarios:
        scores = material.ranked(scenario)
        ours = analysis.mean_ranks(scores)
        names = [name.partition(":")[0] for name in ours.index]  # variants included
        printed = paper_scores(scenario)
        same = printed[[d for d in scores.columns if d in printed.columns]]
        again = analysis.rank_scores(same).mean(axis=1)
        columns[scenario, "ours"] = ours["rank"]
        columns[scenario, "complete"] = ours["rank_complete"]
        columns[scenario, _SAME_TABLES] = again.reindex(names).set_axis(ours.index)
        columns[scenario, "paper"] = (
            theirs[scenario].reindex(names).set_axis(ours.index)
        )
    yield _side_by_side(
        columns,
        material.selectors,
        name="ranks",
        title="Mean ranks, ours and the paper's",
        notes=(*_rank_notes(material), *_order_note(columns, scenarios)),
    )
    yield from _variant_ranks(material, "ranks-variants", "")


def shared_tables(material: ReportData) -> Iterator[Table]:
    """Yield ranks and scores with the same predictors for all selectors."""
    shared = material.shared
    if not shared.scenarios:
        return
    columns: Columns = {}
    for scenario in shared.scenarios:
        scores = shared.ranked(scenario)
        columns[scenario, "same predictors"] = analysis.mean_ranks(scores)["rank"]
        if scenario in material.scenarios:
            tuned = material.wide(scenario).reindex_like(scores)
            columns[scenario, "own search"] = analysis.mean_ranks(tuned)["rank"]
    yield _side_by_side(
        columns,
        shared.selectors,
        name="ranks-shared",
        title="Mean ranks with the same predictors for all",
        notes=(
            _SHARED,
            "own search: as in the benchmark, each selector with the predictor that "
            "was found for it, on the same tables.",
            *shared.unranked_note(shared.scenarios),
        ),
    )
    yield from _variant_ranks(shared, "ranks-shared-variants", ", same predictors")
    for scenario in shared.scenarios:
        yield scores_of_scenario(
            shared,
            scenario,
            name=f"scores-shared-{scenario}",
            title=f"{scenario_title(scenario)}: scores with the same predictors",
            about=_SHARED,
        )


def _side_by_side(columns: Columns, selectors: Sequence[str], **about: Any) -> Table:
    """Return several mean ranks of each selector; the paper does not have all."""
    wide = pd.DataFrame(columns, index=selectors)
    rows = [
        (
            selector_label(selector),
            *(
                number(value, 1, "" if what.startswith("paper") else MISSING)
                for (_, what), value in ranks.items()
            ),
        )
        for selector, ranks in wide.iterrows()
    ]
    data = wide.set_axis([f"{s}: {what}" for s, what in wide.columns], axis=1)
    return Table(
        data=data.rename_axis("selector").reset_index(),
        header=("selector", *(f"{SCENARIO_LABELS[s]}: {w}" for s, w in columns)),
        rows=tuple(rows),
        bold=best_cells(-wide, 1),
        **about,
    )


def _rank_notes(material: ReportData) -> tuple[str, ...]:
    """Return what the four columns of a scenario are."""
    parts = []
    for scenario in material.paper_scenarios:
        ranks = analysis.mean_ranks(material.ranked(scenario))
        n_complete, n_all = ranks["n_complete"].max(), ranks["n_datasets"].max()
        parts.append(f"{SCENARIO_LABELS[scenario]} {n_complete} of {n_all}")
    return (
        "ours: ranked by the score with three decimals, ties share the mean, a missing "
        "score gets the last rank.",
        "complete: only tables on which every selector has a score ("
        f"{', '.join(parts)}).",
        "paper, same tables: its rule on its printed scores, only the tables at hand; "
        "paper: as printed, 14 selectors on 11 tables.",
        *material.unranked_note(material.paper_scenarios),
    )


def _order_note(columns: Columns, scenarios: list[str]) -> tuple[str, ...]:
    """Return how alike the orders of the selectors are, those without variants."""
    parts = []
    for scenario in scenarios:
        pair = pd.DataFrame(
            {what: columns[scenario, what] for what in ("ours", _SAME_TABLES)}
        ).dropna()
        pair = pair[~pair.index.str.contains(":")]
        if len(pair) > 2 and (pair.nunique() > 1).all():
            correlation = pair.rank().corr().iloc[0, 1]
            parts.append(f"{SCENARIO_LABELS[scenario]} {number(correlation, 2)}")
    if not parts:
        return ()
    return (
        "Order of the selectors without variants, ours and the paper's on the same "
        f"tables, Spearman's correlation: {', '.join(parts)}.",
    )


def _variant_ranks(material: ReportData, name: str, addition: str) -> Iterator[Table]:
    """Yield the ranks of each variant without its sisters, if there are variants."""
    parts = {
        s: analysis.ranks_by_variant(material.ranked(s)) for s in material.scenarios
    }
    names = [
        n for n in material.selectors if any(n in p.columns for p in parts.values())
    ]
    if not names:
        return
    columns: dict[str, list[float | str]] = {}
    printed: dict[str, list[str]] = {"selector": [selector_label(n) for n in names]}
    for scenario, part in parts.items():
        found = {
            n: analysis.rank_margin(
                analysis.without_sisters(material.ranked(scenario), n), n
            )
            for n in names
            # Sisters have no rank in the field of a variant; without tables nobody has.
            if n in part.columns and part[n].drop(n).notna().any()
        }
        label = SCENARIO_LABELS[scenario]
        for ending, key in _MARGIN_COLUMNS.items():
            nothing = "" if key == "best_other" else np.nan
            columns[f"{scenario}{ending}"] = [
                found[n][key] if n in found else nothing for n in names
            ]
        rows = [
            _margin_cells(found[n]) if n in found else (MISSING,) * 3 for n in names
        ]
        for k, what in enumerate(("", ": best other", ": ahead by")):
            printed[f"{label}{what}"] = [row[k] for row in rows]
    yield Table(
        name=name,
        title=f"Mean rank of each variant in a field without its sisters{addition}",
        data=pd.DataFrame({"selector": names, **columns}),
        header=tuple(printed),
        rows=tuple(zip(*printed.values(), strict=True)),
        notes=(
            "best other: in the same field, and its mean rank; ahead by: its mean rank "
            "less that of the variant. In brackets 95 % intervals, bootstrap over the "
            "tables, the best other chosen in each draw.",
        ),
    )


def _margin_cells(found: dict[str, Any]) -> tuple[str, str, str]:
    best = f"{selector_label(found['best_other'])} {number(found['rank_other'], 2)}"
    return (
        with_interval(found["rank"], (found["low"], found["high"]), 2),
        best,
        with_interval(
            found["margin"], (found["margin_low"], found["margin_high"]), 2, True
        ),
    )


def friedman_tables(material: ReportData) -> Iterator[Table]:
    """Yield whether the selectors differ, over both kinds of complete cases."""
    kinds = {
        "all selectors": analysis.complete_datasets,
        "all tables": analysis.complete_selectors,
    }
    parts = []
    for scenario in material.scenarios:
        for cases, choose in kinds.items():
            ranks = analysis.rank_scores(choose(material.ranked(scenario)))
            if min(ranks.shape) < 2:
                continue
            difference = analysis.critical_difference(*ranks.shape)
            means = ranks.mean(axis=1)
            best = means.sort_values(kind="stable").index[0]
            groups = analysis.groups_alike(means, difference)
            n_like_best = len(groups[0]) - 1 if groups and best in groups[0] else 0
            parts.append(
                analysis.friedman_test(ranks).assign(
                    scenario=scenario,
                    cases=cases,
                    critical_difference=difference,
                    best=best,
                    n_like_best=n_like_best,
                )
            )
    if not parts:
        return
    yield table_of(
        pd.concat(parts, ignore_index=True),
        _FRIEDMAN,
        name="friedman",
        title="Do the selectors differ? Friedman and Nemenyi, 0.05",
        n_text_columns=3,
        notes=(
            "all selectors: only tables on which each has a score; all tables: "
            "only selectors that have a score on each. F: Iman and Davenport. like "
            "the best: selectors that Nemenyi's test cannot tell from the best.",
        ),
    )
