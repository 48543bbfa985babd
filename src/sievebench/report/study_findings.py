"""What the smaller studies say on the claims of the paper: one function a claim.

As in `run_findings`: from what the report is made of to a `Finding`, or None.
"""

import pandas as pd

from sievebench import analysis
from sievebench.labels import DATASET_LABELS, selector_label
from sievebench.report.finding import (
    Finding,
    Parts,
    Verdict,
    joined,
    listed,
    mean_with_interval,
    side,
    told,
)
from sievebench.report.paper import paper_cohorts
from sievebench.report.report_data import DEFAULT, PUBLISHED, ReportData
from sievebench.report.run_findings import rule_of
from sievebench.report.tables import interval, number, signed

_FLAT = 0.1  # an exponent below which we call a time nearly constant
_EXPONENT = interval("exponent", 2)
_LESS_OVERHEAD = interval("exponent_less_overhead", 1, "less_low", "less_high")


def loss_without_one(results: ReportData, _: str) -> Finding | None:
    """Give the points lost without one kept column, predictor trained anew."""
    losses = _losses(results)
    if not {DEFAULT, PUBLISHED} <= set(losses.index):
        return None
    parts = Parts()
    for variant, label in ((DEFAULT, "default"), (PUBLISHED, "as published")):
        parts.add_mean(losses.loc[variant], 1, label)
    n_tables = losses.shape[1]
    text = f"points lost, predictor trained anew, {n_tables} tables: {{}}"
    return parts.finding(text, rule_of(results))


def loss_beside_others(results: ReportData, _: str) -> Finding | None:
    """Compare this loss with that of each other selector."""
    losses = _losses(results)
    if DEFAULT not in losses.index:
        return None
    is_other = ~losses.index.str.startswith("autonfs") & (losses.index != "none")
    parts = Parts()
    for name, row in (losses.loc[DEFAULT] - losses[is_other]).iterrows():
        parts.add_mean(row, 1, selector_label(str(name)), is_signed=True)
    text = f"points, default less {{}}; {losses.shape[1]} tables"
    return parts.finding(text, rule_of(results))


def _losses(results: ReportData) -> pd.DataFrame:
    """Return the mean loss without a column, selectors × tables, trained anew."""
    losses = analysis.losses_by_seed(results.runs).reset_index()
    losses = losses[
        (losses["removal"] == "retrained")
        & (losses["downstream"] == results.downstream)
        & (losses["scenario"] == "random")
    ]
    return losses.pivot_table(index="selector", columns="dataset", values="drop")


def cohort_gain(results: ReportData, downstream: str) -> Finding | None:
    """Give the points gained on the cohorts; the printed ones first."""
    cohorts = analysis.cohort_table(results.runs, "autonfs")
    gains = (cohorts[f"{downstream}_kept"] - cohorts[f"{downstream}_full"]).dropna()
    if gains.empty:
        return None
    printed = gains[gains.index.isin(paper_cohorts().index)]
    text = (
        f"{mean_with_interval(printed, 1, is_signed=True)} points over {len(printed)} "
        f"of the 18 cohorts, ten splits each; "
        f"{mean_with_interval(gains, 1, is_signed=True)} over all {len(gains)} at hand"
    )
    theirs = analysis.cohort_summary(paper_cohorts()).at[downstream, "gain"]
    verdict = _gain_verdict(printed, theirs)
    if downstream == "forest" and (records := results.records("quality_cohorts")):
        table = pd.DataFrame(records)  # of benchmarks/quality.py
        gained = 100 * (table["forest"] - table["forest_all"])
        second = gained.groupby(table["table"]).mean()
        text += (
            f"; with five splits and more rows to train on "
            f"{mean_with_interval(second, 1, is_signed=True)}"
        )
        verdict = joined([verdict, _gain_verdict(second, theirs)])
    return Finding(text, verdict, rule_of(results, "autonfs"))


def _gain_verdict(gains: pd.Series, theirs: float) -> Verdict:
    """Judge a gain: none if the interval is below 0, or below the printed one."""
    low, high = analysis.interval_of_mean(gains)
    is_refuted = gains.mean() <= 0 and high < theirs
    return "does not" if is_refuted else side(low, high)


def cohort_reduction(results: ReportData, _: str) -> Finding | None:
    """Give the percent of the columns left out."""
    cohorts = analysis.cohort_table(results.runs, "autonfs")
    values = cohorts["reduction"][cohorts.index.isin(paper_cohorts().index)].dropna()
    parts = Parts()
    if len(values):
        parts.add_mean(values, 0, above=90)
    text = f"{{}} % over {len(values)} of the 18 cohorts"
    return parts.finding(text, rule_of(results, "autonfs"))


def shallowest(results: ReportData, _: str) -> Finding | None:
    """Give the exponents of seconds against columns, ours and the others'."""
    table = results.exponents.set_index("selector").sort_values("exponent")
    if PUBLISHED not in table.index or len(table) < 2:
        return None
    parts = [f"{selector_label(str(n))} {_EXPONENT(r)}" for n, r in table.iterrows()]
    ours, others = table.loc[PUBLISHED], table.drop(index=PUBLISHED)
    verdict = told(
        bool(ours["high"] < others["low"].min()),
        bool(ours["exponent"] > others["exponent"].min()),
    )
    return Finding(listed(parts), verdict)


def near_constant(results: ReportData, _: str) -> Finding | None:
    """Give AutoNFS's exponent, and what is left without its fixed cost."""
    table = results.exponents.set_index("selector")
    if PUBLISHED not in table.index:
        return None
    row = table.loc[PUBLISHED]
    text = (
        f"exponent {_EXPONENT(row)} from {row['n_features_min']:.0f} to "
        f"{row['n_features_max']:.0f} columns; without the fixed cost of training "
        f"({number(row['overhead_seconds'], 1)} s) "
        f"{_LESS_OVERHEAD(row)}"
    )
    return Finding(text, side(-row["high"], -row["low"], -_FLAT))


def balance_shape(results: ReportData, _: str) -> Finding | None:
    """Tell whether columns go, at first at no cost, and then too many."""
    parts = Parts()
    for table in _balances(results):
        first, last = table.iloc[0], table.iloc[-1]
        best = table.loc[table["score_mean"].idxmax()]
        free = best["n_kept_mean"] < first["n_kept_mean"] / 2
        falls = (table["n_kept_mean"].diff().dropna() <= 0.5).all()
        spread = table["score_std"].iloc[[0, -1]].fillna(0.0).max()
        ends = last["score_mean"] < first["score_mean"] - spread
        parts.add(
            f"{_label(first)} {number(first['n_kept_mean'], 0)} columns at λ = 0, "
            f"{number(best['n_kept_mean'], 0)} at the best ({best['balance']:g}), "
            f"{number(last['n_kept_mean'], 0)} at {last['balance']:g}",
            told(bool(falls and ends), not (falls or ends or free)),
        )
    return parts.finding(is_list=False)


def balance_of_one(results: ReportData, _: str) -> Finding | None:
    """Tell what λ = 1 costs against the best of the values that were tried."""
    tables = _balances(results)
    found = [table[table["balance"] == 1.0] for table in tables]
    if not tables or any(at_one.empty for at_one in found):
        return None
    rows = pd.concat(found, ignore_index=True)
    losses = rows["score_mean"] - [table["score_mean"].max() for table in tables]
    labels = [_label(row) for _, row in rows.iterrows()]
    parts = [
        f"{label} {signed(loss, 3)}" for label, loss in zip(labels, losses, strict=True)
    ]
    text = (
        f"keeps nothing in {rows['n_empty'].sum()} of {rows['n_done'].sum()} runs; "
        f"score against the best λ of the table {listed(parts)}"
    )
    return Finding(text, side(*analysis.interval_of_mean(losses), -0.01))


def _balances(results: ReportData) -> list[pd.DataFrame]:
    """Return the balances of each table, from the least."""
    table = analysis.balance_influence(results.runs)
    table = table[table["downstream"] == results.downstream]
    return [
        part.sort_values("balance").reset_index(drop=True)
        for _, part in table.groupby("dataset", sort=False)
    ]


def _label(row: pd.Series) -> str:
    return str(DATASET_LABELS.get(row["dataset"], row["dataset"]))
