"""Hashes of rows and features against the same sums in Python's own integers."""

import numpy as np
import pytest

from featuresieve.problem import _canonical_order as _canonical
from featuresieve.problem._canonical_order import feature_digests, row_hashes

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


@pytest.mark.parametrize("few_rows", [39, 40])  # column by column, and in blocks
@pytest.mark.parametrize("order", ["C", "F"])
def test_hashes_are_the_stated_sums(order, few_rows, monkeypatch):
    monkeypatch.setattr(_canonical, "_FEW_ROWS", few_rows)
    monkeypatch.setattr(_canonical, "_CELLS_AT_ONCE", 40 * 4)
    X = np.asarray(many_kinds(), order=order)
    rng = np.random.default_rng(1)
    rows, y = rng.integers(0, 40, 60), rng.integers(0, 3, 40)
    hashes = row_hashes(X, rows, y)
    assert hashes.tolist() == expected_hashes(X, rows, y)
    features = np.arange(X.shape[1]) // 2
    digests = feature_digests(X, rows, hashes, features)
    for j, feature in enumerate(features):
        terms = [whole(X[row, j]) * int(hashes[row]) for row in rows]
        assert digests[feature][j % 2] == sum(terms) & MASK
