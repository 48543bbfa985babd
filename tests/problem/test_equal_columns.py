"""Constants and copies among columns, against all pairs of ranks."""

import numpy as np
import pytest
from scipy.stats import rankdata

from featuresieve.problem import Gates
from featuresieve.problem._equal_columns import constant_gates, copied_gates
from featuresieve.problem._units import Units


def made_table(n_rows, rng):
    """Return columns of which some say the same, and some nearly the same."""
    X = rng.standard_normal((n_rows, 12)).astype(np.float32)
    X[:, 3] = 4 * X[:, 1]
    X[:, 4] = -X[:, 1]
    X[:, 5] = X[:, 2]
    X[n_rows // 3, 5] += 10.0  # but for one row
    X[:, 6] = 2.0
    X[:, 7] = 0.0
    X[-1, 7] = 1.0  # varies in the last row alone
    X[:, 8] = rng.integers(0, 3, n_rows)
    X[:, 9] = 5 - X[:, 8]
    X[:, 10] = X[:, 8]
    return X


@pytest.mark.parametrize("n_rows", [3, 40, 700, 5000, 20_000])
@pytest.mark.parametrize("by_rank", [True, False])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_copies_have_equal_columns_or_ranks(n_rows, by_rank, n_threads):
    X = made_table(n_rows, np.random.default_rng(n_rows))
    gates = Gates.plain(X.shape[1])
    units = Units.of([[j] for j in range(X.shape[1])])
    is_constant = constant_gates(X, gates)
    assert is_constant.tolist() == [len(set(column)) == 1 for column in X.T.tolist()]
    found = copied_gates(
        X, gates, units, ~is_constant, by_rank=by_rank, n_threads=n_threads
    )
    said = rankdata(X, method="dense", axis=0) if by_rank else X
    expected = []
    for j, own in enumerate(said.T):
        same = [
            k
            for k in range(j)
            if (said[:, k] == own).all()
            or (by_rank and (own.max() + 1 - said[:, k] == own).all())
        ]
        expected.append(-1 if is_constant[j] or not same else same[0])
    assert found.tolist() == expected
    assert not by_rank or expected[3] == expected[4] == 1
