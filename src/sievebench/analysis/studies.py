"""What each study of the benchmark tells: one function of the runs for each.

A run is a row of what `check_runs` returns. Rows are in the order of the paper.
"""

import math
from typing import Any

import numpy as np
import pandas as pd
from scipy import optimize, stats

from sievebench.analysis.cells import in_order, ranked_tables, stacked, summarize_cells
from sievebench.analysis.comparisons import compare_differences
from sievebench.analysis.ranks import as_printed, mean_ranks

_DOWNSTREAMS = ("mlp", "forest")
_PLACE = ["dataset", "downstream"]
_MATCH = ["dataset", "scenario", "downstream"]
_REMOVAL = ["scenario", "selector", "downstream", "removal"]


def overview(runs: pd.DataFrame, downstream: str) -> pd.DataFrame:
    """Return the main figures of each selector in each scenario of the benchmark.

    The columns of `mean_ranks`, over `ranked_tables`, and kept_share (columns kept over
    columns before the scenario, mean over the tables), misselected (share of added
    columns among the kept), seconds (median over the tables).
    """
    cells = summarize_cells(runs)
    cells = cells[cells["downstream"] == downstream]
    shares = misselection(runs, downstream).set_index(["scenario", "selector"])["share"]
    parts = []
    for scenario, chosen in cells.groupby("scenario", sort=False):
        ranks = mean_ranks(ranked_tables(cells, str(scenario), downstream))
        kept = chosen["n_kept_mean"] / chosen["n_original"]
        by_selector = chosen.assign(kept=kept).groupby("selector")
        wrong = [shares.get((scenario, name)) for name in ranks.index]
        part = ranks.assign(
            kept_share=by_selector["kept"].mean(),
            misselected=pd.Series(wrong, index=ranks.index, dtype=float),
            seconds=by_selector["seconds_mean"].median(),
        ).reset_index()
        part.insert(0, "scenario", scenario)
        parts.append(part)
    return in_order(stacked(parts))


def misselection(runs: pd.DataFrame, downstream: str) -> pd.DataFrame:
    """Return the share of added columns among the kept ones, by scenario.

    The share of each run, its mean over the seeds of a table, and the mean of these
    over the tables (share, share_std, n_datasets). A run that keeps nothing has no
    share: it is left out and counted (n_empty). Products and noisy copies count as
    added, though they may well be informative. Runs of one downstream only: where
    selector and predictor are tuned together, the columns depend on both.
    """
    keys = ["scenario", "selector"]
    groups = added_shares(runs, downstream).groupby(keys, sort=False)
    table = groups.agg(**_over_tables("share"), n_empty=("n_empty", "sum"))
    return in_order(table.reset_index())


def added_shares(runs: pd.DataFrame, downstream: str) -> pd.DataFrame:
    """Return the shares behind `misselection`: a row for each table.

    Columns scenario, selector, dataset, share (mean over seeds, NaN if all runs keep
    nothing), n_empty.
    """
    is_done = (runs["experiment"] == "benchmark") & (runs["status"] == "done")
    chosen = runs[is_done & (runs["downstream"] == downstream)]
    shares = chosen["n_added_kept"] / chosen["n_kept"].where(chosen["n_kept"] > 0)
    return (
        chosen.assign(share=shares, is_empty=chosen["n_kept"] == 0)
        .groupby(["scenario", "selector", "dataset"], sort=False)
        .agg(share=("share", "mean"), n_empty=("is_empty", "sum"))
        .reset_index()
    )


def predictive_power(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the mean loss of score without one kept column, in percentage points.

    100 · (score of all kept − score without one), averaged over the columns that a seed
    kept, then over the seeds, then over the tables. "retrained" and "imputed" (the
    column replaced by its mean, the predictor unchanged) are apart. In the removal
    experiment a run with an empty `removed` has all kept columns. Columns scenario,
    selector, downstream, removal, drop, drop_std (over the tables), n_datasets,
    n_columns (left out, in all seeds and tables).
    """
    by_seed = losses_by_seed(runs)
    by_table = by_seed.groupby(level=[*_REMOVAL, "dataset"], sort=False)
    tables = by_table.agg({"drop": "mean", "n_columns": "sum"})
    groups = tables.groupby(level=_REMOVAL, sort=False)
    table = groups.agg(**_over_tables("drop"), n_columns=("n_columns", "sum"))
    return in_order(table.reset_index())


def losses_by_seed(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the losses behind `predictive_power`: drop and n_columns of each seed.

    The index has scenario, selector, downstream, removal, dataset and seed.
    """
    cell = ["dataset", "scenario", "selector", "downstream", "seed"]
    chosen = runs[(runs["experiment"] == "removal") & (runs["status"] == "done")]
    whole = chosen[chosen["removed"] == ""].set_index(cell)["score"]
    less = chosen[chosen["removed"] != ""]
    joined = less.join(whole.rename("whole"), on=cell).dropna(subset=["whole"])
    joined = joined.assign(drop=100 * (joined["whole"] - joined["score"]))
    groups = joined.groupby([*_REMOVAL, "dataset", "seed"])["drop"]
    return groups.agg(drop="mean", n_columns="size")


def _over_tables(name: str) -> dict[str, tuple[str, str]]:
    """Return how the values of the tables become mean, deviation and their number."""
    kinds = {name: "mean", f"{name}_std": "std", "n_datasets": "count"}
    return {column: (name, kind) for column, kind in kinds.items()}


def balance_influence(runs: pd.DataFrame) -> pd.DataFrame:
    """Return score and columns kept at each balance, mean and deviation over seeds."""
    chosen = runs[(runs["experiment"] == "balance") & (runs["status"] == "done")]
    keys = ["dataset", "scenario", "selector", "downstream", "balance"]
    table = (
        chosen.assign(is_empty=chosen["n_kept"] == 0)
        .groupby(keys)
        .agg(
            score_mean=("score", "mean"),
            score_std=("score", "std"),
            n_kept_mean=("n_kept", "mean"),
            n_kept_std=("n_kept", "std"),
            n_added_kept_mean=("n_added_kept", "mean"),
            n_done=("score", "size"),
            n_empty=("is_empty", "sum"),
            is_sample=("is_sample", "any"),
        )
        .reset_index()
        .sort_values("balance", kind="stable")
    )
    return in_order(table)


def cohort_table(runs: pd.DataFrame, selector: str) -> pd.DataFrame:
    """Return the scores of each cohort in percent, with all and with kept columns.

    Index dataset; columns mlp_full, mlp_kept, forest_full, forest_kept, reduction
    (percent of the columns left out), n_features, n_kept.
    """
    cells = summarize_cells(runs, "cohorts")
    keys = ["downstream", "selector"]
    scores = 100 * cells.pivot(index="dataset", columns=keys, values="score_mean")
    table = scores.reindex(
        columns=pd.MultiIndex.from_product([_DOWNSTREAMS, ["none", selector]])
    )
    table.columns = [f"{d}_{which}" for d in _DOWNSTREAMS for which in ("full", "kept")]
    kept = cells[cells["selector"] == selector].groupby("dataset")
    n_kept, n_features = kept["n_kept_mean"].mean(), kept["n_features"].max()
    table["reduction"] = 100 * (1 - n_kept / n_features)
    return table.assign(n_features=n_features, n_kept=n_kept).sort_index()


def cohort_summary(cohorts: pd.DataFrame) -> pd.DataFrame:
    """Return averages over the cohorts, and where the kept columns do better.

    Of what `cohort_table` returns, or of the paper's; only cohorts with both scores
    count. Index downstream; columns full, kept (averages), gain, n_better, n_equal,
    n_worse, n_missing.
    """
    rows, kinds = {}, (("n_better", 1), ("n_equal", 0), ("n_worse", -1))
    for downstream in _DOWNSTREAMS:
        pair = cohorts[[f"{downstream}_full", f"{downstream}_kept"]].dropna()
        full, kept = pair.iloc[:, 0], pair.iloc[:, 1]
        # Compared as printed, with one decimal.
        sides = np.sign((kept.round(1) - full.round(1)).round(1))
        rows[downstream] = {
            "full": full.mean(),
            "kept": kept.mean(),
            "gain": (kept - full).mean(),
            **{name: int((sides == k).sum()) for name, k in kinds},
            "n_missing": len(cohorts) - len(pair),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("downstream")


def matched_comparison(runs: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return each selector beside a reference, both with as many columns.

    The others come from the matched experiment, the reference from the shared one,
    whose predictors they have; if it is not in there, from the benchmark. Columns
    dataset, scenario, downstream, selector, n_kept, n_kept_reference, score,
    score_reference, difference (of the printed scores, above 0 if the reference is
    better), is_matched (the mean numbers of columns are within one half), is_sample.
    """
    ours = pd.DataFrame()
    for experiment in ("shared", "benchmark"):
        if ours.empty:
            cells = summarize_cells(runs, experiment)
            ours = cells[cells["selector"] == reference].set_index(_MATCH)
    others = summarize_cells(runs, "matched")
    named = {"score_mean": "score_reference", "n_kept_mean": "n_kept_reference"}
    joined = others.join(ours[list(named)].rename(columns=named), on=_MATCH)
    table = joined.rename(columns={"score_mean": "score", "n_kept_mean": "n_kept"})
    printed = as_printed(table[["score", "score_reference"]].astype(float))
    gap = (table["n_kept"] - table["n_kept_reference"]).abs()
    table["difference"] = printed["score_reference"] - printed["score"]
    table["is_matched"] = gap <= 0.5
    columns = [
        *(*_MATCH, "selector", "n_kept", "n_kept_reference", "score"),
        *("score_reference", "difference", "is_matched", "is_sample"),
    ]
    return in_order(table[columns])


def matched_summary(comparison: pd.DataFrame) -> pd.DataFrame:
    """Count where the reference of a `matched_comparison` is better, equal or worse.

    Columns scenario, selector, those of `compare_differences`, n_missing (of the tables
    that any selector has in the scenario), n_unmatched (left out of the comparison).
    """
    parts = []
    selectors = comparison["selector"].unique()
    for scenario, tables in comparison.groupby("scenario", sort=False):
        n_tables = len(tables[_MATCH].drop_duplicates())
        judged = tables.pivot(index="selector", columns=_PLACE, values="difference")
        # Also of a selector that was not run in this scenario.
        judged = judged.reindex(selectors)
        is_matched = tables.pivot(index="selector", columns=_PLACE, values="is_matched")
        matched = judged.where(is_matched.reindex(selectors).eq(True))
        part = compare_differences(matched)
        n_judged = judged.notna().sum(axis=1)
        part["n_missing"] = n_tables - n_judged
        part["n_unmatched"] = n_judged - matched.notna().sum(axis=1)
        parts.append(part.reset_index().assign(scenario=scenario))
    columns = [
        *("scenario", "selector", "n_better", "n_equal", "n_worse"),
        *("mean_difference", "low", "high", "p", "p_holm", "verdict"),
        *("n_missing", "n_unmatched"),
    ]
    return in_order(
        pd.concat(parts)[columns] if parts else pd.DataFrame(None, None, columns)
    )


def scaling_times(runs: pd.DataFrame) -> pd.DataFrame:
    """Return mean and standard deviation of the seconds, by number of columns."""
    groups = _timed(runs).groupby(["selector", "n_features"])["seconds"]
    table = groups.agg(seconds_mean="mean", seconds_std="std", n_runs="size")
    return in_order(table.reset_index())


def scaling_exponents(runs: pd.DataFrame) -> pd.DataFrame:
    """Fit seconds = a · columns^exponent, and the same with a fixed overhead.

    The exponent is the slope of ln seconds on ln columns, least squares over the runs,
    with the error and 95 % interval (low, high) of the regression. On small tables
    seconds are mostly overhead, and the slope is flat for that reason: the second fit,
    seconds = c + a · columns^exponent in logarithms, says what is left without it
    (overhead_seconds, exponent_less_overhead with less_low and less_high, from the
    slopes of the fit at its end). NaN where there are too few different numbers of
    columns: two for the first fit and three runs, four for the second and five runs.
    """
    rows = []
    for selector, group in _timed(runs).groupby("selector", sort=False):
        columns = group["n_features"].to_numpy(float)
        seconds = group["seconds"].to_numpy(float)
        fits = (*_log_slope(columns, seconds), *_overhead_fit(columns, seconds))
        rows.append((selector, *fits, len(group), columns.min(), columns.max()))
    names = [
        *("selector", "exponent", "error", "low", "high", "overhead_seconds"),
        *("exponent_less_overhead", "less_low", "less_high"),
        *("n_runs", "n_features_min", "n_features_max"),
    ]
    return in_order(pd.DataFrame(rows, columns=names))


def _timed(runs: pd.DataFrame) -> pd.DataFrame:
    is_timed = (runs["experiment"] == "scaling") & (runs["status"] == "done")
    return runs[is_timed & (runs["seconds"] > 0) & (runs["n_features"] > 0)]


def _log_slope(columns: Any, seconds: Any) -> tuple[float, ...]:
    """Return the slope in logarithms, its error and both ends of its interval."""
    if len(set(columns)) < 2 or len(columns) < 3:
        return (float("nan"),) * 4
    fit = stats.linregress(np.log(columns), np.log(seconds))
    width = stats.t.ppf(0.975, len(columns) - 2) * fit.stderr
    return fit.slope, fit.stderr, fit.slope - width, fit.slope + width


def _overhead_fit(columns: Any, seconds: Any) -> tuple[float, ...]:
    """Return overhead, exponent, its interval: overhead + a · columns^exponent."""
    if len(set(columns)) < 4 or len(columns) < 5:
        return (float("nan"),) * 4
    times = np.log(seconds)
    # Columns in units of the widest table: a is then the seconds that it adds.
    widths = np.log(columns / columns.max())

    def residuals(parameters: Any) -> Any:
        log_overhead, log_a, exponent = parameters
        return np.logaddexp(log_overhead, log_a + exponent * widths) - times

    low, high = times.min(), times.max()
    bounds = ([low - 20, low - 20, 0.0], [high + 1, high + 1, 5.0])
    # From little overhead and from nearly all of it: there are two valleys.
    starts = [(low - 16, high, 1.0), (low - 1, high, 0.5), (low - 1, high, 1.5)]
    fits = [
        optimize.least_squares(residuals, start, bounds=bounds, max_nfev=300)
        for start in starts
    ]
    best = min(fits, key=lambda fit: fit.cost)
    overhead, exponent = float(np.exp(best.x[0])), float(best.x[2])
    # Where the overhead is next to nothing its slope is too: the inverse leaves it out.
    covariance = np.linalg.pinv(best.jac.T @ best.jac, rcond=1e-10)
    n_free = len(columns) - len(best.x)
    error = math.sqrt(covariance[2, 2] * 2 * best.cost / n_free)
    width = float(stats.t.ppf(0.975, n_free)) * error
    return overhead, exponent, exponent - width, exponent + width
