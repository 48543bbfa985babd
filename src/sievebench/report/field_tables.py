"""Draws that no development saw: tables of each field, and what they say on claims.

From what ``benchmarks/fields.py`` stored: the suite "paper" has the tables of the
benchmark, the suite "breadth" others.
"""

from collections.abc import Iterator
from functools import cache

import pandas as pd

from sievebench import analysis
from sievebench.labels import DATASET_LABELS, SCENARIO_LABELS, selector_label
from sievebench.report.finding import (
    Finding,
    Parts,
    Verdict,
    listed,
    mean_with_interval,
    side,
    told,
)
from sievebench.report.report_data import ReportData
from sievebench.report.tables import (
    Columns,
    Table,
    interval,
    number,
    tables_of,
    with_interval,
)

SUITES = {"paper": "the benchmark's tables", "breadth": "other tables"}
# Which part these tables had in making the default: never these draws.
_PART = {
    "paper": "AutoNFS was made on other draws of all of these tables.",
    "breadth": "The rule of AutoNFS was chosen on other draws of these tables.",
}
# What is AutoNFS in a table, by the last part of its name where that is no field.
AS_PUBLISHED = {
    "literal": "AutoNFS as published, λ = 1 on the kept fraction",
    "target": "AutoNFS as published, λ = 1 on the distance to a number of columns",
}
_NONE = 0.005  # a share of added columns that counts as none
# With fewer an interval over tables is too narrow, and Wilcoxon's test cannot tell.
_LEAST_TABLES = 6
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
    """Yield a table for each suite and field, and for each row as published."""
    for suite, about in SUITES.items():
        for name, meaning in {**analysis.FIELDS, **AS_PUBLISHED}.items():
            lines = summaries(results, suite, name)
            if lines.empty:
                continue
            yield from tables_of(
                lines,
                _COLUMNS,
                name=f"fields-{suite}-{name}",
                title=f"Fresh draws of {about}: {meaning}",
                n_text_columns=2,
                notes=(_NOTE, _sizes(results, suite)),
            )


@cache  # tables and claims ask for the same
def summaries(results: ReportData, suite: str, name: str) -> pd.DataFrame:
    """Return `field_summary` of each scenario, one below the other.

    Of a field, or of the paper's field with AutoNFS as published.
    """
    scores = _scores(results, suite)
    if scores.empty:
        return scores
    field = "paper" if name in AS_PUBLISHED else name
    ours = _row_name(name)
    has_it = set(scores.loc[scores["selector"] == ours, "scenario"])
    parts = [
        analysis.field_summary(scores, scenario, field, ours)
        .reset_index()
        .assign(scenario=scenario)
        for scenario in analysis.ordered(has_it, SCENARIO_LABELS)
    ]
    return analysis.stacked(parts)


def _row_name(name: str) -> str:
    """Return which AutoNFS is in a table."""
    return f"{analysis.OURS}:{name}" if name in AS_PUBLISHED else analysis.OURS


@cache
def _scores(results: ReportData, suite: str) -> pd.DataFrame:
    """Return the scores of a suite."""
    return analysis.field_scores(results.records(f"fields_{suite}"))


def _sizes(results: ReportData, suite: str) -> str:
    """Say how large the tables are, and how many draws count."""
    records = results.records(f"fields_{suite}")
    sizes = {
        record["table"]: f"{DATASET_LABELS.get(record['table'], record['table'])} "
        f"{sum(record['n_rows']):,} × {record['n_original']}"
        f"{' (sample)' if record['is_sample'] else ''}"
        for record in records
    }
    scores = _scores(results, suite)
    n_draws = listed(
        f"{analysis.field_cube(scores, s, 'paper')[2].shape[1]} "
        f"({SCENARIO_LABELS[s].lower()})"
        for s in scores["scenario"].unique()
    )
    missing = results.stored(f"fields_{suite}").get("missing", [])
    without = sorted({table for table, *_ in missing} - set(sizes))
    all_of = f", all of {listed(without)}" if without else ""
    return (
        f"Rows × columns before any are added: {', '.join(sizes.values())}. Draws that "
        f"all tables have: {n_draws}. Missing: {len(missing)} of "
        f"{len(missing) + len(records)} jobs{all_of}. {_PART[suite]}"
    )


def _counted(row: pd.Series) -> str:
    """Say of how many tables and draws a line of a summary is."""
    n_draws = int(row["n_cells"]) // _n_tables(row)
    return f"{_n_tables(row)} tables × {n_draws} draw{'s' * (n_draws > 1)}"


def _n_tables(row: pd.Series) -> int:
    return int(row[["n_better", "n_equal", "n_worse"]].sum())


def _if_enough(n_tables: int, verdict: Verdict) -> Verdict:
    """Return the verdict, if there are tables enough for one."""
    return verdict if n_tables >= _LEAST_TABLES else "cannot be tested here"


def fresh(results: ReportData, argument: str) -> Finding | None:
    """Tell where AutoNFS stands: `argument` is suite:field, or suite:row."""
    suite, name = argument.split(":")
    lines, parts = summaries(results, suite, name), Parts()
    for scenario, table in lines.groupby("scenario", sort=False) if len(lines) else ():
        by_name = table.set_index("selector")
        ours = by_name.loc[_row_name(name)]
        others = by_name.drop(index=["none", ours.name], errors="ignore")
        best = others["rank"].idxmin()
        above, below = (others["low"] > 0).sum(), (others["high"] < 0).sum()
        parts.add(
            f"{SCENARIO_LABELS[str(scenario)].lower()}, {_counted(others.iloc[0])}: "
            f"rank {interval('rank', 1, 'rank_low', 'rank_high')(ours)}, "
            f"{selector_label(str(best))} {number(others.at[best, 'rank'], 1)}; better "
            f"than {above}, worse than {below} of {len(others)}",
            _if_enough(
                _n_tables(others.iloc[0]),
                told(above == len(others), bool(below > above)),
            ),
        )
    return parts.finding(is_list=False)


def fresh_lost(results: ReportData, suite: str) -> Finding | None:
    """Compare what AutoNFS keeps by itself with all columns."""
    lines = summaries(results, suite, "paper")
    parts = Parts()
    for _, row in lines[lines["selector"] == "none"].iterrows() if len(lines) else ():
        mean, low, high = row["mean_difference"], row["low"], row["high"]
        parts.add(
            f"{with_interval(mean, (low, high), 3, True)} ({_counted(row)})",
            _if_enough(_n_tables(row), told(low > -analysis.EQUIVALENCE, high < 0)),
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
        means = table.groupby("table")[["added_share", "kept_share"]].mean()
        low, high = analysis.interval_of_mean(means["added_share"])
        is_none = _if_enough(len(means), side(-high, -low, -_NONE))
        parts.add(
            f"{SCENARIO_LABELS[scenario].lower()}, {len(table)} cells: "
            f"{mean_with_interval(means['added_share'], 3)} added, kept / "
            f"original {mean_with_interval(means['kept_share'], 2)}",
            *([is_none] if scenario != "second_order" else []),
        )
    return parts.finding(is_list=False)


def fresh_loss_without_one(results: ReportData, suite: str) -> Finding | None:
    """Give the points lost without one kept column, random columns added."""
    losses, parts = _losses(results, suite), Parts()
    # The other row as published often keeps one column, and has no such loss then.
    named = {analysis.OURS: "default", f"{analysis.OURS}:target": "towards a number"}
    for name, label in named.items():
        if name in losses.index:
            parts.add_mean(losses.loc[name], 1, label)
    return parts.finding(f"points lost, {losses.shape[1]} tables: {{}}")


def fresh_loss_beside_others(results: ReportData, suite: str) -> Finding | None:
    """Compare this loss with that of a column of each other selector."""
    losses, parts = _losses(results, suite), Parts()
    if losses.empty:
        return None
    is_other = ~losses.index.str.startswith(analysis.OURS) & (losses.index != "none")
    for name, row in (losses.loc[analysis.OURS] - losses[is_other]).iterrows():
        parts.add_mean(row, 1, selector_label(str(name)), is_signed=True)
    return parts.finding(f"points, default less {{}}; {losses.shape[1]} tables")


def _losses(results: ReportData, suite: str) -> pd.DataFrame:
    """Return the mean loss without a column over the draws, selectors × tables."""
    losses = analysis.field_losses(results.records(f"fields_{suite}"))
    return losses.T.groupby(level="table").mean().T


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
