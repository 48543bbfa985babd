"""What a gate says alone, and what it shares with another, against other counts."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression

from featuresieve.problem import Gates, Problem, related_gates, shared_variance


def rare_and_normal(rng, n_rows=300):
    """Return columns of normal numbers and indicators of few rows."""
    X = rng.standard_normal((n_rows, 20)).astype(np.float32)
    X[:, 10:] = X[:, 10:] > 2.2
    return X


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_noise_is_seldom_related_and_a_curve_is(form):
    n_alarms = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X = rare_and_normal(rng)
        is_rare = (rng.random(300) < 0.05).astype(np.int64)
        n_alarms += related_gates(Problem(form(X), is_rare, 2, "classification")).any()
        bent = np.abs(X[:, :1]).astype(np.float32)
        assert related_gates(Problem(form(X), bent, 1, "regression"))[0]
    assert n_alarms <= 12  # 5 % expected; more in one of 500 runs


@pytest.mark.parametrize("weights", [None, np.repeat([0.5, 1.5], 150)])
def test_shared_variance_is_that_of_a_linear_regression(weights):
    X = np.random.default_rng(0).standard_normal((300, 4)).astype(np.float32)
    X[:, 3] += X[:, 0] - 2 * X[:, 1]
    gate_of_column = np.array([0, 0, 1, 2])
    ones = np.ones(3)
    gates = Gates(gate_of_column, np.array([2, 1, 1]), ones, ones < 0)
    problem = Problem(X, X[:, :1], 1, "regression", gates, weights)
    found = shared_variance(problem, np.array([0, 1]))
    for row, own in enumerate(([0, 1], [2])):
        expected = (
            LinearRegression()
            .fit(X[:, own], X[:, 3], sample_weight=weights)
            .score(X[:, own], X[:, 3], sample_weight=weights)
        )
        assert found[row, 2] == pytest.approx(expected, abs=1e-4)
        assert found[row, row] == pytest.approx(1.0)
