"""Gates that leave a wide stack, and sparse columns that cannot pay, change little."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from featuresieve.problem import Gates, Problem
from featuresieve.search import Settings, _stacks
from featuresieve.search._price import balance_at_price, cannot_pay
from quick_selectors import quick


@pytest.fixture
def no_table_is_wide(monkeypatch):
    monkeypatch.setattr(_stacks, "_WIDE", 10**9)


def counts(n_rows, n_columns, seed):
    """Return counts of words, few of them frequent, five of which tell the class."""
    rng = np.random.default_rng(seed)
    shares = np.minimum(0.4, 1.2 / np.arange(1, n_columns + 1))
    X = (rng.random((n_rows, n_columns)) < shares).astype(np.float32)
    signal = X[:, 5:10].sum(axis=1) + 0.2 * rng.standard_normal(n_rows)
    return X, signal > np.median(signal)


def test_no_gate_pays_that_costs_more_than_all_losses_of_its_rows():
    X = np.eye(100, 6, dtype=np.float32)  # one row a column, and one of many
    X[:60, 5] = 1.0
    y = np.arange(100) % 2
    problem = Problem(sparse.csr_array(X), y, 2, "classification")
    gate_rows = [np.arange(50), np.arange(50, 100)]
    # A row is worth ln 2 of the 50 that are seen; six features share the balance.
    price = np.log(2) / 50
    just_above, just_below = (6 * price * factor for factor in (1.01, 0.99))
    found = cannot_pay(problem, just_above, gate_rows)
    np.testing.assert_array_equal(found, [True] * 5 + [False])
    assert not cannot_pay(problem, just_below, gate_rows).any()
    forced = Gates(np.arange(6), np.ones(6, np.intp), np.ones(6), np.ones(6, bool))
    problem = Problem(sparse.csr_array(X), y, 2, "classification", forced)
    assert not cannot_pay(problem, just_above, gate_rows).any()
    dense = Problem(X, y, 2, "classification")
    assert not cannot_pay(dense, just_above, gate_rows).any()


@pytest.mark.usefixtures("no_table_is_wide")
@pytest.mark.parametrize("seed", range(3))
def test_words_that_cannot_pay_have_no_votes_without_the_bound_either(seed):
    X, y = counts(400, 300, seed)
    selector = quick(balance="price", n_epochs=None, random_state=seed)
    selector.fit(sparse.csr_array(X), y)
    problem = Problem(sparse.csr_array(X), y.astype(int), 2, "classification")
    balance = balance_at_price(problem, Settings())
    is_hopeless = cannot_pay(problem, balance, [np.arange(200)])
    assert is_hopeless.mean() > 0.5
    # One of twenty members may err; none of these is elected.
    assert (selector.selection_frequency_[is_hopeless] <= 0.05).all()


@pytest.mark.slow
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_answer_is_that_of_the_whole_stack(form, monkeypatch):
    overlaps, others = [], []
    for seed in range(2):
        X, y = counts(400, 150, seed)
        if form is np.asarray:
            X = np.random.default_rng(seed).standard_normal((250, 150))
            y = X[:, 0] * X[:, 1] + X[:, 2:5].sum(axis=1) > 0
        found = []
        for least, random_state in ((10**9, 0), (100, 0), (10**9, 1)):
            monkeypatch.setattr(_stacks, "_WIDE", least)
            selector = quick(n_epochs=None, random_state=random_state)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found.append(selector.fit(form(X), y).support_)
        whole, shrunk, other = found
        overlaps.append((whole & shrunk).sum() / (whole | shrunk).sum())
        others.append((whole & other).sum() / (whole | other).sum())
    assert np.mean(overlaps) >= 0.7
    assert np.mean(overlaps) >= np.mean(others) - 0.05
