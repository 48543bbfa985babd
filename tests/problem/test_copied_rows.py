import warnings

import numpy as np
import pytest
from scipy import sparse

from featuresieve import AutoNFSClassifier, AutoNFSRegressor, UninformativeTargetWarning
from quick_selectors import built


@pytest.fixture
def groups_of(prepared):
    """Return a function that finds the copies: sets of more rows than one."""

    def find(X, weights=None, row_groups=None):
        # A target of its own tells rows apart, and does not make them different.
        n_rows = X.shape[0]
        problem = prepared(X, np.arange(n_rows), weights, row_groups=row_groups).problem
        if problem.row_groups is None:
            return None
        rows = np.unique(problem.targets, return_inverse=True)[1].reshape(-1)
        counted = np.arange(n_rows) if weights is None else np.flatnonzero(weights)
        found = [
            counted[rows[problem.row_groups == k]]
            for k in np.unique(problem.row_groups)
        ]
        return {tuple(sorted(part.tolist())) for part in found if len(part) > 1}

    return find


def noise(n_rows=40, n_columns=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n_rows, n_columns))


def test_rows_that_count_twice_are_copies_of_themselves_and_others_none(groups_of):
    assert groups_of(noise()) is None
    assert groups_of(noise(4), [1, 0, 3, 2]) == {(2, 2, 2), (3, 3)}


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_equal_rows_are_copies_whatever_their_target(form, groups_of):
    X = noise(6)
    X[4] = X[1]
    assert groups_of(form(X)) == {(1, 4)}


def test_rows_that_occur_often_are_rows_of_their_own(groups_of):
    X = np.random.default_rng(0).integers(0, 2, (40, 3))  # eight different rows
    assert groups_of(X) is None
    assert groups_of(X, np.r_[2, np.ones(39)]) == {(0, 0)}
    X = noise(40)
    X[:10], X[10:21] = X[0], X[10]
    assert groups_of(X) == {tuple(range(10))}


def test_rows_with_their_values_in_other_columns_are_no_copies(groups_of):
    X = noise(40, 4)
    X[0], X[1] = [1, 2, 3, 4], [2, 1, 4, 3]
    X[2], X[3] = [-1, -2, -3, -4], [-2, -1, -4, -3]
    assert groups_of(X) is None
    assert groups_of(np.array([[0.0, 1.0], [1.0, 0.0]])) is None


def test_a_copy_joins_the_groups_it_stands_in(groups_of):
    X = noise(5)
    labels = np.array([0, 0, 1, 1, 2])
    assert groups_of(X, row_groups=labels) == {(0, 1), (2, 3)}
    X[3] = X[0]  # so the first two groups are one, and the third stays alone
    assert groups_of(X, row_groups=labels) == {(0, 1, 2, 3)}


# What a fit makes of noise. Each of these kept up to four columns before, and one fit
# in four did not warn.

COPIED = {
    "weight 2": ({}, np.full(200, 2)),
    "class weight": ({"class_weight": {0: 1, 1: 3}}, None),
    "duplicates": ({}, None),
}


@pytest.mark.parametrize("case", COPIED)
def test_copies_do_not_make_noise_a_signal(case):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 10)), rng.integers(0, 2, 200)
    arguments, weights = COPIED[case]
    if case == "duplicates":
        again = rng.choice(200, 60, replace=False)
        X, y = np.r_[X, X[again]], np.r_[y, y[again]]
    selector = built(AutoNFSClassifier, n_epochs=60, random_state=0, **arguments)
    with pytest.warns(UninformativeTargetWarning):
        selector.fit(X, y, sample_weight=weights)
    assert selector.n_features_ == 1


def test_copies_of_a_signal_leave_it_one():
    X = noise(120, 6)
    y = X[:, 0] + X[:, 1] > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        selector = built(AutoNFSClassifier, n_epochs=60, random_state=0)
        selector.fit(X, y, sample_weight=np.full(120, 3))
    assert selector.support_[:2].all()


@pytest.mark.parametrize("weight", [1, 5])
def test_one_row_that_counts_is_an_answer_with_a_warning(weight):
    X = noise(10, 3)
    weights = np.zeros(10)
    weights[:2] = weight
    y = np.r_[0, 1, np.zeros(8)]
    selector = built(AutoNFSRegressor, n_epochs=3, random_state=0)
    with pytest.warns(UninformativeTargetWarning):
        selector.fit(X, y, sample_weight=np.r_[weight, np.zeros(9)])
    assert selector.n_features_ >= 1
    with pytest.warns(UninformativeTargetWarning):
        selector = built(AutoNFSClassifier, n_epochs=3, random_state=0)
        selector.fit(X, y, sample_weight=weights)
