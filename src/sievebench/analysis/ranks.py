"""Ranks by the rule of the paper and over complete cases, and tests of them.

Scores and ranks are tables of shape (n_selectors, n_datasets), NaN where there is none.
The tests are those of J. Demšar, Statistical comparisons of classifiers over multiple
data sets, Journal of Machine Learning Research 7 (2006).
"""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats


def rank_scores(scores: pd.DataFrame, n_decimals: int = 3) -> pd.DataFrame:
    """Rank the selectors on each table by the rule of the paper.

    Ranked is the score as printed with three decimals, larger first; equal ones share
    the mean of their ranks. A selector without a score gets the last rank there is, the
    number of selectors, also where several have none.
    """
    ranks = as_printed(scores, n_decimals).rank(ascending=False, method="average")
    return ranks.fillna(float(len(scores)))


def as_printed(scores: pd.DataFrame, n_decimals: int = 3) -> pd.DataFrame:
    """Return what is left of the scores when they are printed."""
    return scores.map(lambda score: float(f"{score:.{n_decimals}f}"))


def complete_datasets(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the tables on which every selector has a score.

    A selector without any score is left out: it would leave no table.
    """
    return scores.dropna(axis="index", how="all").dropna(axis="columns")


def complete_selectors(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the selectors that have a score on every table."""
    return scores.dropna(axis="index")


def mean_ranks(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the mean rank of each selector, by both readings of a missing score.

    rank follows the paper's rule; rank_complete counts only tables on which all have a
    score, NaN if there is none; n_best is on how many it is best or tied.
    """
    complete = complete_datasets(scores)
    printed = as_printed(scores)
    return pd.DataFrame(
        {
            "rank": rank_scores(scores).mean(axis=1),
            "rank_complete": rank_scores(complete).mean(axis=1),
            "n_best": (printed == printed.max()).sum(axis=1),
            "n_missing": scores.isna().sum(axis=1),
            "n_datasets": scores.shape[1],
            "n_complete": complete.shape[1],
        },
        index=scores.index,
    )


def friedman_test(ranks: pd.DataFrame, is_tie_corrected: bool = True) -> pd.DataFrame:
    """Test whether all selectors have the same mean rank.

    With N tables, k selectors and mean ranks R_j::

        χ² = 12 N / (k (k + 1)) · Σ_j (R_j − (k + 1) / 2)²

    divided, if there are ties, by 1 − Σ (t³ − t) / (N (k³ − k)) over groups of t equal
    ranks, as scipy does and Demšar does not. Iman and Davenport's
    F = (N − 1) χ² / (N (k − 1) − χ²) is less conservative. The answer is one row.
    """
    k, n = ranks.shape
    n_gaps = int(ranks.isna().sum().sum())
    if k < 2 or n < 2 or n_gaps:
        raise ValueError(
            "ranks must be at least 2 selectors × 2 datasets without gaps, "
            f"got {k} × {n} with {n_gaps} gaps."
        )
    spread = ((ranks.mean(axis=1) - (k + 1) / 2) ** 2).sum()
    chi_square = 12 * n / (k * (k + 1)) * spread
    if is_tie_corrected:
        chi_square = _over(chi_square, 1 - _ties(ranks) / (n * (k**3 - k)))
    f_statistic = _over((n - 1) * chi_square, n * (k - 1) - chi_square)
    freedoms = (k - 1, (k - 1) * (n - 1))
    return pd.DataFrame(
        {
            "n_selectors": [k],
            "n_datasets": [n],
            "chi_square": [chi_square],
            "p_value": [stats.chi2.sf(chi_square, k - 1)],
            "f_statistic": [f_statistic],
            "f_p_value": [stats.f.sf(f_statistic, *freedoms)],
        }
    )


@cache  # the quantile takes a while
def critical_difference(
    n_selectors: int, n_datasets: int, significance: float = 0.05
) -> float:
    """Return how far mean ranks must be apart to differ, by Nemenyi's test.

    q · √(k (k + 1) / (6 N)), q the upper quantile of the studentized range with
    infinitely many degrees of freedom, over √2.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    k = n_selectors
    quantile = stats.studentized_range.ppf(1 - significance, k, np.inf)
    return float(quantile / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * n_datasets)))


def groups_alike(mean_ranks: pd.Series, difference: float) -> list[list[str]]:
    """Return the largest groups of selectors within a critical difference.

    Best group first, at least two in each; none is part of another.
    """
    ordered = mean_ranks.sort_values(kind="stable")
    values = ordered.to_numpy()
    groups: list[list[str]] = []
    last_end = 0
    for start, value in enumerate(values):
        # A hair of tolerance: ranks are multiples of 1 / (2 N).
        end = int(np.searchsorted(values, value + difference + 1e-9, side="right"))
        if end > last_end and end - start > 1:
            groups.append([str(name) for name in ordered.index[start:end]])
        last_end = max(last_end, end)
    return groups


def _ties(ranks: pd.DataFrame) -> int:
    """Return Σ (t³ − t) over the groups of equal ranks of each table."""
    counts = [column.value_counts() for _, column in ranks.items()]
    return sum(int((count**3 - count).sum()) for count in counts)


def _over(numerator: Any, denominator: Any) -> float:
    """Return a quotient; without a denominator there is all to say, or nothing."""
    if abs(denominator) > 1e-12:
        return float(numerator / denominator)
    return float("inf") if numerator > 1e-12 else float("nan")
