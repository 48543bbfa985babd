"""What a gate says alone, and what it shares with another, against other counts."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import pearsonr
from sklearn.linear_model import LinearRegression

from featuresieve.problem import (
    Gates,
    Problem,
    chance_of_gates,
    nearest_gates,
    related_gates,
)


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


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_chance_of_a_gate_is_that_of_the_best_of_its_correlations(form):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (200, 6)).astype(np.float32)  # lighter tails than normal
    y = (X[:, :1] + 2 * np.abs(X[:, 2:3]) + 3 * rng.uniform(-1, 1, (200, 1))) / 2
    gates = Gates(np.array([0, 0, 1, 2, 3, 4]), *np.ones((2, 5)), np.zeros(5, bool))
    problem = Problem(form(X), y.astype(np.float32), 1, "regression", gates)
    rows = np.arange(150)
    values = X[rows].astype(np.float64)
    both = np.stack([values, np.abs(values - values.mean(axis=0))])
    p = [[pearsonr(v, y[rows, 0])[1] for v in part.T] for part in both]
    p = 2 * np.min(p, axis=0)  # Bonferroni's correction
    wanted = np.minimum([2 * p[:2].min(), *p[2:]], 1)
    found = chance_of_gates(problem, rows)
    assert wanted.min() < 1e-3 < 0.5 < wanted.max()
    assert np.log(found) == pytest.approx(np.log(wanted), abs=0.1)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("weights", [None, np.repeat([0.5, 1.5], 150)])
def test_the_nearest_gate_is_that_of_linear_regressions(weights, form, monkeypatch):
    monkeypatch.setattr("featuresieve.problem._association._width", lambda _: 3)
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((300, 9)) @ rng.standard_normal((9, 9))).astype(np.float32)
    gate_of_column = np.array([0, 0, 1, 2, 3, 3, 3, 3, 4])
    columns = [np.flatnonzero(gate_of_column == gate) for gate in range(5)]
    gates = Gates(gate_of_column, *np.ones((2, 5), np.intp), np.zeros(5, bool))
    problem = Problem(form(X), X[:, :1], 1, "regression", gates, weights)
    kept = np.array([0, 2, 4])
    nearest, share = nearest_gates(problem, kept)
    for gate, asked in enumerate(columns):
        of_columns = X[:, asked].astype(np.float64)
        spread = np.cov(of_columns.T, aweights=weights).reshape(len(asked), -1)
        scores = []
        for own in kept:
            values = X[:, columns[own]].astype(np.float64)
            left = of_columns - LinearRegression().fit(
                values, of_columns, sample_weight=weights
            ).predict(values)
            left = np.cov(left.T, aweights=weights).reshape(len(asked), -1)
            scores.append(1 - np.trace(left) / np.trace(spread))
        assert nearest[gate] == np.argmax(scores)
        assert share[gate] == pytest.approx(max(scores), abs=1e-4)


@pytest.mark.parametrize("weights", [None, np.repeat([0.5, 1.5], 100)])
def test_sparse_columns_are_judged_as_dense_ones_are(weights, monkeypatch):
    monkeypatch.setattr("featuresieve.problem._association._width", lambda _: 7)
    rng = np.random.default_rng(0)
    X = rng.normal(2.0, 1.0, (200, 40)) * (rng.random((200, 40)) < 0.2)
    X[:, 3], X[:, 4], X[5, 4] = 0.0, 0.0, 7.0  # empty, and one cell
    X[:, 5] = 3.0  # full, and constant
    X[:, 6] = -X[:, 7] * 2
    X = X.astype(np.float32)
    y = (X[:, :3].sum(axis=1) + 0.3 * rng.standard_normal(200) > 0.7).astype(np.int64)
    found = []
    for form in (np.asarray, sparse.csr_array):
        problem = Problem(form(X), y, 2, "classification", row_weights=weights)
        nearest, share = nearest_gates(problem, np.array([0, 7, 9]))
        found.append((related_gates(problem), nearest, share))
    (related, nearest, share), (own_related, own_nearest, own_share) = found
    assert related[:3].any()
    np.testing.assert_array_equal(own_related, related)
    varies = np.setdiff1d(np.arange(40), [3, 5])  # a constant is near to nothing
    np.testing.assert_array_equal(own_nearest[varies], nearest[varies])
    np.testing.assert_allclose(own_share[varies], share[varies], atol=1e-6)
    np.testing.assert_allclose(own_share[[3, 5]], 0.0, atol=1e-6)
