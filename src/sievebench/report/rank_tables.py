"""Tables of ranks: ours and the paper's, and whether the selectors differ."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sievebench.analysis import (
    complete_datasets,
    complete_selectors,
    critical_difference,
    friedman_test,
    groups_alike,
    mean_ranks,
    rank_scores,
    ranks_by_variant,
)
from sievebench.labels import SCENARIO_LABELS, selector_label
from sievebench.report.material import PAPER_SCENARIOS, ReportData, scenario_labels
from sievebench.report.paper import paper_ranks, paper_scores
from sievebench.report.tables import MISSING, Table, best_rows, number


def rank_tables(material: ReportData) -> list[Table]:
    """Return the mean ranks: ours by both rules, and the paper's."""
    scenarios = [s for s in material.scenarios if s in PAPER_SCENARIOS]
    if not scenarios:
        return []
    theirs = paper_ranks()
    columns: dict[tuple[str, str], Any] = {}
    for scenario in scenarios:
        scores = material.ranked(scenario)
        ours = mean_ranks(scores)
        printed = paper_scores(scenario)
        same = [d for d in scores.columns if d in printed.columns]
        columns[scenario, "ours"] = ours["rank"]
        columns[scenario, "complete"] = ours["rank_complete"]
        columns[scenario, "paper, same tables"] = _by_selector(
            rank_scores(printed[same]).mean(axis=1), ours.index
        )
        columns[scenario, "paper"] = _by_selector(theirs[scenario], ours.index)
    notes = (*_rank_notes(material, scenarios), *_order_note(columns, scenarios))
    return [
        ranks_side_by_side(
            columns,
            material.selectors,
            name="ranks",
            title="Mean ranks, ours and the paper's",
            notes=notes,
        ),
        *variant_ranks(material, "ranks-variants", ""),
    ]


def ranks_side_by_side(
    columns: Mapping[tuple[str, str], Any],
    selectors: Sequence[str],
    *,
    name: str,
    title: str,
    notes: tuple[str, ...],
) -> Table:
    """Return several mean ranks of each selector."""
    wide = pd.DataFrame(columns, index=selectors)
    rows = [
        (
            selector_label(selector),
            *(
                "" if what.startswith("paper") and np.isnan(value) else number(value, 1)
                for (_, what), value in wide.loc[selector].items()
            ),
        )
        for selector in wide.index
    ]
    bold = {
        (i, j + 1) for j in range(wide.shape[1]) for i in best_rows(-wide.iloc[:, j], 1)
    }
    data = wide.set_axis([f"{s}: {what}" for s, what in wide.columns], axis=1)
    return Table(
        name=name,
        title=title,
        data=data.rename_axis("selector").reset_index(),
        header=("selector", *(f"{SCENARIO_LABELS[s]}: {w}" for s, w in columns)),
        rows=tuple(rows),
        bold=frozenset(bold),
        notes=notes,
    )


def _rank_notes(material: ReportData, scenarios: list[str]) -> tuple[str, ...]:
    """Return what the four columns of a scenario are."""
    parts = []
    for scenario, label in zip(scenarios, scenario_labels(scenarios), strict=True):
        ranks = mean_ranks(material.ranked(scenario))
        n_complete, n_all = ranks["n_complete"].max(), ranks["n_datasets"].max()
        parts.append(f"{label} {n_complete} of {n_all}")
    return (
        "ours: ranked by the score with three decimals, ties share the mean, a missing "
        "score gets the last rank.",
        "complete: only tables on which every selector has a score ("
        + ", ".join(parts)
        + ").",
        "paper, same tables: its rule on its printed scores, only the tables at hand; "
        "paper: as printed, 14 selectors on 11 tables.",
        *material.unranked_note(scenarios),
    )


def _order_note(
    columns: Mapping[tuple[str, str], Any], scenarios: list[str]
) -> tuple[str, ...]:
    """Return how alike the orders of the selectors are, those without variants."""
    parts = []
    for scenario, label in zip(scenarios, scenario_labels(scenarios), strict=True):
        pair = pd.DataFrame(
            {what: columns[scenario, what] for what in ("ours", "paper, same tables")}
        )
        alone = [name for name in pair.index if ":" not in name]
        pair = pair.loc[alone].dropna()
        if len(pair) > 2 and (pair.nunique() > 1).all():
            ours, theirs = (rank for _, rank in pair.rank().items())
            parts.append(f"{label} {number(ours.corr(theirs), 2)}")
    if not parts:
        return ()
    return (
        "Order of the selectors without variants, ours and the paper's on the same "
        "tables, Spearman's correlation: " + ", ".join(parts) + ".",
    )


def variant_ranks(material: ReportData, name: str, addition: str) -> list[Table]:
    """Return the ranks of each variant without its sisters."""
    parts = {s: ranks_by_variant(material.ranked(s)) for s in material.scenarios}
    names = [
        n for n in material.selectors if any(n in p.columns for p in parts.values())
    ]
    if not names:
        return []
    columns: dict[str, list[float | str]] = {}
    rows = [[selector_label(n)] for n in names]
    for scenario, part in parts.items():
        # Sisters have no rank in the field of a variant; without tables nobody has.
        others = {n: part[n].drop(n).dropna() for n in names if n in part.columns}
        best = {n: ranks.idxmin() for n, ranks in others.items() if len(ranks)}
        columns[scenario] = [part.at[n, n] if n in best else np.nan for n in names]
        columns[f"{scenario}: best other"] = [best.get(n, "") for n in names]
        for row, n, rank in zip(rows, names, columns[scenario], strict=True):
            row.append(number(rank, 2))
            row.append(
                f"{selector_label(best[n])} {number(part.at[best[n], n], 2)}"
                if n in best
                else MISSING
            )
    header = [
        column
        for label in scenario_labels(parts)
        for column in (label, f"{label}: best other")
    ]
    return [
        Table(
            name=name,
            title=f"Mean rank of each variant in a field without its sisters{addition}",
            data=pd.DataFrame(
                columns, index=pd.Index(names, name="selector")
            ).reset_index(),
            header=("selector", *header),
            rows=tuple(tuple(row) for row in rows),
            notes=("best other: in the same field, and its mean rank.",),
        )
    ]


def _by_selector(values: Any, index: Any) -> Any:
    """Return the paper's values for our selectors, variants included."""
    return pd.Series(
        [values.get(name.partition(":")[0], np.nan) for name in index], index=index
    )


def friedman_tables(material: ReportData) -> list[Table]:
    """Return whether the selectors differ, over both kinds of complete cases."""
    parts = []
    for scenario in material.scenarios:
        scores = material.ranked(scenario)
        for cases, choose in (
            ("all selectors", complete_datasets),
            ("all tables", complete_selectors),
        ):
            ranks = rank_scores(choose(scores))
            if min(ranks.shape) < 2:
                continue
            row = friedman_test(ranks)
            difference = critical_difference(*ranks.shape)
            best = groups_alike(ranks.mean(axis=1), difference)
            first = ranks.mean(axis=1).sort_values(kind="stable").index[0]
            alike = best[0] if best and first in best[0] else [first]
            parts.append(
                row.assign(
                    scenario=scenario,
                    cases=cases,
                    critical_difference=difference,
                    best=first,
                    n_like_best=len(alike) - 1,
                )
            )
    if not parts:
        return []
    data = pd.concat(parts, ignore_index=True)
    rows = [_friedman_row(row) for _, row in data.iterrows()]
    header = ("scenario", "complete over", "best", "selectors", "tables", "χ²", "p")
    return [
        Table(
            name="friedman",
            title="Do the selectors differ? Friedman and Nemenyi, 0.05",
            data=data,
            header=(*header, "F", "p of F", "critical difference", "like the best"),
            rows=tuple(rows),
            n_text_columns=3,
            notes=(
                "all selectors: only tables on which each has a score; all tables: "
                "only selectors that have a score on each. F: Iman and Davenport. like "
                "the best: selectors that Nemenyi's test cannot tell from the best.",
            ),
        )
    ]


def _friedman_row(row: Any) -> tuple[str, ...]:
    """Return the printed cells of one test."""
    return (
        SCENARIO_LABELS[row["scenario"]],
        row["cases"],
        selector_label(row["best"]),
        str(row["n_selectors"]),
        str(row["n_datasets"]),
        number(row["chi_square"], 1),
        _probability(row["p_value"]),
        number(row["f_statistic"], 1),
        _probability(row["f_p_value"]),
        number(row["critical_difference"], 2),
        str(row["n_like_best"]),
    )


def _probability(value: float) -> str:
    """Return a probability with two digits, or that it is tiny."""
    if np.isnan(value):
        return MISSING
    return "< 0.0001" if value < 1e-4 else f"{value:.2g}"
