"""How sure a comparison of selectors over tables is: intervals and paired tests.

Rows are drawn with the tables as the unit: what the seeds of a table say is not
independent. Scores and ranks are tables of shape (n_selectors, n_datasets).
"""

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from sievebench.analysis.ranks import as_printed, rank_scores

SIGNIFICANCE = 0.05
_N_RESAMPLES = 10_000
_LEAST_TABLES = 3  # of fewer, an interval says nothing
_LEAST_POWER = 5  # differences; with fewer no sign test can reach 0.05


def bootstrap_means(values: Any) -> npt.NDArray[np.float64]:
    """Return means over the first axis, drawn anew: (n_resamples, ...).

    The draws are the same for values of the same length.
    """
    values = np.asarray(values, dtype=np.float64)
    n = len(values)
    draws = np.random.default_rng(0).integers(n, size=(_N_RESAMPLES, n))
    means: npt.NDArray[np.float64] = values[draws].mean(axis=1)
    return means


def interval_of_mean(values: Any) -> tuple[float, float]:
    """Return both ends of the 95 % bootstrap interval (percentiles) of a mean.

    Missing values are left out; NaN if there are fewer than three.
    """
    known = np.asarray(values, dtype=np.float64)
    known = known[np.isfinite(known)]
    if len(known) < _LEAST_TABLES:
        return float("nan"), float("nan")
    return _middle(bootstrap_means(known))


def rank_margin(scores: pd.DataFrame, selector: str) -> dict[str, Any]:
    """Return the mean rank of a selector and how far the best other is behind it.

    rank, low, high; best_other, rank_other; margin (above 0 if the selector is
    first), margin_low, margin_high. Tables are drawn anew, and the best other is
    chosen in each draw, so that choosing it is part of the uncertainty.
    """
    ranks = rank_scores(scores).T  # (n_datasets, n_selectors)
    means = ranks.mean()
    best = str(means.drop(selector).idxmin())
    drawn = pd.DataFrame(bootstrap_means(ranks), columns=ranks.columns)
    margins = drawn.drop(columns=selector).min(axis=1) - drawn[selector]
    low, high = interval_of_mean(ranks[selector])
    margin_low, margin_high = (low, high) if np.isnan(low) else _middle(margins)
    return {
        "rank": means[selector],
        "low": low,
        "high": high,
        "best_other": best,
        "rank_other": means[best],
        "margin": means[best] - means[selector],
        "margin_low": margin_low,
        "margin_high": margin_high,
    }


def without_sisters(scores: pd.DataFrame, selector: str) -> pd.DataFrame:
    """Return the scores without the other variants of a selector."""
    name = selector.partition(":")[0]
    is_sister = scores.index.str.match(rf"{re.escape(name)}(:|$)")
    return scores[~is_sister | (scores.index == selector)]


def compare_with(scores: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return each other selector beside a reference, without its sisters.

    As `compare_differences`, of the printed scores.
    """
    printed = as_printed(without_sisters(scores, reference))
    return compare_differences(printed.loc[reference] - printed.drop(index=reference))


def compare_differences(differences: pd.DataFrame) -> pd.DataFrame:
    """Return what the differences on the tables say about each selector.

    Differences are of shape (n_selectors, n_datasets), above 0 where the reference is
    better, NaN where one of both has no score. Columns n_better, n_equal, n_worse (of
    the reference), mean_difference, low, high (its 95 % interval), p (Wilcoxon's
    signed ranks, two-sided), p_holm (Holm's correction for all selectors), verdict
    ("better", "worse" by p_holm < 0.05, or "cannot be told apart").
    """
    rows = {name: _row(row.dropna().round(9)) for name, row in differences.iterrows()}
    columns = ["n_better", "n_equal", "n_worse", "mean_difference", "low", "high", "p"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    table["p_holm"] = holm(table["p"].astype(float))
    is_sure = table["p_holm"] < SIGNIFICANCE
    side = np.where(table["mean_difference"] > 0, "better", "worse")
    table["verdict"] = np.where(is_sure, side, "cannot be told apart")
    return table.rename_axis(differences.index.name or "selector")


def holm(p_values: pd.Series) -> pd.Series:
    """Return Holm's corrected p values: k-th smallest of m, times m − k + 1.

    Never less than that of a smaller p value, 1 at most; NaN stays and does not count.

    Examples
    --------
    >>> holm(pd.Series([0.01, 0.04, 0.03])).round(2).to_list()
    [0.03, 0.06, 0.06]
    """
    ordered = p_values.dropna().sort_values(kind="stable")
    steps = ordered * np.arange(len(ordered), 0, -1)
    return steps.cummax().clip(upper=1.0).reindex(p_values.index)


def _row(differences: pd.Series) -> tuple[Any, ...]:
    values = differences.to_numpy(float)
    counts = ((values > 0).sum(), (values == 0).sum(), (values < 0).sum())
    mean = values.mean() if len(values) else np.nan
    return (*counts, mean, *interval_of_mean(values), _signed_rank_p(values))


def _signed_rank_p(differences: npt.NDArray[np.float64]) -> float:
    """Return the p value of Wilcoxon's signed ranks, without zeros; NaN for too few."""
    known = differences[differences != 0]
    if len(known) < _LEAST_POWER:
        return float("nan")
    ranks = np.rint(2 * stats.rankdata(np.abs(known))).astype(int)  # ties have halves
    # How likely each sum of ranks is by chance: exact, with equal ranks too.
    chance = np.zeros(ranks.sum() + 1)
    chance[0] = 1.0
    for rank in ranks:
        chance[rank:] += chance[: len(chance) - rank].copy()
        chance /= 2
    above = ranks[known > 0].sum()
    least = min(above, ranks.sum() - above)
    return min(1.0, 2 * float(chance[: least + 1].sum()))


def _middle(drawn: Any) -> tuple[float, float]:
    low, high = np.percentile(drawn, [2.5, 97.5])
    return float(low), float(high)
