"""What the runs say on the claims of the paper: one function a claim or kind of claim.

Each takes what the report is made from and the argument that claims.toml gives, and
returns a `Finding`, or None where the runs for it are missing.
"""

from collections.abc import Callable, Sequence

import pandas as pd

from sievebench import analysis
from sievebench.labels import SCENARIO_LABELS, selector_label
from sievebench.report.against_paper import compare_scores
from sievebench.report.finding import (
    Finding,
    Parts,
    Rule,
    Verdict,
    listed,
    mean_with_interval,
    side,
    told,
)
from sievebench.report.paper import paper_counts
from sievebench.report.report_data import DEFAULT, PUBLISHED, ReportData
from sievebench.report.tables import interval, number

_NAMES = {DEFAULT: "default", PUBLISHED: "as published"}
# What may be lost before we call it a loss: half a point of the score.
_MARGIN = 0.005
_PAPERS_ERROR = 0.17  # misselection with products, as printed
_NEAR = 0.25  # of a count of the paper's, to be found again


def rule_of(results: ReportData, selector: str = DEFAULT) -> Rule:
    """Say by which rule the records of a variant of AutoNFS were made."""
    return "earlier" if selector in results.earlier_rule() else "present"


def kept_share(results: ReportData, _: str) -> Finding | None:
    """Count columns kept over columns before the scenario."""
    kept = results.scored[results.scored["selector"] == DEFAULT]
    shares = kept.assign(share=kept["n_kept_mean"] / kept["n_original"])
    parts = Parts()
    for _name, group in shares.groupby("scenario", sort=False):  # in our order
        parts.add_mean(group["share"], 2, below=1.0)
    n_fewer = int((kept["n_kept_mean"] < kept["n_original"]).sum())
    return parts.finding(
        f"{{}}; fewer in {n_fewer} of {len(kept)} cells", rule_of(results)
    )


def against_none(results: ReportData, _: str) -> Finding | None:
    """Compare the kept columns with all columns, same predictors."""
    parts = Parts()
    for scenario in results.shared.scenarios:
        scores = results.shared.ranked(scenario)
        if not {DEFAULT, "none"} <= set(scores.index):
            return None
        gains = scores.loc[DEFAULT] - scores.loc["none"]
        parts.add_mean(gains, 3, above=-_MARGIN, is_signed=True)
    text = (
        "against all columns, same predictors: {}; a loss of up to "
        f"{_MARGIN:g} counts as none"
    )
    return parts.finding(text, rule_of(results))


def first_of_all(results: ReportData, scenario: str) -> Finding | None:
    """Give the mean rank of the default, and how far the next is behind.

    The verdict is on the paper's protocol, a search for each selector.
    """
    own = _margin(results, scenario, DEFAULT)
    if own is None:
        return None
    same = _margin(results.shared, scenario, DEFAULT)
    text = own[0] + (f"; same predictors for all: {same[0]}" if same else "")
    return Finding(text, own[1], rule_of(results))


def first_as_published(results: ReportData, _: str) -> Finding | None:
    """Give the mean ranks of the paper's setting, in each scenario."""
    parts = Parts()
    for scenario in results.paper_scenarios:
        if found := _margin(results, scenario, PUBLISHED):
            parts.add(*found)
    return parts.finding(is_list=False)


def _margin(
    results: ReportData, scenario: str, variant: str
) -> tuple[str, Verdict] | None:
    if scenario not in results.scenarios:
        return None
    scores = results.ranked(scenario)
    field = analysis.without_sisters(scores, variant)
    if variant not in scores.index or len(field) < 2 or field.shape[1] == 0:
        return None
    found = analysis.rank_margin(field, variant)
    rank = interval("rank", 1)(found)
    margin = interval("margin", 1, "margin_low", "margin_high", is_signed=True)(found)
    best = f"{selector_label(found['best_other'])} {number(found['rank_other'], 1)}"
    verdict = side(found["margin_low"], found["margin_high"])
    unsure = ", cannot be told apart" if verdict == "partly" else ""
    return f"{rank}, {best}, ahead by {margin}{unsure}", verdict


def best_on_most(results: ReportData, _: str) -> Finding | None:
    """Count the tables on which the score is best or tied, one AutoNFS in the field."""
    fields = [results.ranked(scenario) for scenario in results.paper_scenarios]
    if not fields or any(not set(_NAMES) <= set(field.index) for field in fields):
        return None
    parts = Parts()
    for variant, label in _NAMES.items():
        alone = [analysis.without_sisters(field, variant) for field in fields]
        n_best = [int(analysis.mean_ranks(f).at[variant, "n_best"]) for f in alone]
        pairs = [(n, field.shape[1]) for n, field in zip(n_best, alone, strict=True)]
        verdicts = [told(2 * n > n_all) for n, n_all in pairs if variant == DEFAULT]
        counts = listed(f"{n} of {n_all}" for n, n_all in pairs)
        parts.add(f"{label} {counts}", *verdicts)
    return parts.finding(rule=rule_of(results), is_list=False)


def told_apart(results: ReportData, _: str) -> Finding | None:
    """Count the others that the default is better than, same predictors."""
    fields = [results.shared.ranked(s) for s in results.shared.scenarios]
    if not fields or any(DEFAULT not in field.index for field in fields):
        return None
    parts, tables = Parts(), []
    for scores in fields:
        others = scores.drop(index="none", errors="ignore")
        table = analysis.compare_with(others, DEFAULT)
        above, below = (table["low"] > 0).sum(), (table["high"] < 0).sum()
        is_so = told(below == 0 and 2 * above > len(table))
        parts.add(f"{above} of {len(table)}", is_so)
        tables.append(table)
    every = pd.concat(tables)
    n_tables = max(field.shape[1] for field in fields)
    n_sure = (every["p_holm"] < analysis.SIGNIFICANCE).sum()
    text = (
        "same predictors: the interval of the mean difference is above 0 for "
        f"{{}} others, below 0 for {(every['high'] < 0).sum()}; "
        f"by Wilcoxon's test with Holm's correction {n_sure} of {len(every)} can be "
        f"told apart ({n_tables} tables are too few for it)"
    )
    return parts.finding(text, rule_of(results))


def printed_scores_found(results: ReportData, _: str) -> Finding | None:
    """Compare scores with the paper's, over the tables that are whole."""
    cells = compare_scores(results)
    cells = cells[~cells["is_sample"] & cells["difference"].notna()]
    is_published = cells["selector"] == PUBLISHED
    if not is_published.any():
        return None
    parts = Parts()
    is_other = ~cells["selector"].str.startswith("autonfs")
    for label, chosen in (
        ("AutoNFS as published", is_published),
        ("the 13 others", is_other),
    ):
        gaps = cells[chosen].groupby("dataset")["difference"].mean()
        low, high = analysis.interval_of_mean(gaps)
        is_so = told(-_MARGIN <= low <= high <= _MARGIN, high < 0 or low > 0)
        parts.add(f"{label} {mean_with_interval(gaps, 3, is_signed=True)}", is_so)
    n_tables = cells["dataset"].nunique()
    return parts.finding(f"ours less the paper's on the {n_tables} whole tables: {{}}")


def printed_counts_found(results: ReportData, _: str) -> Finding | None:
    """Count how often the number kept is within a quarter of the paper's."""
    theirs = paper_counts()
    parts = Parts()
    for variant in (PUBLISHED, DEFAULT):
        cells = results.scored[results.scored["selector"] == variant]
        keys = ["dataset", "scenario"]
        cells = cells.join(theirs.stack().rename_axis(keys).rename("theirs"), on=keys)
        cells = cells[cells["theirs"].notna()]
        if cells.empty:
            return None
        is_near = (cells["n_kept_mean"] / cells["theirs"] - 1).abs() <= _NEAR
        verdicts = [told(bool(hit)) for hit in is_near]
        parts.add(f"{_NAMES[variant]} {is_near.sum()} of {len(cells)}", *verdicts)
    return parts.finding("within a quarter: {}", rule_of(results))


def matched(results: ReportData, _: str) -> Finding | None:
    """Compare the default with the others at its own number of columns."""
    runs = results.runs[results.runs["downstream"] == results.downstream]
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
    return Finding(text, told(n_above == n_others, n_above == 0), rule_of(results))


def no_noise_kept(results: ReportData, _: str) -> Finding | None:
    """Count added columns among the kept ones where they are noise."""
    noise = ("random", "corrupted")
    return _shares_kept(results, noise, lambda low, mean: told(mean < 0.005, low > 0))


def few_products_kept(results: ReportData, _: str) -> Finding | None:
    """Count added columns among the kept ones where they are products."""
    return _shares_kept(
        results, ("second_order",), lambda low, _: told(low <= _PAPERS_ERROR)
    )


def _shares_kept(
    results: ReportData,
    scenarios: Sequence[str],
    judge: Callable[[float, float], Verdict],
) -> Finding | None:
    """Print the shares of the default and as published; judge low end and mean."""
    shares = _shares(results)
    parts = Parts()
    for variant, label in _NAMES.items():
        keys = [(scenario, variant) for scenario in scenarios]
        if not set(keys) <= set(shares.index):
            return None
        values = [shares.loc[key].dropna() for key in keys]
        lows = [analysis.interval_of_mean(some)[0] for some in values]
        means = [some.mean() for some in values]
        cells = listed(mean_with_interval(some, 3) for some in values)
        parts.add(f"{label} {cells}", *map(judge, lows, means))
    return parts.finding(rule=rule_of(results), is_list=False)


def _shares(results: ReportData) -> pd.DataFrame:
    """Return the shares of added columns, (scenario, selector) × tables."""
    return analysis.added_shares(results.runs, results.downstream).pivot(
        index=["scenario", "selector"], columns="dataset", values="share"
    )


def others_keep_noise(results: ReportData, _: str) -> Finding | None:
    """Compare the others' shares of added columns with the default's."""
    shares = _shares(results)
    parts = Parts()
    for scenario in results.paper_scenarios:
        part = shares.loc[scenario]
        is_own = part.index.str.startswith("autonfs") | (part.index == "none")
        others = part[~is_own].dropna(how="all")
        if DEFAULT not in part.index or others.empty:
            return None
        least = others.mean(axis=1).idxmin()
        gaps = others - part.loc[DEFAULT]
        n_more = sum(analysis.interval_of_mean(row)[0] > 0 for row in gaps.to_numpy())
        parts.add(
            f"{SCENARIO_LABELS[scenario].lower()} {n_more} of {len(others)} (least: "
            f"{selector_label(str(least))} {number(others.loc[least].mean(), 2)})",
            told(n_more == len(others), n_more == 0),
        )
    return parts.finding("interval above the default's: {}", rule_of(results))
