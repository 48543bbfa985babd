"""Draws that no development saw: tables of each field, and what they say on claims.

From what ``benchmarks/fields.py`` stored: the suite "paper" has the tables of the
benchmark, the suite "breadth" others.
"""

from collections.abc import Iterator
from functools import cache

import pandas as pd

from sievebench import analysis
from sievebench.labels import DATASET_LABELS, SCENARIO_LABELS, selector_label
from sievebench.report.finding import Finding, Parts, listed, told
from sievebench.report.report_data import ReportData
from sievebench.report.tables import (
    Columns,
    Table,
    interval,
    number,
    table_of,
    with_interval,
)

SUITES = {"paper": "the benchmark's tables", "breadth": "other tables"}
_NOT_SELECTORS = ("none", analysis.OURS)
_COLUMNS: Columns = {
    "scenario": "{scenario:scenario}",
    "selector": "{selector:selector}",
    "rank": interval("rank", 2, "rank_low", "rank_high"),
    "best": "{n_best} of {n_cells}",
    "better": "{n_better:.0?–}",
    "equal": "{n_equal:.0?–}",
    "worse": "{n_worse:.0?–}",
    "mean difference": interval("mean_difference", 4, is_signed=True, missing="–"),
    "p, Holm": "{p_holm:p?–}",
    "P(better)": "{p_better:p?–}",
    "P(alike)": "{p_alike:p?–}",
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


def field_tables(results: ReportData) -> Iterator[Table]:
    """Yield a table for each suite and field."""
    for suite, about in SUITES.items():
        for field, meaning in analysis.FIELDS.items():
            lines = summaries(results, suite, field)
            if lines.empty:
                continue
            yield table_of(
                lines,
                _COLUMNS,
                name=f"fields-{suite}-{field}",
                title=f"Fresh draws of {about}: {meaning}",
                n_text_columns=2,
                notes=(_NOTE, _sizes(results, suite)),
            )


@cache  # tables and claims ask for the same
def summaries(results: ReportData, suite: str, field: str) -> pd.DataFrame:
    """Return `field_summary` of each scenario, one below the other."""
    scores = _scores(results, suite)
    parts = [
        analysis.field_summary(scores, scenario, field)
        .reset_index()
        .assign(scenario=scenario)
        for scenario in SCENARIO_LABELS
        if len(scores) and (scores["scenario"] == scenario).any()
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


@cache
def _scores(results: ReportData, suite: str) -> pd.DataFrame:
    """Return the scores of a suite."""
    records = results.records(f"fields_{suite}")
    return analysis.field_scores(records) if records else pd.DataFrame()


def _sizes(results: ReportData, suite: str) -> str:
    """Say how large the tables are, and how many draws count."""
    records = results.records(f"fields_{suite}")
    sizes = {
        record["table"]: f"{DATASET_LABELS.get(record['table'], record['table'])} "
        f"{sum(record['n_rows']):,} × {record['n_original']}"
        + (" (sample)" if record["is_sample"] else "")
        for record in records
    }
    scores = _scores(results, suite)
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


def fresh(results: ReportData, argument: str) -> Finding | None:
    """Tell where AutoNFS stands in a field: `argument` is suite:field."""
    lines = summaries(results, *argument.split(":"))
    parts = Parts()
    for scenario, table in lines.groupby("scenario", sort=False) if len(lines) else ():
        by_name = table.set_index("selector")
        ours = by_name.loc[analysis.OURS]
        others = by_name.drop(index=list(_NOT_SELECTORS), errors="ignore")
        best = others["rank"].idxmin()
        above, below = (others["low"] > 0).sum(), (others["high"] < 0).sum()
        parts.add(
            f"{SCENARIO_LABELS[str(scenario)].lower()}: rank "
            f"{with_interval(ours['rank'], (ours['rank_low'], ours['rank_high']), 1)}, "
            f"{selector_label(str(best))} {number(others.at[best, 'rank'], 1)}; better "
            f"than {above}, worse than {below} of {len(others)}",
            told(above == len(others), bool(below > above)),
        )
    return parts.finding(is_list=False)


def fresh_lost(results: ReportData, suite: str) -> Finding | None:
    """Compare what AutoNFS keeps by itself with all columns."""
    lines = summaries(results, suite, "paper")
    parts = Parts()
    for row in lines[lines["selector"] == "none"].itertuples() if len(lines) else ():
        parts.add(
            with_interval(row.mean_difference, (row.low, row.high), 3, True),
            told(row.low > -analysis.EQUIVALENCE, row.high < 0),
        )
    return parts.finding("against all columns: {}")


def fresh_noise(results: ReportData, suite: str) -> Finding | None:
    """Tell how much of what AutoNFS keeps was added, and how much it keeps."""
    scores = _scores(results, suite)
    if scores.empty:
        return None
    own = scores[(scores["selector"] == analysis.OURS) & (scores["field"] == "paper")]
    parts = Parts()
    for scenario in analysis.ordered(own["scenario"], SCENARIO_LABELS):
        table = own[own["scenario"] == scenario]
        share = table["added_share"].mean()
        parts.add(
            f"{SCENARIO_LABELS[scenario].lower()}: {_with_ends(table, 'added_share')} "
            f"added, kept / original {_with_ends(table, 'kept_share')}",
            *([told(share < 0.005, True)] if scenario != "second_order" else []),
        )
    return parts.finding(is_list=False)


def _with_ends(table: pd.DataFrame, name: str) -> str:
    """Return a mean over tables and draws with its interval."""
    means = table.groupby("table")[name].mean()
    return with_interval(means.mean(), analysis.interval_of_mean(means), 3)


def default_choices(
    results: ReportData, dataset: str, scenario: str
) -> list[tuple[float, int]]:
    """Return the price, as a λ, and the number of columns of AutoNFS on each draw."""
    return [
        (entry["decision"]["balance"], entry["n_own"])
        for record in results.records("fields_paper")
        if (record["table"], record["scenario"]) == (dataset, scenario)
        for entry in [record["selectors"][analysis.OURS]]
    ]
