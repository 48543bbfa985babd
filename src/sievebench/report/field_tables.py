"""Draws that no development saw: tables of each field, and what they say on claims.

From what ``benchmarks/fields.py`` stored: the suite "paper" has the tables of the
benchmark, the suite "breadth" others.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pandas as pd

from sievebench import analysis
from sievebench.labels import DATASET_LABELS, SCENARIO_LABELS, selector_label
from sievebench.report.finding import Finding, joined, listed, told, with_interval
from sievebench.report.material import ReportData
from sievebench.report.stored import records_in, records_of
from sievebench.report.tables import (
    Table,
    number,
    probability,
    scenario_cell,
    selector_cell,
    table_of,
)

SUITES = {"paper": "the benchmark's tables", "breadth": "other tables"}
_NOT_SELECTORS = ("none", analysis.OURS)
_COLUMNS = {
    "scenario": scenario_cell,
    "selector": selector_cell,
    "rank": lambda row: with_interval(
        row["rank"], (row["rank_low"], row["rank_high"]), 2
    ),
    "best": "{0[n_best]} of {0[n_cells]}".format,
    "better": lambda row: number(row["n_better"], 0, "–"),
    "equal": lambda row: number(row["n_equal"], 0, "–"),
    "worse": lambda row: number(row["n_worse"], 0, "–"),
    "mean difference": lambda row: (
        "–"
        if pd.isna(row["mean_difference"])
        else with_interval(row["mean_difference"], (row["low"], row["high"]), 4, True)
    ),
    "p, Holm": lambda row: probability(row["p_holm"], "–"),
    "P(better)": lambda row: probability(row["p_better"], "–"),
    "P(alike)": lambda row: probability(row["p_alike"], "–"),
    "AutoNFS is": lambda row: "–" if pd.isna(row["low"]) else row["verdict"],
}
_NOTE = (
    "rank: mean over tables and draws, by scores of three decimals; best: draws of "
    "tables where none is better. AutoNFS beside each other: tables on which its mean "
    "over the draws is better, equal or worse; mean difference; p: Wilcoxon's signed "
    "ranks over the tables, corrected by Holm's rule; P(better), P(alike): Bayesian "
    f"signed ranks, alike within {analysis.EQUIVALENCE:g}; last: the side the interval "
    "of the mean difference is on. All intervals are 95 %, tables and draws drawn anew."
)


def field_tables(material: ReportData) -> Iterator[Table]:
    """Yield a table for each suite and field."""
    for suite, about in SUITES.items():
        for field, meaning in analysis.FIELDS.items():
            lines = summaries(material, suite, field)
            if lines.empty:
                continue
            yield table_of(
                lines,
                _COLUMNS,
                name=f"fields-{suite}-{field}",
                title=f"Fresh draws of {about}: {meaning}",
                n_text_columns=2,
                notes=(_NOTE, _sizes(material, suite)),
            )


def summaries(material: ReportData, suite: str, field: str) -> pd.DataFrame:
    """Return `field_summary` of each scenario, one below the other."""
    return _summaries(material.benchmarks, suite, field)


@cache  # tables and claims ask for the same
def _summaries(folder: Path | None, suite: str, field: str) -> pd.DataFrame:
    scores = _scores(folder, suite)
    parts = [
        analysis.field_summary(scores, scenario, field)
        .reset_index()
        .assign(scenario=scenario)
        for scenario in SCENARIO_LABELS
        if len(scores) and (scores["scenario"] == scenario).any()
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


@cache
def _scores(folder: Path | None, suite: str) -> pd.DataFrame:
    """Return the scores of a suite."""
    records = records_in(folder, f"fields_{suite}")
    return analysis.field_scores(records) if records else pd.DataFrame()


def _sizes(material: ReportData, suite: str) -> str:
    """Say how large the tables are, and how many draws count."""
    records = records_of(material, f"fields_{suite}")
    sizes = {
        record["table"]: f"{DATASET_LABELS.get(record['table'], record['table'])} "
        f"{sum(record['n_rows']):,} × {record['n_original']}"
        + (" (sample)" if record["is_sample"] else "")
        for record in records
    }
    scores = _scores(material.benchmarks, suite)
    draws = {
        scenario: analysis.field_cube(scores, scenario, "paper")[2].shape[1]
        for scenario in dict.fromkeys(scores["scenario"])
    }
    n_draws = listed(
        f"{count} ({SCENARIO_LABELS[s].lower()})" for s, count in draws.items()
    )
    return (
        f"Rows × columns before any are added: {', '.join(sizes.values())}. "
        f"Draws: {n_draws}."
    )


def fresh(material: ReportData, argument: str) -> Finding | None:
    """Tell where AutoNFS stands in a field: `argument` is suite:field."""
    lines = summaries(material, *argument.split(":"))
    if lines.empty:
        return None
    parts, verdicts = [], []
    for scenario, table in lines.groupby("scenario", sort=False):
        by_name = table.set_index("selector")
        ours = by_name.loc[analysis.OURS]
        others = by_name.drop(index=list(_NOT_SELECTORS), errors="ignore")
        best = others["rank"].idxmin()
        above, below = (others["low"] > 0).sum(), (others["high"] < 0).sum()
        parts.append(
            f"{SCENARIO_LABELS[str(scenario)].lower()}: rank "
            f"{with_interval(ours['rank'], (ours['rank_low'], ours['rank_high']), 1)}, "
            f"{selector_label(str(best))} {number(others.at[best, 'rank'], 1)}; better "
            f"than {above}, worse than {below} of {len(others)}"
        )
        verdicts.append(told(above == len(others), bool(below > above)))
    return Finding("; ".join(parts), joined(verdicts))


def fresh_lost(material: ReportData, suite: str) -> Finding | None:
    """Compare what AutoNFS keeps by itself with all columns."""
    lines = summaries(material, suite, "paper")
    if lines.empty:
        return None
    own = lines[lines["selector"] == "none"].set_index("scenario")
    verdicts = [
        told(row["low"] > -analysis.EQUIVALENCE, row["high"] < 0)
        for _, row in own.iterrows()
    ]
    text = listed(
        with_interval(row["mean_difference"], (row["low"], row["high"]), 3, True)
        for _, row in own.iterrows()
    )
    return Finding(f"against all columns: {text}", joined(verdicts))


def fresh_noise(material: ReportData, suite: str) -> Finding | None:
    """Tell how much of what AutoNFS keeps was added, and how much it keeps."""
    scores = _scores(material.benchmarks, suite)
    if scores.empty:
        return None
    own = scores[(scores["selector"] == analysis.OURS) & (scores["field"] == "paper")]
    parts, verdicts = [], []
    for scenario in analysis.ordered(own["scenario"], SCENARIO_LABELS):
        table = own[own["scenario"] == scenario]
        added, kept = (
            _with_ends(table, name) for name in ("added_share", "kept_share")
        )
        parts.append(
            f"{SCENARIO_LABELS[scenario].lower()}: {added} added, kept / original "
            f"{kept}"
        )
        if scenario != "second_order":
            verdicts.append(told(table["added_share"].mean() < 0.005, True))
    return Finding("; ".join(parts), joined(verdicts))


def _with_ends(table: pd.DataFrame, name: str) -> str:
    """Return a mean over tables and draws with its interval."""
    means = table.groupby("table")[name].mean()
    return with_interval(means.mean(), analysis.interval_of_mean(means), 3)


def default_choices(
    material: ReportData, dataset: str, scenario: str
) -> list[tuple[float, int]]:
    """Return the price, as a λ, and the number of columns of AutoNFS on each draw."""
    return [
        (entry["decision"]["balance"], entry["n_own"])
        for record in records_of(material, "fields_paper")
        if (record["table"], record["scenario"]) == (dataset, scenario)
        for entry in [record["selectors"][analysis.OURS]]
    ]
