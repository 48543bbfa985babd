import numpy as np
import pytest
from scipy.linalg import hadamard
from sklearn.feature_selection import f_classif, f_regression
from sklego.feature_selection import MaximumRelevanceMinimumRedundancy

from made_tables import class_table, value_table
from sievebench.selectors import MRMR, LinearSVCElimination
from sievebench.selectors.mrmr import RunningRedundancy


def mixed(table, seed=0):
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


def test_unrelated_column_has_a_redundancy_of_a_thousandth():
    # Orthogonal columns of signs: every correlation is zero, none of relevance is.
    signs = hadamard(8)[:, 1:5].astype(float)
    y = signs @ [4.0, 3.0, 2.0, 1.0] + 0.1 * hadamard(8)[:, 5]
    redundancy = RunningRedundancy()
    assert redundancy(signs, [0], [1, 2, 3]).tolist() == [1e-3] * 3
    assert redundancy(signs, [0, 1], [2, 3]).tolist() == [2e-3] * 2
    order = np.argsort(MRMR(n_features_to_select=3).fit(signs, y).ranking_)
    assert order.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", [MRMR, LinearSVCElimination])
def test_ties_between_equal_columns_are_random(kind):
    X, y = value_table()
    X = np.repeat(X[:, :1], 6, axis=1)
    kept = [
        np.flatnonzero(
            kind(n_features_to_select=1, random_state=seed).fit(X, y).support_
        )
        for seed in range(30)
    ]
    # Thirty draws of six: all the same column has a chance of 6 ** -29.
    assert len(np.unique(kept)) > 2
