import numpy as np
import pytest
from scipy.special import softmax

from made_tables import value_table
from sievebench.selectors import Lasso


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
