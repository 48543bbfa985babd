"""Rows in an order that depends on their content alone, against Python's own sort."""

import numpy as np
import pytest

from featuresieve.problem._canonical_order import canonical_rows


@pytest.mark.parametrize("n_hashes", [2**63, 40])  # all of them differ, or few do
@pytest.mark.parametrize("kind", ["classes", "many classes", "values"])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_rows_are_ordered_by_target_then_by_hash_then_by_weight(
    n_hashes, kind, is_weighted
):
    rng = np.random.default_rng(0)
    hashes = rng.integers(0, n_hashes, 500).astype(np.uint64)
    targets = {
        "classes": rng.integers(0, 3, 500),
        "many classes": rng.integers(0, 70_000, 500),
        "values": rng.integers(0, 3, (500, 2)).astype(np.float32) - 1,
    }[kind]
    weights = rng.integers(1, 3, 500).astype(float) if is_weighted else None

    def key(row):
        # The last of several targets counts first.
        first = np.atleast_1d(targets[row])[::-1].tolist()
        return first, hashes[row], weights[row] if is_weighted else 0, row

    found = canonical_rows(hashes, targets, weights)
    assert found.tolist() == sorted(range(500), key=key)
