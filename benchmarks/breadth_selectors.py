"""The automatic selectors of the breadth suite, all with their defaults.

On one core each, so that seconds can be compared.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
from breadth_cells import Cell, as_numbers, imputed
from scipy.stats import norm, rankdata
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import RFECV, SelectFdr, f_classif, f_regression
from sklearn.linear_model import LassoCV, LogisticRegressionCV
from sklearn.preprocessing import StandardScaler

from featuresieve import AutoNFSClassifier, AutoNFSRegressor

Select = Callable[[Cell, int], np.ndarray]


def ours(cell: Cell, seed: int, **arguments: Any) -> np.ndarray:
    """Select with default arguments."""
    kind = AutoNFSRegressor if cell.is_regression else AutoNFSClassifier
    selector = kind(random_state=seed, **arguments)
    if hasattr(selector, "n_jobs"):  # the former rule has one thread anyway
        selector.set_params(n_jobs=1)
    return selector.fit(cell.train, cell.y_train).support_


def price(cell: Cell, seed: int) -> np.ndarray:
    """Select with the votes alone."""
    return ours(cell, seed, balance="price")


def all_relevant(cell: Cell, seed: int) -> np.ndarray:
    """Keep everything that carries information."""
    return ours(cell, seed, goal="all_relevant")


def trees(cell: Cell, seed: int) -> np.ndarray:
    """Take a larger set where randomised trees are shown to be better with it."""
    return ours(cell, seed, judge="trees")


def screened(cell: Cell, seed: int) -> np.ndarray:
    """Let members vote on what an F test of normal scores finds, at a rate of 5 %.

    Where there are more columns than rows; two votes of a hundred are enough then.
    """
    n_rows, n_columns = cell.train.shape
    if n_columns <= n_rows:
        return ours(cell, seed)
    support = _f_test(cell, normal_scores=True)
    if not support.any():
        return ours(cell, seed)
    few = replace(cell, train=cell.train.loc[:, support])
    with patch("featuresieve.search._votes.VOTE_SHARE", 0.02):
        support[support] = ours(few, seed)
    return support


def boruta(cell: Cell, seed: int) -> np.ndarray:
    """Run BorutaPy as its README does: trees of depth five, as many as it likes."""
    from boruta import BorutaPy

    forest = RandomForestClassifier(
        max_depth=5, class_weight="balanced", random_state=seed
    )
    if cell.is_regression:
        forest = RandomForestRegressor(max_depth=5, random_state=seed)
    selector = BorutaPy(forest, n_estimators="auto", random_state=seed)
    return selector.fit(_filled(cell), cell.y_train).support_


def forest_mean(cell: Cell, seed: int) -> np.ndarray:
    """Keep what is above the mean importance of 500 trees, as SelectFromModel does."""
    kind = RandomForestRegressor if cell.is_regression else RandomForestClassifier
    importances = kind(500, random_state=seed).fit(_filled(cell), cell.y_train)
    importances = importances.feature_importances_
    return importances >= importances.mean()


def f_test(cell: Cell, seed: int) -> np.ndarray:  # noqa: ARG001
    """Keep what the F test finds at a false discovery rate of 5 %."""
    return _f_test(cell)


def _f_test(cell: Cell, *, normal_scores: bool = False) -> np.ndarray:
    """Return what the F test finds, among values or the normal scores of ranks."""
    X, y = _filled(cell), cell.y_train
    varies = X.std(axis=0) > 0
    if normal_scores:
        X = norm.ppf((rankdata(X, axis=0) - 0.5) / len(X))
        y = rankdata(y) if cell.is_regression else y
    test = SelectFdr(f_regression if cell.is_regression else f_classif, alpha=0.05)
    support = np.zeros(X.shape[1], dtype=bool)
    support[varies] = test.fit(X[:, varies], y).get_support()
    return support


def l1(cell: Cell, seed: int) -> np.ndarray:
    """Keep what has a coefficient in a cross-validated lasso."""
    X = StandardScaler().fit_transform(_filled(cell))
    if cell.is_regression:
        model = LassoCV(cv=5, random_state=seed, max_iter=3000)
        return model.fit(X, cell.y_train).coef_ != 0
    model = LogisticRegressionCV(
        Cs=8,
        cv=3,
        l1_ratios=(1,),
        solver="saga",
        max_iter=150,
        random_state=seed,
        scoring="neg_log_loss",
    )
    return (model.fit(X, cell.y_train).coef_ != 0).any(axis=0)


def rfecv(cell: Cell, seed: int) -> np.ndarray:
    """Eliminate a tenth of the columns at a time by a forest, judged by five folds."""
    kind = RandomForestRegressor if cell.is_regression else RandomForestClassifier
    selector = RFECV(kind(random_state=seed), step=0.1, cv=5)
    return selector.fit(_filled(cell), cell.y_train).support_


def autonfs(cell: Cell, seed: int) -> np.ndarray:
    """Run the authors' package with its defaults."""
    import torch
    from autonfs import AutoNFS

    torch.manual_seed(seed)
    task = "regression" if cell.is_regression else "classification"
    if cell.is_regression:
        y = StandardScaler().fit_transform(cell.y_train[:, None])[:, 0]
    else:
        y = np.unique(cell.y_train, return_inverse=True)[1]
    selector = AutoNFS(mode=task, random_state=seed)
    selector.fit(_filled(cell).astype(np.float32), y)
    return np.asarray(selector.support_, dtype=bool)


def _filled(cell: Cell) -> np.ndarray:
    """Return the training rows as numbers without gaps."""
    return imputed(as_numbers(cell.train))[0]


SELECTORS: dict[str, Select] = {
    "auto": ours,
    "former": ours,  # with the sources of commit 77faee8 on PYTHONPATH
    "price": price,
    "all_relevant": all_relevant,
    "trees": trees,
    "screened": screened,
    "forest": forest_mean,
    "f_test": f_test,
    "l1": l1,
    "autonfs": autonfs,
    "boruta": boruta,
    "rfecv": rfecv,
}
QUICK = ("auto", "price", "forest", "f_test", "l1")  # minutes on one core
# With two seeds, for their overlap.
TWICE = ("auto", "price", "forest", "trees", "screened")
# Ours, but not the default.
UNRANKED = ("former", "price", "all_relevant", "trees", "screened")
