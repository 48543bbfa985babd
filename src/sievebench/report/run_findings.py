"""What the runs say on the claims of the paper: one function a claim or kind of claim.

Each takes what the report is made from and the argument that claims.toml gives, and
returns a `Finding`, or None where the runs for it are missing.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from sievebench import analysis
from sievebench.labels import SCENARIO_LABELS, selector_label
from sievebench.report.against_paper import compare_scores
from sievebench.report.finding import (
    Finding,
    Rule,
    Verdict,
    joined,
    listed,
    mean_with_interval,
    side,
    told,
    with_interval,
)
from sievebench.report.material import DEFAULT, PUBLISHED, ReportData
from sievebench.report.paper import paper_counts
from sievebench.report.tables import number

_NAMES = {DEFAULT: "default", PUBLISHED: "as published"}
_NOISE = ("random", "corrupted")
# What may be lost before we call it a loss: half a point of the score.
_MARGIN = 0.005
_PAPERS_ERROR = 0.17  # misselection with products, as printed
_NEAR = 0.25  # of a count of the paper's, to be found again


def rule_of(material: ReportData, selectors: Sequence[str]) -> Rule:
    """Say by which rule the records of some variants of AutoNFS were made."""
    earlier = set(material.earlier_rule()) & set(selectors)
    if earlier:
        return "earlier"
    return "either" if set(selectors) <= {PUBLISHED} else "present"


def kept_share(material: ReportData, _: str) -> Finding | None:
    """Count columns kept over columns before the scenario."""
    kept = material.scored[material.scored["selector"] == DEFAULT]
    if kept.empty:
        return None
    shares = kept["n_kept_mean"] / kept["n_original"]
    by_scenario = shares.groupby(kept["scenario"], sort=False)  # in our order
    parts, verdicts = [], []
    for _name, values in by_scenario:
        parts.append(mean_with_interval(values, 2))
        low, high = analysis.interval_of_mean(values)
        verdicts.append(side(-high, -low, -1.0))
    n_fewer = int((kept["n_kept_mean"] < kept["n_original"]).sum())
    text = f"{listed(parts)}; fewer in {n_fewer} of {len(kept)} cells"
    return Finding(text, joined(verdicts), rule_of(material, [DEFAULT]))


def against_none(material: ReportData, _: str) -> Finding | None:
    """Compare the kept columns with all columns, same predictors."""
    shared = material.shared
    parts, verdicts = [], []
    for scenario in shared.scenarios:
        scores = shared.ranked(scenario)
        if not {DEFAULT, "none"} <= set(scores.index):
            return None
        gains = scores.loc[DEFAULT] - scores.loc["none"]
        parts.append(mean_with_interval(gains, 3, is_signed=True))
        verdicts.append(side(*analysis.interval_of_mean(gains), -_MARGIN))
    if not parts:
        return None
    text = (
        f"against all columns, same predictors: {listed(parts)}; a loss of up to "
        f"{_MARGIN:g} counts as none"
    )
    return Finding(text, joined(verdicts), rule_of(material, [DEFAULT]))


def first_of_all(material: ReportData, scenario: str) -> Finding | None:
    """Give the mean rank of the default, and how far the next is behind.

    The verdict is on the paper's protocol, a search for each selector.
    """
    own = _margin(material, scenario, DEFAULT)
    if own is None:
        return None
    same = _margin(material.shared, scenario, DEFAULT)
    text = own[0] + (f"; same predictors for all: {same[0]}" if same else "")
    return Finding(text, own[1], rule_of(material, [DEFAULT]))


def first_as_published(material: ReportData, _: str) -> Finding | None:
    """Give the mean ranks of the paper's setting, in each scenario."""
    found = [_margin(material, s, PUBLISHED) for s in material.paper_scenarios]
    known = [part for part in found if part]
    if not known:
        return None
    return Finding("; ".join(text for text, _ in known), joined(v for _, v in known))


def _margin(
    material: ReportData, scenario: str, variant: str
) -> tuple[str, Verdict] | None:
    if scenario not in material.scenarios:
        return None
    scores = material.ranked(scenario)
    field = analysis.without_sisters(scores, variant)
    if variant not in scores.index or len(field) < 2 or field.shape[1] == 0:
        return None
    found = analysis.rank_margin(field, variant)
    rank = with_interval(found["rank"], (found["low"], found["high"]), 1)
    ends = found["margin_low"], found["margin_high"]
    margin = with_interval(found["margin"], ends, 1, is_signed=True)
    best = f"{selector_label(found['best_other'])} {number(found['rank_other'], 1)}"
    verdict = side(*ends)
    unsure = ", cannot be told apart" if verdict == "partly" else ""
    return f"{rank}, {best}, ahead by {margin}{unsure}", verdict


def best_on_most(material: ReportData, _: str) -> Finding | None:
    """Count the tables on which the score is best or tied, one AutoNFS in the field."""
    parts: list[str] = []
    verdicts: list[Verdict] = []
    for variant, label in _NAMES.items():
        counts: list[str] = []
        for scenario in material.paper_scenarios:
            scores = material.ranked(scenario)
            if variant not in scores.index:
                return None
            field = analysis.without_sisters(scores, variant)
            n_best = int(analysis.mean_ranks(field).at[variant, "n_best"])
            counts.append(f"{n_best} of {field.shape[1]}")
            if variant == DEFAULT:
                verdicts.append(told(2 * n_best > field.shape[1]))
        if not counts:
            return None
        parts.append(f"{label} {listed(counts)}")
    return Finding("; ".join(parts), joined(verdicts), rule_of(material, [DEFAULT]))


def told_apart(material: ReportData, _: str) -> Finding | None:
    """Count the others that the default is better than, same predictors."""
    shared = material.shared
    counts: list[tuple[int, int, int]] = []
    n_sure, n_tables = 0, 0
    for scenario in shared.scenarios:
        scores = shared.ranked(scenario)
        if DEFAULT not in scores.index:
            return None
        table = analysis.compare_with(
            scores.drop(index="none", errors="ignore"), DEFAULT
        )
        n_above, n_below = (table["low"] > 0).sum(), (table["high"] < 0).sum()
        counts.append((int(n_above), int(n_below), len(table)))
        n_sure += int((table["p_holm"] < analysis.SIGNIFICANCE).sum())
        n_tables = max(n_tables, scores.shape[1])
    if not counts:
        return None
    n_all = sum(n for _, _, n in counts)
    parts = [f"{above} of {n}" for above, _, n in counts]
    text = (
        f"same predictors: the interval of the mean difference is above 0 for "
        f"{listed(parts)} others, below 0 for {sum(b for _, b, _ in counts)}; "
        f"by Wilcoxon's test with Holm's correction {n_sure} of {n_all} can be told "
        f"apart ({n_tables} tables are too few for it)"
    )
    verdicts = [told(below == 0 and 2 * above > n) for above, below, n in counts]
    return Finding(text, joined(verdicts), rule_of(material, [DEFAULT]))


def printed_scores_found(material: ReportData, _: str) -> Finding | None:
    """Compare scores with the paper's, over the tables that are whole."""
    cells = compare_scores(material)
    cells = cells[~cells["is_sample"] & cells["difference"].notna()]
    if not (cells["selector"] == PUBLISHED).any():
        return None
    parts, verdicts = [], []
    is_own = cells["selector"].str.startswith("autonfs")
    for label, chosen in (
        ("AutoNFS as published", cells["selector"] == PUBLISHED),
        ("the 13 others", ~is_own),
    ):
        differences = cells[chosen].groupby("dataset")["difference"].mean()
        parts.append(f"{label} {mean_with_interval(differences, 3, is_signed=True)}")
        low, high = analysis.interval_of_mean(differences)
        verdicts.append(told(-_MARGIN <= low <= high <= _MARGIN, high < 0 or low > 0))
    n_tables = cells["dataset"].nunique()
    text = f"ours less the paper's on the {n_tables} whole tables: {listed(parts)}"
    return Finding(text, joined(verdicts))


def printed_counts_found(material: ReportData, _: str) -> Finding | None:
    """Count how often the number kept is within a quarter of the paper's."""
    theirs = paper_counts()
    parts, verdicts = [], []
    for variant, label in ((PUBLISHED, "as published"), (DEFAULT, "default")):
        cells = material.scored[material.scored["selector"] == variant]
        cells = cells[cells["scenario"].isin(theirs.columns)]
        cells = cells[cells["dataset"].isin(theirs.index)]
        if cells.empty:
            return None
        keys = zip(cells["dataset"], cells["scenario"], strict=True)
        expected = np.array([theirs.loc[key] for key in keys])
        is_near = (cells["n_kept_mean"] / expected - 1).abs() <= _NEAR
        parts.append(f"{label} {int(is_near.sum())} of {len(cells)}")
        verdicts += [told(bool(hit)) for hit in is_near]
    text = f"within a quarter: {listed(parts)}"
    return Finding(text, joined(verdicts), rule_of(material, [DEFAULT]))


def matched(material: ReportData, _: str) -> Finding | None:
    """Compare the default with the others at its own number of columns."""
    runs = material.runs[material.runs["downstream"] == material.downstream]
    comparison = analysis.matched_comparison(runs, DEFAULT)
    if comparison["difference"].isna().all():
        return None
    summary = analysis.matched_summary(comparison)
    n_others = int(summary["low"].notna().sum())
    n_above = int((summary["low"] > 0).sum())
    n_below = int((summary["high"] < 0).sum())
    nearest = summary.groupby("selector")["mean_difference"].mean().idxmin()
    text = (
        f"the interval of the mean difference is above 0 in {n_above} of {n_others} "
        f"comparisons, below 0 in {n_below}; the rest cannot be told apart; nearest in "
        f"the mean: {selector_label(str(nearest))}"
    )
    verdict = told(n_above == n_others, n_above == 0)
    return Finding(text, verdict, rule_of(material, [DEFAULT]))


def no_noise_kept(material: ReportData, _: str) -> Finding | None:
    """Count added columns among the kept ones where they are noise."""
    return _shares_kept(material, _NOISE, lambda low, mean: told(mean < 0.005, low > 0))


def few_products_kept(material: ReportData, _: str) -> Finding | None:
    """Count added columns among the kept ones where they are products."""
    return _shares_kept(
        material, ("second_order",), lambda low, _: told(low <= _PAPERS_ERROR)
    )


def _shares_kept(
    material: ReportData,
    scenarios: Sequence[str],
    judge: Callable[[float, float], Verdict],
) -> Finding | None:
    """Print the shares of the default and as published; judge low end and mean."""
    shares = _shares(material)
    parts, verdicts = [], []
    for variant, label in _NAMES.items():
        cells = []
        for scenario in scenarios:
            if (scenario, variant) not in shares.index:
                return None
            values = shares.loc[(scenario, variant)].dropna()
            cells.append(mean_with_interval(values, 3))
            low, _ = analysis.interval_of_mean(values)
            verdicts.append(judge(low, values.mean()))
        parts.append(f"{label} {listed(cells)}")
    return Finding("; ".join(parts), joined(verdicts), rule_of(material, [DEFAULT]))


def _shares(material: ReportData) -> pd.DataFrame:
    """Return the shares of added columns, (scenario, selector) × tables."""
    return analysis.added_shares(material.runs, material.downstream).pivot(
        index=["scenario", "selector"], columns="dataset", values="share"
    )


def others_keep_noise(material: ReportData, _: str) -> Finding | None:
    """Compare the others' shares of added columns with the default's."""
    shares = _shares(material)
    parts, verdicts = [], []
    for scenario in material.paper_scenarios:
        part = shares.loc[scenario]
        if DEFAULT not in part.index:
            return None
        is_own = part.index.str.startswith("autonfs") | (part.index == "none")
        others = part[~is_own].dropna(how="all")
        if others.empty:
            return None
        least = others.mean(axis=1).idxmin()
        gaps = others - part.loc[DEFAULT]
        lows = [analysis.interval_of_mean(row)[0] for _, row in gaps.iterrows()]
        n_more = sum(low > 0 for low in lows)
        label = selector_label(str(least))
        parts.append(
            f"{SCENARIO_LABELS[scenario].lower()} {n_more} of {len(others)} "
            f"(least: {label} {number(others.loc[least].mean(), 2)})"
        )
        verdicts.append(told(n_more == len(others), n_more == 0))
    if not parts:
        return None
    text = f"interval above the default's: {listed(parts)}"
    return Finding(text, joined(verdicts), rule_of(material, [DEFAULT]))
