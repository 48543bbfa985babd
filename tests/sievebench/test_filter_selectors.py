"""Selectors of single columns and of lines: scores known by other ways."""

import numpy as np
import pytest
from scipy.linalg import hadamard
from scipy.special import softmax
from scipy.stats import f_oneway, pearsonr
from sklearn.feature_selection import f_classif, f_regression
from sklearn.svm import LinearSVC
from sklego.feature_selection import MaximumRelevanceMinimumRedundancy

from made_tables import INFORMATIVE, class_table, value_table
from sievebench.selectors import (
    MRMR,
    Lasso,
    LinearSVCElimination,
    MutualInformation,
    Univariate,
)
from sievebench.selectors.mrmr import RunningRedundancy


@pytest.mark.parametrize("n_classes", [2, 4])
def test_scores_are_those_of_one_way_analysis_of_variance(n_classes):
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=90)
    X = rng.normal(size=(90, 5)) * 10.0 ** np.arange(5) + y[:, None]
    groups = [X[y == label] for label in range(n_classes)]
    np.testing.assert_allclose(
        Univariate().fit(X, y).scores_, f_oneway(*groups).statistic, rtol=1e-9
    )


def test_scores_of_regression_follow_from_the_correlation():
    X, y = value_table()
    r = np.array([pearsonr(column, y).statistic for column in X.T])
    expected = (len(y) - 2) * r**2 / (1 - r**2)
    np.testing.assert_allclose(Univariate().fit(X, y).scores_, expected, rtol=1e-8)


def test_constant_column_scores_zero_and_perfect_column_infinite():
    y = np.repeat([0, 1], 10)
    X = np.column_stack([np.full(20, 0.1), y, np.random.default_rng(0).normal(size=20)])
    scores = Univariate().fit(X, y).scores_
    assert scores[0] == 0
    assert scores[1] == np.inf
    assert 0 <= scores[2] < np.inf


@pytest.mark.parametrize("seed", range(5))
def test_column_that_tells_the_class_is_first_whatever_the_rounding(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=200)
    X = np.column_stack([rng.normal(size=(200, 3)), (y - y.mean()) / y.std()])
    assert Univariate().fit(X, y).ranking_[3] == 1


def test_target_that_does_not_vary_tells_nothing():
    X = np.random.default_rng(0).normal(size=(20, 3))
    selector = Univariate(task="regression").fit(X, np.full(20, 2.5))
    assert (selector.scores_ == 0).all()


@pytest.mark.parametrize("correlation", [0.0, 0.6, 0.9])
def test_estimate_for_normal_variables_is_near_the_closed_form(correlation):
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 3000))
    y = correlation * x + np.sqrt(1 - correlation**2) * noise
    scores = MutualInformation(random_state=0).fit(x[:, None] * 1000, y).scores_
    # The spread of this estimator at 3000 rows is about 0.02 nats.
    assert scores[0] == pytest.approx(-0.5 * np.log(1 - correlation**2), abs=0.06)


def test_estimate_sees_classes_and_relations_without_correlation():
    y = np.repeat([0, 1], 500)
    X = np.random.default_rng(0).random((1000, 1)) + 5 * y[:, None]
    scores = MutualInformation(random_state=0).fit(X, y).scores_
    assert scores[0] == pytest.approx(np.log(2), abs=0.01)  # the entropy
    X = np.random.default_rng(0).normal(size=(500, 4))
    selector = MutualInformation(n_features_to_select=1, random_state=0)
    assert selector.fit(X, X[:, 2] ** 2).support_[2]


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


def test_copies_come_after_weaker_new_columns_and_perfect_ones_first():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = 2 * X[:, 0] + X[:, 1]
    X[:, 2] = X[:, 0] + 0.05 * rng.normal(size=400)
    assert np.argsort(MRMR().fit(X, y).ranking_).tolist() == [0, 1, 2]
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


def test_columns_are_dropped_as_in_a_plain_loop():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    y = np.argmax(X[:, :3] + rng.normal(size=(150, 3)), axis=1)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    left, dropped = list(range(6)), []
    while len(left) > 2:
        weights = LinearSVC(dual=False).fit(Z[:, left], y).coef_
        dropped.append(left.pop(int(np.argmin(np.sum(weights**2, axis=0)))))

    selector = LinearSVCElimination(n_features_to_select=2).fit(X, y)
    order = np.argsort(selector.ranking_)
    assert order[2:].tolist() == dropped[::-1]
    assert sorted(order[:2]) == left


def test_many_columns_may_leave_at_a_time():
    selector = LinearSVCElimination(n_features_to_select=2, step=0.4).fit(
        *class_table()
    )
    assert tuple(np.flatnonzero(selector.support_)) == INFORMATIVE


def test_elimination_leaves_out_what_the_others_say_already():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + X[:, 1]
    X[:, 2] = y + rng.normal(size=300)  # related to y, of no use beside 0 and 1
    selector = LinearSVCElimination(n_features_to_select=2).fit(X, y)
    assert selector.support_.tolist() == [True, True, False]


def standard(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def test_regression_meets_the_conditions_of_optimality():
    X, y = value_table()
    alpha = 0.05
    selector = Lasso(alpha=alpha).fit(X, y)
    assert selector.has_converged_

    Z, target, b = standard(X), standard(y), selector.coef_[0]
    gradient = Z.T @ (target - Z @ b) / len(y)
    active = b != 0
    # The solver stops at a duality gap of 1e-4 of the target's variance.
    np.testing.assert_allclose(gradient[active], alpha * np.sign(b[active]), atol=1e-3)
    assert (np.abs(gradient[~active]) <= alpha + 1e-3).all()
    np.testing.assert_array_equal(selector.scores_, np.abs(b))


def test_classification_meets_the_conditions_of_optimality():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    y = np.argmax(X[:, :3] + 0.5 * rng.normal(size=(300, 3)), axis=1)
    C = 0.05
    selector = Lasso(C=C, max_iter=10_000).fit(X, y)
    assert selector.has_converged_

    Z, W = standard(X), selector.coef_
    # The intercepts are not penalised: they make the mean residual zero.
    intercepts = np.zeros(3)
    for _ in range(200):
        residual = np.eye(3)[y] - softmax(Z @ W.T + intercepts, axis=1)
        intercepts += residual.mean(axis=0)
    gradient = C * residual.T @ Z
    active = W != 0
    # SAGA stops when no coefficient moves by more than 1e-4 of the largest.
    np.testing.assert_allclose(gradient[active], np.sign(W[active]), atol=0.02)
    assert (np.abs(gradient[~active]) <= 1.02).all()
    np.testing.assert_allclose(selector.scores_, np.sqrt(np.sum(W**2, axis=0)))


def test_penalty_of_the_largest_correlation_leaves_nothing():
    X, y = value_table()
    largest = np.abs(standard(X).T @ standard(y) / len(y)).max()
    assert (Lasso(alpha=1.001 * largest).fit(X, y).scores_ == 0).all()
    assert (Lasso(alpha=0.95 * largest).fit(X, y).scores_ > 0).sum() == 1


@pytest.mark.parametrize(
    ("table", "expected"), [("classification", 2), ("regression", 3)]
)
def test_passes_for_classes_are_limited_apart(table, expected):
    X = np.random.default_rng(0).normal(size=(60, 4))
    y = X @ [1.0, -2.0, 0.5, 3.0]
    target = y if table == "regression" else (y > 0).astype(int)
    selector = Lasso(
        max_iter=3, max_iter_classes=2, alpha=1e-9, task=table, random_state=0
    ).fit(X, target)
    assert (selector.n_iter_, selector.has_converged_) == (expected, False)
