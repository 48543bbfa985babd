"""Copies of a row are found, and are no evidence of their own."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from featuresieve import (
    AutoNFSClassifier,
    AutoNFSRegressor,
    UninformativeTargetWarning,
)
from featuresieve.problem._canonical_order import copied_rows, row_hashes
from featuresieve.search._refit import HeldOutLosses, mean_errors


def groups_of(X, y=None, rows=None):
    """Return the groups as a partition: a set of sets of places in `rows`."""
    encoded = X if sparse.issparse(X) else np.asarray(X, dtype=np.float32)
    n_rows = encoded.shape[0]
    y = np.zeros(n_rows, dtype=np.int64) if y is None else y
    rows = np.arange(n_rows) if rows is None else np.asarray(rows)
    found = copied_rows(encoded, rows, row_hashes(encoded, rows, y), y)
    if found is None:
        return None
    return {frozenset(np.flatnonzero(found == group)) for group in found}


def noise(n_rows=40, n_columns=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n_rows, n_columns))


def alone(*places):
    return {frozenset([place]) for place in places}


def test_rows_that_differ_are_no_copies():
    assert groups_of(noise()) is None


def test_a_row_that_counts_twice_is_a_copy_of_itself():
    found = groups_of(noise(4), rows=[2, 0, 2, 3, 1, 2])
    assert found == {frozenset([0, 2, 5]), *alone(1, 3, 4)}


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_equal_rows_are_copies_whatever_their_target(form):
    X = noise(6).astype(np.float32)
    X[4] = X[1]
    y = np.arange(6)
    assert groups_of(form(X), y) == {frozenset([1, 4]), *alone(0, 2, 3, 5)}


def test_rows_of_a_table_of_few_values_are_rows_of_their_own():
    X = np.random.default_rng(0).integers(0, 2, (40, 3))  # eight different rows
    assert groups_of(X) is None
    assert groups_of(X, rows=[0, 0, 1]) == {frozenset([0, 1]), *alone(2)}


def test_rows_with_their_values_in_other_columns_are_no_copies():
    X = noise(40, 4)
    X[0], X[1] = [1, 2, 3, 4], [2, 1, 4, 3]
    X[2], X[3] = [-1, -2, -3, -4], [-2, -1, -4, -3]
    assert groups_of(X) is None
    assert groups_of(np.array([[0.0, 1.0], [1.0, 0.0]])) is None


def test_a_row_that_occurs_often_is_no_copy():
    X = noise(40)
    X[:10], X[10:21] = X[0], X[10]
    found = groups_of(X)
    assert frozenset(range(10)) in found
    assert alone(*range(10, 21)) <= found


def test_error_of_a_mean_does_not_shrink_with_copies():
    values, weights = noise(2, 30), np.ones(30)
    copies = np.repeat(values, 3, axis=1)
    groups = np.repeat(np.arange(30), 3)
    np.testing.assert_allclose(
        mean_errors(copies, np.ones(90), groups), mean_errors(values, weights)
    )
    np.testing.assert_allclose(
        mean_errors(copies, np.ones(90)), mean_errors(values, weights) / np.sqrt(3)
    )


def test_copies_are_not_counted_in_the_freedom_of_a_gain():
    rows = noise(1, 30)
    once = HeldOutLosses(rows, np.ones(1))
    groups = np.tile(np.arange(30), 2)
    twice = HeldOutLosses(np.tile(rows, 2), np.ones(1), row_groups=groups)
    assert twice.n_groups == once.n_groups == 30
    gain, error = once.gain_over(np.zeros(30), 0)
    assert twice.gain_over(np.zeros(60), 0) == pytest.approx((gain, error))


# What a fit makes of noise. Each of these kept up to four columns before, and one fit
# in four did not warn.

COPIED = {
    "weight 2": ({}, np.full(200, 2)),
    "class weight": ({"class_weight": {0: 1, 1: 3}}, None),
    "duplicates": ({}, None),
}


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("case", COPIED)
def test_copies_do_not_make_noise_a_signal(case, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((200, 10)), rng.integers(0, 2, 200)
    arguments, weights = COPIED[case]
    if case == "duplicates":
        again = rng.choice(200, 60, replace=False)
        X, y = np.r_[X, X[again]], np.r_[y, y[again]]
    selector = AutoNFSClassifier(n_epochs=60, random_state=seed, **arguments)
    with pytest.warns(UninformativeTargetWarning):
        selector.fit(X, y, sample_weight=weights)
    assert selector.n_features_ == 1


def test_copies_of_a_signal_leave_it_one():
    X = noise(120, 6)
    y = X[:, 0] + X[:, 1] > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        selector = AutoNFSClassifier(n_epochs=60, random_state=0)
        selector.fit(X, y, sample_weight=np.full(120, 3))
    assert selector.support_[:2].all()


@pytest.mark.parametrize("weight", [1, 5])
def test_one_row_that_counts_is_an_answer_with_a_warning(weight):
    X = noise(10, 3)
    weights = np.zeros(10)
    weights[:2] = weight
    y = np.r_[0, 1, np.zeros(8)]
    selector = AutoNFSRegressor(n_epochs=3, random_state=0)
    with pytest.warns(UninformativeTargetWarning):
        selector.fit(X, y, sample_weight=np.r_[weight, np.zeros(9)])
    assert selector.n_features_ >= 1
    with pytest.warns(UninformativeTargetWarning):
        AutoNFSClassifier(n_epochs=3, random_state=0).fit(X, y, sample_weight=weights)
