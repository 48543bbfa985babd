"""Tables of ranks, ours and the paper's, and of pairs: whether selectors differ."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from sievebench import analysis
from sievebench.labels import SCENARIO_LABELS, scenario_title, selector_label
from sievebench.report.paper import paper_ranks, paper_scores
from sievebench.report.report_data import ReportData
from sievebench.report.score_tables import scores_of_scenario
from sievebench.report.tables import (
    MISSING,
    Cell,
    Columns,
    Table,
    best_cells,
    interval,
    number,
    tables_of,
)

_SAME_TABLES = "paper, same tables"
_SHARED = (
    "What each selector kept in the benchmark, predicted from by the same predictors "
    "for all selectors of a table and scenario: those that did best on its validation "
    "rows, of the searches that the experiment's file allows (not_from). A score is "
    "the mean over predictors, then over seeds."
)
_FRIEDMAN: Columns = {
    "scenario": "{scenario:scenario}",
    "complete over": "{cases}",
    "best": "{best:selector}",
    "selectors": "{n_selectors}",
    "tables": "{n_datasets}",
    "χ²": "{chi_square:.1}",
    "p": "{p_value:p}",
    "F": "{f_statistic:.1}",
    "p of F": "{f_p_value:p}",
    "critical difference": "{critical_difference:.2}",
    "like the best": "{n_like_best}",
}

# What `rank_margin` says -> how the columns of a scenario go on.
_MARGINS = {
    **{"rank": "", "low": ": low", "high": ": high", "best_other": ": best other"},
    **{"margin": ": ahead by", "margin_low": ": ahead by, low"},
    **{"margin_high": ": ahead by, high", "rank_other": ": rank of the other"},
}
Ranks = dict[tuple[str, str], Any]  # by scenario and what the ranks are


def rank_tables(results: ReportData) -> Iterator[Table]:
    """Yield the mean ranks: ours by both rules, and the paper's."""
    scenarios = results.paper_scenarios
    if not scenarios:
        return
    theirs, whole = paper_ranks(), []
    columns: Ranks = {}
    for scenario in scenarios:
        scores = results.ranked(scenario)
        ours = analysis.mean_ranks(scores)
        names = [name.partition(":")[0] for name in ours.index]  # variants included
        printed = paper_scores(scenario)
        same = printed[[d for d in scores.columns if d in printed.columns]]
        again = analysis.rank_scores(same).mean(axis=1)
        counts = f"{ours['n_complete'].max()} of {ours['n_datasets'].max()}"
        whole.append(f"{SCENARIO_LABELS[scenario]} {counts}")
        columns[scenario, "ours"] = ours["rank"]
        columns[scenario, "complete"] = ours["rank_complete"]
        columns[scenario, _SAME_TABLES] = again.reindex(names).set_axis(ours.index)
        columns[scenario, "paper"] = (
            theirs[scenario].reindex(names).set_axis(ours.index)
        )
    yield _side_by_side(
        columns,
        results.selectors,
        name="ranks",
        title="Mean ranks, ours and the paper's",
        notes=(*_rank_notes(results, whole), *_order_note(columns, scenarios)),
    )
    yield from _variant_ranks(results, "ranks-variants", "")


def shared_tables(results: ReportData) -> Iterator[Table]:
    """Yield ranks and scores with the same predictors for all selectors."""
    shared = results.shared
    if not shared.scenarios:
        return
    columns: Ranks = {}
    for scenario in shared.scenarios:
        scores = shared.ranked(scenario)
        columns[scenario, "same predictors"] = analysis.mean_ranks(scores)["rank"]
        if scenario in results.scenarios:
            tuned = results.wide(scenario).reindex_like(scores)
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


def _side_by_side(columns: Ranks, selectors: Sequence[str], **about: Any) -> Table:
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


def _rank_notes(results: ReportData, whole: list[str]) -> tuple[str, ...]:
    """Return what the four columns of a scenario are."""
    return (
        "ours: ranked by the score with three decimals, ties share the mean, a missing "
        "score gets the last rank.",
        "complete: only tables on which every selector has a score ("
        f"{', '.join(whole)}).",
        "paper, same tables: its rule on its printed scores, only the tables at hand; "
        "paper: as printed, 14 selectors on 11 tables.",
        *results.unranked_note(results.paper_scenarios),
    )


def _order_note(columns: Ranks, scenarios: list[str]) -> tuple[str, ...]:
    """Return how alike the orders of the selectors are, those without variants."""
    parts = []
    for scenario in scenarios:
        pair = pd.DataFrame(columns)[scenario][["ours", _SAME_TABLES]].dropna()
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


def _variant_ranks(results: ReportData, name: str, addition: str) -> Iterator[Table]:
    """Yield the ranks of each variant without its sisters, if there are variants."""
    lines: dict[str, dict[str, Any]] = {}
    for scenario in results.scenarios:
        scores = results.ranked(scenario)
        for variant in scores.index:
            field = analysis.without_sisters(scores, variant)
            if len(field) == len(scores):
                continue
            line = lines.setdefault(variant, {"selector": variant})
            if len(field) > 1 and field.shape[1]:
                found = analysis.rank_margin(field, variant)
                line |= {scenario + _MARGINS[what]: found[what] for what in _MARGINS}
    columns: dict[str, Cell] = {"selector": "{selector:selector}"}
    for s in results.scenarios:
        ahead = (f"{s}: ahead by", 2, f"{s}: ahead by, low", f"{s}: ahead by, high")
        columns[SCENARIO_LABELS[s]] = interval(s, 2, f"{s}: low", f"{s}: high")
        columns[f"{SCENARIO_LABELS[s]}: best other"] = _best_other(s)
        columns[f"{SCENARIO_LABELS[s]}: ahead by"] = interval(*ahead, is_signed=True)
    table = pd.DataFrame(
        [lines[name] for name in results.selectors if name in lines],
        columns=[
            "selector",
            *(s + w for s in results.scenarios for w in _MARGINS.values()),
        ],
    )
    others = [f"{s}: rank of the other" for s in results.scenarios]
    yield from tables_of(
        table,
        columns,
        data=table.drop(columns=others),
        name=name,
        title=f"Mean rank of each variant in a field without its sisters{addition}",
        notes=(
            "best other: in the same field, and its mean rank; ahead by: its mean rank "
            "less that of the variant. In brackets 95 % intervals, bootstrap over the "
            "tables, the best other chosen in each draw.",
        ),
    )


def _best_other(scenario: str) -> Cell:
    name, rank = f"{scenario}: best other", f"{scenario}: rank of the other"
    return lambda row: (
        MISSING
        if pd.isna(row[name])
        else f"{selector_label(row[name])} {number(row[rank], 2)}"
    )


def friedman_tables(results: ReportData) -> Iterator[Table]:
    """Yield whether the selectors differ, over both kinds of complete cases."""
    kinds = {
        "all selectors": analysis.complete_datasets,
        "all tables": analysis.complete_selectors,
    }
    parts = []
    for scenario in results.scenarios:
        for cases, choose in kinds.items():
            ranks = analysis.rank_scores(choose(results.ranked(scenario)))
            if min(ranks.shape) < 2:
                continue
            difference = analysis.critical_difference(*ranks.shape)
            means = ranks.mean(axis=1)
            groups = analysis.groups_alike(means, difference)
            has_group = bool(groups) and means.idxmin() in groups[0]
            parts.append(
                analysis.friedman_test(ranks).assign(
                    scenario=scenario,
                    cases=cases,
                    critical_difference=difference,
                    best=means.idxmin(),
                    n_like_best=len(groups[0]) - 1 if has_group else 0,
                )
            )
    yield from tables_of(
        analysis.stacked(parts),
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


VERSUS: Columns = {
    "scenario": "{scenario:scenario}",
    "selector": "{selector:selector}",
    "better": "{n_better}",
    "equal": "{n_equal}",
    "worse": "{n_worse}",
    "mean difference": interval("mean_difference", 3, is_signed=True),
    "p": "{p:p?–}",
    "p, Holm": "{p_holm:p?–}",
    "by the test": "{verdict}",
}
TESTS_NOTE = (
    "mean difference over the tables with its 95 % interval (bootstrap over the "
    "tables, not corrected for the number of selectors; none for fewer than three "
    "tables); p: Wilcoxon's signed ranks, all signs tried, none for fewer than five "
    "differences; Holm: corrected for the selectors of a scenario; by the test: at "
    "0.05."
)


def versus_tables(results: ReportData) -> Iterator[Table]:
    """Yield AutoNFS beside each other selector: wins, differences, tests."""
    for kind, about, field in (
        ("", "each with its own search", results),
        ("shared-", "same predictors", results.shared),
    ):
        for reference in field.own_selectors:
            data, label = beside_others(field, reference), selector_label(reference)
            if data.empty:
                continue
            yield from tables_of(
                data,
                VERSUS,
                name=f"versus-{kind}{reference.replace(':', '-')}",
                title=f"{label} beside each other selector, {about}",
                n_text_columns=2,
                notes=(
                    f"Tables on which {label} is better, equal or worse by the score "
                    "with three decimals, without its sisters.",
                    TESTS_NOTE,
                    power_note(data),
                ),
            )


def beside_others(field: ReportData, reference: str) -> pd.DataFrame:
    """Return what `compare_with` says in each scenario; empty if it says nothing."""
    parts = []
    for scenario in field.scenarios:
        scores = field.ranked(scenario)
        rivals = analysis.without_sisters(scores, reference)
        if reference in scores.index and len(rivals) > 1 and scores.shape[1]:
            part = analysis.compare_with(scores, reference).reset_index()
            parts.append(part.assign(scenario=scenario))
    return analysis.stacked(parts)


def power_note(compared: pd.DataFrame) -> str:
    """Say what the test can tell at best, with so many tables and selectors."""
    wins = compared[["n_better", "n_equal", "n_worse"]].sum(axis=1)
    n_tables = int(wins.max())
    n_others = compared["selector"].nunique()
    least = min(1.0, n_others * 2.0 ** (1 - n_tables))
    return (
        f"With {n_tables} tables and {n_others} others the least corrected p there "
        f"can be is {number(least, 3)}"
        + (": the test can tell nothing apart." if least > 0.05 else ".")
    )
