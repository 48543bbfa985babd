"""The order of rows and columns that depends on content alone."""

import numpy as np
import pytest
from scipy import sparse

from featuresieve.problem import _canonical_order as canonical

pytestmark = pytest.mark.numeric


def canonical_rows(encoded, y, weights):
    hashes = canonical.row_hashes(encoded, np.arange(len(y)), y)
    return canonical.canonical_rows(hashes, y, weights)


def make_table(n_rows=40, n_columns=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_columns)).astype(np.float32)
    return X, rng.integers(3, size=n_rows)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_shuffled_rows_come_into_the_same_order(form):
    X, y = make_table()
    expected = canonical_rows(form(X), y, None)
    for seed in range(5):
        shuffle = np.random.default_rng(seed).permutation(len(X))
        found = canonical_rows(form(X[shuffle]), y[shuffle], None)
        np.testing.assert_array_equal(shuffle[found], expected)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_order_of_rows_does_not_depend_on_the_order_of_columns(form):
    X, y = make_table()
    columns = np.random.default_rng(1).permutation(X.shape[1])
    np.testing.assert_array_equal(
        canonical_rows(form(X[:, columns]), y, None), canonical_rows(form(X), y, None)
    )


def test_last_digits_do_not_change_the_order_of_rows():
    X, y = make_table()
    nearly = np.nextafter(X, np.float32(10))
    np.testing.assert_array_equal(
        canonical_rows(nearly, y, None), canonical_rows(X, y, None)
    )


def test_rows_that_differ_in_target_or_weight_alone_are_told_apart():
    X = np.zeros((4, 2), dtype=np.float32)
    y, weights = np.array([1, 0, 1, 0]), np.array([2.0, 2.0, 1.0, 1.0])
    assert canonical_rows(X, y, weights).tolist() == [3, 1, 2, 0]


def test_rows_that_stand_for_several_come_into_the_order_of_their_copies():
    X, y = make_table()
    copies = np.repeat(np.arange(len(X)), np.arange(len(X)) % 3)
    hashes = canonical.row_hashes(X, copies, y)[copies]
    found = canonical.canonical_rows(hashes, y[copies], None)
    expected = canonical_rows(X[copies], y[copies], None)
    np.testing.assert_array_equal(X[copies][found], X[copies][expected])


def test_binary_rows_with_equally_many_ones_are_told_apart():
    # Columns with different shares of ones have hashes of their own.
    rng = np.random.default_rng(0)
    X = (rng.random((200, 6)) < np.linspace(0.2, 0.7, 6)).astype(np.float32)
    shuffle = rng.permutation(200)
    y = np.zeros(200)
    first = X[canonical_rows(X, y, None)]
    again = X[shuffle][canonical_rows(X[shuffle], y, None)]
    np.testing.assert_array_equal(first, again)


def order_of(X, groups=None, y=None):
    rows, columns = np.arange(X.shape[0]), np.arange(X.shape[1])
    y = np.zeros(X.shape[0]) if y is None else y
    hashes = canonical.row_hashes(X, rows, y)
    digests = canonical.feature_digests(X, rows, hashes, columns)
    groups = groups or [np.array([j]) for j in range(X.shape[1])]
    return canonical.canonical_groups(groups, digests)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, np.asfortranarray])
def test_permuting_the_columns_permutes_their_order(form):
    X, _ = make_table()
    expected = np.concatenate(order_of(form(X)))
    for seed in range(5):
        shuffle = np.random.default_rng(seed).permutation(X.shape[1])
        found = np.concatenate(order_of(form(X[:, shuffle])))
        np.testing.assert_array_equal(shuffle[found], expected)


def test_equal_columns_stay_in_the_order_they_came():
    X, _ = make_table()
    assert np.concatenate(order_of(X[:, [0, 0, 0]])).tolist() == [0, 1, 2]


def test_features_of_a_group_stay_together_in_an_order_of_their_own():
    X, _ = make_table()
    groups = [np.array([0, 3]), np.array([1]), np.array([4, 2])]
    found = [set(group.tolist()) for group in order_of(X, groups)]
    assert sorted(map(sorted, found)) == [[0, 3], [1], [2, 4]]
    swapped = order_of(X, [np.array([2, 4]), np.array([1]), np.array([3, 0])])
    for one, other in zip(order_of(X, groups), swapped, strict=True):
        np.testing.assert_array_equal(one, other)


def test_columns_alike_but_for_their_rows_are_told_apart_by_the_target():
    # Three ones each, and equally often together: found by `make fuzz`.
    X = np.array([[1, 1], [1, 0], [0, 0], [0, 1], [1, 0], [0, 1]], dtype=np.float32)
    y = np.array([0.1, -0.1, 0.6, 0.2, -0.5, 0.4])
    expected = np.concatenate(order_of(X, y=y))
    swapped = np.concatenate(order_of(X[:, [1, 0]], y=y))
    np.testing.assert_array_equal(np.array([1, 0])[swapped], expected)


def test_a_cell_alone_in_its_sparse_column_is_told_from_no_cell():
    X = sparse.csr_array(np.array([[1, 0], [0, 0]], dtype=np.float32))
    rows, y = np.arange(2), np.zeros(2)
    hashes = canonical.row_hashes(X, rows, y)
    digests = canonical.feature_digests(X, rows, hashes, np.arange(2))
    assert hashes[0] != hashes[1]
    assert digests[0] != digests[1]


# Hashes of rows and features against the same sums in Python's own integers.

MASK = 2**64 - 1


def mixed(word):
    """Return splitmix64's finaliser of one word."""
    word = ((word ^ word >> 30) * 0xBF58476D1CE4E5B9) & MASK
    word = ((word ^ word >> 27) * 0x94D049BB133111EB) & MASK
    return word ^ word >> 31


def whole(value):
    """Return a value in units of 1/1024, modulo 2^64."""
    return int(np.rint(np.float32(value) * np.float32(1024))) & MASK


def expected_hashes(X, rows, y):
    hashes = [mixed(mixed(whole(value))) for value in y]
    for column in X.T:
        cells = [mixed(whole(value)) for value in column]
        total = sum(cells[row] for row in rows) & MASK
        for i, cell in enumerate(cells):
            hashes[i] = (hashes[i] + mixed(cell ^ total)) & MASK
    return hashes


def many_kinds(n_rows=40):
    """Return more columns than are read at once: two values, one, many, negative."""
    rng = np.random.default_rng(0)
    two = np.where(rng.random((n_rows, 15)) < 0.3, 2.25, -0.125)
    one = np.full((n_rows, 1), -3.0)
    many = rng.normal(size=(n_rows, 7))
    return np.hstack([many[:, :3], two, one, many[:, 3:]]).astype(np.float32)


@pytest.mark.parametrize("width", [1, 4])  # column by column, and in blocks
@pytest.mark.parametrize("order", ["C", "F"])
def test_hashes_are_the_stated_sums(order, width, monkeypatch):
    monkeypatch.setattr(canonical, "_CELLS_AT_ONCE", 40 * width)
    X = np.asarray(many_kinds(), order=order)
    rng = np.random.default_rng(1)
    rows, y = rng.integers(0, 40, 60), rng.integers(0, 3, 40)
    hashes = canonical.row_hashes(X, rows, y)
    assert hashes.tolist() == expected_hashes(X, rows, y)
    features = np.arange(X.shape[1]) // 2
    digests = canonical.feature_digests(X, rows, hashes, features)
    for j, feature in enumerate(features):
        terms = [whole(X[row, j]) * int(hashes[row]) for row in rows]
        assert digests[feature][j % 2] == sum(terms) & MASK
