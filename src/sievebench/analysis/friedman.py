"""Do the selectors differ at all, and which of them: Friedman and Nemenyi.

J. Demšar, Statistical comparisons of classifiers over multiple data sets, Journal of
Machine Learning Research 7 (2006).
"""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats


def friedman_test(ranks: pd.DataFrame, is_tie_corrected: bool = True) -> pd.DataFrame:
    """Test whether all selectors have the same mean rank.

    With N tables, k selectors and mean ranks R_j::

        χ² = 12 N / (k (k + 1)) · Σ_j (R_j − (k + 1) / 2)²

    divided, if there are ties, by 1 − Σ (t³ − t) / (N (k³ − k)) over groups of t equal
    ranks. Iman and Davenport's F = (N − 1) χ² / (N (k − 1) − χ²) is less conservative.

    Parameters
    ----------
    ranks : DataFrame of shape (n_selectors, n_datasets)
        Ranks on each table, without gaps.
    is_tie_corrected : bool, default=True
        Whether to divide, as scipy does and Demšar does not.

    Returns
    -------
    DataFrame
        One row: n_selectors, n_datasets, chi_square, p_value, f_statistic, f_p_value.

    Raises
    ------
    ValueError
        If there are fewer than two tables or selectors, or ranks are missing.
    """
    k, n = ranks.shape
    if k < 2 or n < 2 or ranks.isna().any(axis=None):
        raise ValueError(
            f"ranks must be at least 2 selectors × 2 datasets without gaps, "
            f"got {k} × {n} with {int(ranks.isna().sum().sum())} gaps."
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

    Parameters
    ----------
    n_selectors, n_datasets : int
        The numbers k and N.
    significance : float, default=0.05
        Chance of a false difference among all pairs.

    Returns
    -------
    float

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    quantile = stats.studentized_range.ppf(1 - significance, n_selectors, np.inf)
    k = n_selectors
    return float(quantile / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * n_datasets)))


def groups_alike(mean_ranks: pd.Series, difference: float) -> list[list[str]]:
    """Return the largest groups of selectors within a critical difference.

    Parameters
    ----------
    mean_ranks : Series
        Index selector.
    difference : float
        As `critical_difference` returns it.

    Returns
    -------
    list of list of str
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
    total = 0
    for _, column in ranks.items():
        counts = column.value_counts().to_numpy()
        total += int((counts**3 - counts).sum())
    return total


def _over(numerator: Any, denominator: Any) -> float:
    """Return a quotient; without a denominator there is all to say, or nothing."""
    if abs(denominator) > 1e-12:
        return float(numerator / denominator)
    return float("inf") if numerator > 1e-12 else float("nan")
