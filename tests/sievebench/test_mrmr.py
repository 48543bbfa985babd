"""The order of mRMR against plain loops and the package, and what it is for."""

import numpy as np
import pytest
from sklearn.feature_selection import f_classif, f_regression
from sklego.feature_selection import MaximumRelevanceMinimumRedundancy

from made_tables import class_table, value_table
from sievebench.selectors import MRMR


def mixed(table, seed=0):
    """Return a table whose columns are related to each other."""
    X, y = table()
    return X @ np.random.default_rng(seed).normal(size=(8, 8)), y


def order_in_plain_loops(X, y, statistic, count):
    relevance, correlation = statistic(X, y)[0], np.abs(np.corrcoef(X.T))
    chosen = [int(np.argmax(relevance))]
    while len(chosen) < count:
        left = [j for j in range(X.shape[1]) if j not in chosen]
        quotients = [relevance[j] / correlation[j, chosen].mean() for j in left]
        chosen.append(left[int(np.argmax(quotients))])
    return chosen


@pytest.mark.parametrize(
    ("table", "statistic"), [(class_table, f_classif), (value_table, f_regression)]
)
def test_columns_are_added_as_in_plain_loops(table, statistic):
    X, y = mixed(table)
    selector = MRMR(n_features_to_select=6).fit(X, y)
    order = np.argsort(selector.ranking_)
    assert order[:6].tolist() == order_in_plain_loops(X, y, statistic, 6)


def test_order_is_that_of_the_package_with_its_own_redundancy():
    X, y = mixed(value_table, seed=1)
    package = MaximumRelevanceMinimumRedundancy(k=7, kind="regression").fit(X, y)
    order = np.argsort(MRMR(n_features_to_select=7).fit(X, y).ranking_)
    assert order[:7].tolist() == package.selected_features_.tolist()


def test_copy_of_a_kept_column_comes_after_a_weaker_new_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = 2 * X[:, 0] + X[:, 1]
    X[:, 2] = X[:, 0] + 0.05 * rng.normal(size=400)
    assert np.argsort(MRMR().fit(X, y).ranking_).tolist() == [0, 1, 2]


def test_column_that_tells_the_class_without_error_comes_first():
    X, y = class_table()
    X[:, 7] = y
    assert MRMR(n_features_to_select=3).fit(X, y).ranking_[7] == 1
