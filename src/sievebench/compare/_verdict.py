"""Which selectors can be told apart from the best, and what that comes to in words."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

# The one selector that selects nothing: what the others are seen against.
REFERENCE = "none"
ERROR_RATE = 0.05
_WORDS = (
    *("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
    *("ten", "eleven", "twelve"),
)


def against_best(scores: pd.DataFrame) -> pd.DataFrame:
    """Return how each selector's score differs from the best one's, and how surely.

    Of each fold's scores, one row a selector, comes one row a selector: `difference`,
    the mean of the paired differences; `low` and `high`, its interval; `p`, that of
    the t-test. The variance of a paired difference is pooled over the selectors, folds
    being the blocks of a two-way layout; a selector whose own is larger has that.
    For k folds, whose training rows overlap, Nadeau and Bengio's correction makes the
    variance of the mean ``1 / k + 1 / (k - 1)`` times that. `p` and the intervals are
    Bonferroni's for all comparisons: an interval excludes 0 where p is below
    `ERROR_RATE`. The reference is compared, but never the best.

    References
    ----------
    C. Nadeau, Y. Bengio, "Inference for the Generalization Error", Machine Learning 52
    (2003).
    """
    n_selectors, n_folds = scores.shape
    others = scores.drop(index=REFERENCE, errors="ignore").mean(axis=1)
    paired = scores - scores.loc[others.idxmax()] if len(others) else scores * np.nan
    difference = paired.mean(axis=1)
    n_tests = max(1, n_selectors - 1)
    n_free = n_tests * (n_folds - 1)
    residuals = paired.sub(difference, axis=0)
    residuals -= residuals.mean()
    pooled = 2 * residuals.pow(2).to_numpy().sum() / n_free
    variance = paired.var(axis=1, ddof=1).clip(lower=pooled)
    spread = np.sqrt(variance * (1 / n_folds + 1 / (n_folds - 1)))
    reach = spread * stats.t.isf(ERROR_RATE / (2 * n_tests), n_free)
    reach = reach.where(paired.ne(0.0).any(axis=1), 0.0)  # the same in every fold
    t = (difference / spread).where(difference != 0.0, 0.0)  # not 0 / 0
    p = np.minimum(1.0, n_tests * 2 * stats.t.sf(t.abs(), n_free))
    return pd.DataFrame(
        {
            "difference": difference,
            "low": difference - reach,
            "high": difference + reach,
            "p": pd.Series(p, scores.index),
        }
    )


def is_level(rows: pd.DataFrame) -> Any:
    """Tell which rows cannot be told apart from the best; none without a score."""
    return rows["p"] >= ERROR_RATE


def verdict(rows: pd.DataFrame, n_columns: int) -> list[str]:
    """Return sentences: the best, who cannot be told apart from it, the smallest."""
    scored = rows[rows["reason"] == ""]
    selectors = scored[scored["selector"] != REFERENCE]
    if not len(selectors):
        return ["No selector has finished."]
    level = selectors[is_level(selectors)]
    sentences = [_first(level, len(selectors), n_columns)]
    if len(level) > 1:
        sentences.append(_smallest(level, n_columns))
    for row in scored[scored["selector"] == REFERENCE].itertuples():
        how = "which cannot be told apart from the best"
        if row.p < ERROR_RATE:
            how = f"{'better' if row.difference > 0 else 'worse'} than the best"
        every = f"With all {n_columns} columns the score is {row.score:.4f}"
        sentences.append(f"{every}, {how}.")
    if len(rows) > len(scored):
        n = len(rows) - len(scored)
        sentences.append(f"{_number(n).capitalize()} without a score.")
    return sentences


def _first(level: pd.DataFrame, n_selectors: int, n_columns: int) -> str:
    """Return the sentence about the best."""
    best = level.iloc[0]
    score = f"{best['label']}, with a score of {best['score']:.4f}"
    kept = f"{best['n_kept']:.1f} of {n_columns} columns"
    if n_selectors == 1:
        return f"{score}, keeps {kept}."
    if len(level) == 1:
        return f"The best is {score} and {kept}; the others are worse."
    if len(level) == n_selectors:
        n = _number(n_selectors)
        return f"The {n} selectors cannot be told apart; the best is {score}."
    names = ", ".join(level["label"])
    n = _number(len(level)).capitalize()
    return f"{n} of {n_selectors} selectors cannot be told apart: {names}."


def _smallest(level: pd.DataFrame, n_columns: int) -> str:
    """Return the sentence about those of the best that keep fewest columns."""
    fewest = level["n_kept"].min()
    kept = f"{fewest:.1f} of {n_columns} columns"
    if (level["n_kept"] == fewest).all():
        fastest = level.loc[level["seconds"].idxmin()]
        seconds = f"{fastest['seconds']:.2f} s a fit"
        return f"Each keeps {kept}; the fastest is {fastest['label']}, {seconds}."
    if level.iloc[0]["n_kept"] == fewest:
        return f"{level.iloc[0]['label']} is the smallest too, with {kept}."
    names = " and ".join(level.loc[level["n_kept"] == fewest, "label"])
    return f"The smallest is {names}, with {kept}."


def _number(n: int) -> str:
    return _WORDS[n] if n < len(_WORDS) else str(n)
