"""Ranks: the rule of the paper, and ranks over complete cases."""

from typing import Any

import pandas as pd


def rank_scores(scores: pd.DataFrame, n_decimals: int = 3) -> pd.DataFrame:
    """Rank the selectors on each table by the rule of the paper.

    Ranked is the score as printed with three decimals, larger first; equal ones share
    the mean of their ranks. A selector without a score gets the last rank there is, the
    number of selectors, also where several have none.

    Parameters
    ----------
    scores : DataFrame of shape (n_selectors, n_datasets)
        NaN where there is no score.
    n_decimals : int, default=3
        Decimals that count.

    Returns
    -------
    DataFrame of shape (n_selectors, n_datasets)
    """
    ranks = as_printed(scores, n_decimals).rank(ascending=False, method="average")
    return ranks.fillna(float(len(scores)))


def as_printed(scores: pd.DataFrame, n_decimals: int = 3) -> pd.DataFrame:
    """Return what is left of the scores when they are printed.

    Parameters
    ----------
    scores : DataFrame
        Numbers.
    n_decimals : int, default=3
        Decimals printed.

    Returns
    -------
    DataFrame
    """
    return scores.map(lambda score: float(f"{score:.{n_decimals}f}"))


def complete_datasets(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the tables on which every selector has a score.

    A selector without any score is left out: it would leave no table.

    Parameters
    ----------
    scores : DataFrame of shape (n_selectors, n_datasets)
        NaN where there is no score.

    Returns
    -------
    DataFrame of shape (n_selectors, n_complete)
    """
    return scores.dropna(axis="index", how="all").dropna(axis="columns")


def complete_selectors(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the selectors that have a score on every table.

    Parameters
    ----------
    scores : DataFrame of shape (n_selectors, n_datasets)
        NaN where there is no score.

    Returns
    -------
    DataFrame of shape (n_complete, n_datasets)
    """
    return scores.dropna(axis="index")


def mean_ranks(scores: pd.DataFrame, n_decimals: int = 3) -> pd.DataFrame:
    """Return the mean rank of each selector, by both readings of a missing score.

    Parameters
    ----------
    scores : DataFrame of shape (n_selectors, n_datasets)
        NaN where there is no score.
    n_decimals : int, default=3
        Decimals that count.

    Returns
    -------
    DataFrame
        Index selector; rank (the paper's rule), rank_complete (only tables on which
        all have a score, NaN if there is none), n_best (tables on which it is best or
        tied), n_missing, n_datasets, n_complete.
    """
    ranks = rank_scores(scores, n_decimals)
    complete = complete_datasets(scores)
    printed = as_printed(scores, n_decimals)
    return pd.DataFrame(
        {
            "rank": ranks.mean(axis=1),
            "rank_complete": rank_scores(complete, n_decimals).mean(axis=1),
            "n_best": (printed == printed.max()).sum(axis=1),
            "n_missing": scores.isna().sum(axis=1),
            "n_datasets": scores.shape[1],
            "n_complete": complete.shape[1],
        },
        index=scores.index,
    )


def ranks_by_variant(scores: pd.DataFrame, n_decimals: int = 3) -> pd.DataFrame:
    """Return mean ranks in a field with one variant of each selector at a time.

    Three variants of one selector in one field would push the others down. Here each
    variant is ranked without its sisters: one column a variant, the whole field in it.
    Without variants there is nothing to return.

    Parameters
    ----------
    scores : DataFrame of shape (n_selectors, n_datasets)
        NaN where there is no score.
    n_decimals : int, default=3
        Decimals that count.

    Returns
    -------
    DataFrame
        Index selector, a column for each variant; NaN for its sisters.
    """
    fields: dict[str, Any] = {}
    for name in scores.index:
        selector = name.partition(":")[0]
        sisters = [
            other
            for other in scores.index
            if other != name and other.partition(":")[0] == selector
        ]
        if sisters:
            field = scores.drop(index=sisters)
            fields[name] = rank_scores(field, n_decimals).mean(axis=1)
    return pd.DataFrame(fields, index=scores.index)
