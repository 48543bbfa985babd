"""What the scripts in benchmarks/ say on the claims of the paper: one function a claim.

As in `run_findings`: from what the report is made of to a `Finding`, or None. These are
the figures of the present rule; claims.toml says so.
"""

from typing import Any

import numpy as np
import pandas as pd

from sievebench import analysis
from sievebench.labels import SCENARIO_LABELS, selector_label
from sievebench.report.finding import (
    Finding,
    Parts,
    listed,
    mean_with_interval,
    side,
    told,
)
from sievebench.report.paper import paper_cohorts
from sievebench.report.report_data import DEFAULT, ReportData
from sievebench.report.tables import interval, number

_BREADTH = ("breadth", "breadth_peers", "breadth_boruta")
_PEERS = {
    "f_test": "F test",
    "l1": "L1",
    "forest": "forest above its mean",
    "boruta": "Boruta",
}
_DRAW = 11  # the one that all of them have
_SIDE = 28  # pixels


def large_kept(results: ReportData, _: str) -> Finding | None:
    """Count columns kept over original ones, large tables."""
    parts = Parts()
    kept = _large(results, lambda cell, run: len(run["kept"]) / cell["n_original"])
    for values in kept.values():
        parts.add_mean(values, 2, below=1.0)
    return parts.finding("kept / original {}")


def large_lost(results: ReportData, _: str) -> Finding | None:
    """Compare an MLP on the kept columns with one on all, relative."""
    parts = Parts()
    gains = _large(
        results,
        lambda cell, run: 100 * (run["mlp"] - cell["mlp_all"]) / abs(cell["mlp_all"]),
    )
    for values in gains.values():
        parts.add_mean(values, 1, above=-0.5, is_signed=True)
    return parts.finding("MLP against all columns, percent: {}")


def large_noise(results: ReportData, _: str) -> Finding | None:
    """Count added columns among the kept ones, large tables, noise only."""
    parts = Parts()
    added = _large(
        results, lambda cell, run: np.mean(np.array(run["kept"]) >= cell["n_original"])
    )
    for name in ("random", "corrupted"):
        if name in added:
            is_so = told(bool(np.mean(added[name]) < 0.005))
            parts.add(mean_with_interval(added[name], 3), is_so)
    return parts.finding()


def _large(results: ReportData, value: Any) -> dict[str, list[float]]:
    """Return a value of each large table, mean over its runs, by scenario."""
    found: dict[str, list[float]] = {}
    for cell in results.records("quality_tabular"):
        mean = float(np.mean([value(cell, run) for run in cell["runs"]]))
        found.setdefault(cell["scenario"], []).append(mean)
    return {name: found[name] for name in analysis.ordered(found, SCENARIO_LABELS)}


def breadth(results: ReportData, _: str) -> Finding | None:
    """Compare the default with classical selectors, four kinds of model as judges."""
    scores = pd.DataFrame(
        {
            **{name: cell[name] for name in ("scenario", "table", "selector")},
            # One run of each: the peers have no second seed.
            "score": np.mean(list(cell["runs"][0]["scores"].values())),
        }
        for name in _BREADTH
        for cell in results.records(name)
        if cell["draw"] == _DRAW and cell["runs"][0]["scores"]
    )
    if scores.empty:
        return None
    parts = Parts()
    for scenario in ("random", "corrupted"):
        wide = scores[scores["scenario"] == scenario].pivot_table(
            index="selector", columns="table", values="score"
        )
        known = [peer for peer in _PEERS if peer in wide.index]
        if not known or "auto" not in wide.index:
            continue
        gains = {_PEERS[peer]: wide.loc["auto"] - wide.loc[peer] for peer in known}
        shown = listed(
            f"{name} {mean_with_interval(gain, 1, is_signed=True)}"
            for name, gain in gains.items()
        )
        verdicts = [side(*analysis.interval_of_mean(gain)) for gain in gains.values()]
        parts.add(f"{SCENARIO_LABELS[scenario].lower()}, points: {shown}", *verdicts)
    return parts.finding(is_list=False)


def madelon(results: ReportData, _: str) -> Finding | None:
    """Count the relevant columns of madelon, whose class is a parity."""
    records = [r for r in results.records("quality_wide") if r["table"] == "madelon"]
    if not records:
        return None
    found = [len(record["kept"]) - record["outside"] for record in records]
    n_outside = sum(record["outside"] for record in records)
    text = (
        f"madelon (the class is a parity of hidden columns): {listed(map(str, found))} "
        f"of the 20 relevant among {records[0]['n_columns']}, {n_outside} others kept"
    )
    return Finding(text, told(n_outside == 0 and min(found) >= 10))


def mask_cost(results: ReportData, _: str) -> Finding | None:
    """Tell what the mask adds to a step, narrow and wide, one network and 16."""
    parts = Parts()
    for name, label in (("speed_stack_cpu", "CPU"), ("speed_stack_gpu", "H200")):
        records = pd.DataFrame(results.records(name))
        if records.empty:
            continue
        records["extra"] = records["microseconds"] - records["microseconds_unmasked"]
        for n_members, group in records.groupby("n_members"):
            group = group.sort_values("n_columns")
            first, last = group.iloc[0], group.iloc[-1]
            growth = np.log(last["extra"] / first["extra"])
            exponent = growth / np.log(last["n_columns"] / first["n_columns"])
            networks = "one network" if n_members == 1 else f"{n_members} networks"
            parts.add(
                f"{label}, {networks}: {first['extra']:,.0f} to {last['extra']:,.0f}",
                side(-exponent, -exponent, -0.5),
            )
    text = "microseconds a step, from 64 to 5,000 columns: {}"
    return parts.finding(text, is_list=False)


def growth(results: ReportData, argument: str) -> Finding | None:
    """Give exponents of seconds, raw and after the fixed part: file:axis."""
    name, axis = argument.split(":")
    records = results.records(name)
    if not records:
        return None
    runs = pd.DataFrame(records).query("axis == @axis")
    runs = runs.assign(n_features=runs["size"], experiment="scaling", status="done")
    table = analysis.scaling_exponents(runs).set_index("selector")
    table = table.dropna(subset="exponent").sort_values("exponent")
    if DEFAULT not in table.index or len(table) < 2:
        return None
    ours, others = table.loc[DEFAULT], table[~table.index.str.startswith("autonfs")]
    verdict = told(
        bool(ours["high"] < others["low"].min()),
        bool(ours["low"] > others["high"].min()),
    )
    raw = interval("exponent", 2)
    less = interval("exponent_less_overhead", 2, "less_low", "less_high")
    parts = [
        f"{selector_label(str(name))} {raw(row)} ({less(row)}; "
        f"{row['n_features_max']:,.0f})"
        for name, row in table.iterrows()
    ]
    text = f"exponent (after the fixed part; up to so many {axis}): {'; '.join(parts)}"
    return Finding(text, verdict)


def cohort_sets(results: ReportData, predictor: str) -> Finding | None:
    """Give the points gained on the printed cohorts, and by the first of the order."""
    printed = set(paper_cohorts().index)
    gains = pd.DataFrame(
        {
            **{name: record[name] for name in ("cohort", "split", "transform")},
            **{
                what: scores[measure] - record["scores"]["all"][measure]
                for what, scores in record["scores"].items()
            },
        }
        for record in results.records("cohorts")
        if record["cohort"] in printed
        for measure in [f"{predictor} balanced_accuracy"]
    )
    parts = Parts()
    for transform, table in gains.groupby("transform") if len(gains) else ():
        n_splits = table.groupby("cohort")["split"].nunique()
        means = table.drop(columns=["split", "transform"]).groupby("cohort").mean()
        sizes = [name for name in means if name not in ("all", "kept")]
        others = listed(
            f"{name} {mean_with_interval(means[name], 1, is_signed=True)}"
            for name in sizes
        )
        low, high = analysis.interval_of_mean(means["kept"])
        parts.add(
            f"{transform}, {len(means)} of the 18 cohorts, {n_splits.min()} splits: "
            f"kept {mean_with_interval(means['kept'], 1, is_signed=True)} points, the "
            f"{others} of its order",
            side(low, high),
        )
    return parts.finding(is_list=False)


def pixel_entropy(results: ReportData, _: str) -> Finding | None:
    """Compare the entropies of kept and dropped pixels, by both readings."""
    found = _pixels(results)
    if found is None:
        return None
    content, kept, dropped = found
    parts = Parts()
    for key, label in (
        ("class_entropy", "over the digits"),
        ("intensity_entropy", "of the intensities"),
    ):
        entropy = np.array(content[key])
        ours, rest = entropy[kept].mean(), entropy[dropped].mean()
        is_so = told(bool(ours > rest))
        parts.add(f"{label} {number(ours, 2)} and {number(rest, 2)}", is_so)
    text = f"{{}} (dropped pixels that vary; {kept.sum()} of 784 kept)"
    return parts.finding(text, is_list=False)


def pixel_centre(results: ReportData, _: str) -> Finding | None:
    """Tell how far from the centre kept and dropped pixels are."""
    found = _pixels(results)
    if found is None:
        return None
    kept = found[1]
    distance = np.hypot(*(np.indices((_SIDE, _SIDE)) - (_SIDE - 1) / 2)).ravel()
    ours, rest = distance[kept].mean(), distance[~kept].mean()
    text = (
        f"mean distance from the centre {number(ours, 1)} pixels, of those dropped "
        f"{number(rest, 1)}"
    )
    return Finding(text, told(bool(ours < rest)))


def pixel_digits(results: ReportData, _: str) -> Finding | None:
    """Tell how much the mean intensity of a pixel differs between the digits."""
    found = _pixels(results)
    if found is None:
        return None
    content, kept, dropped = found
    spread = np.array(content["class_means"]).std(axis=0)
    ours, rest = spread[kept], spread[dropped]
    share = (ours[:, None] > rest[None, :]).mean()
    text = (
        "deviation over the digits of a pixel's mean intensity "
        f"{number(ours.mean(), 3)}, of dropped ones that vary "
        f"{number(rest.mean(), 3)}; larger in {100 * share:.0f} % of all pairs"
    )
    return Finding(text, told(bool(share > 0.5)))


def _pixels(results: ReportData) -> tuple[dict[str, Any], Any, Any] | None:
    """Return what is stored, which pixels are kept, and dropped though they vary."""
    content = results.stored("mnist")
    if not content:
        return None
    kept = np.zeros(_SIDE**2, dtype=bool)
    kept[content["selections"]["auto"]["kept"]] = True
    return content, kept, ~kept & ~np.array(content["is_constant"])
