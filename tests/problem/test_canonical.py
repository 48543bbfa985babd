import numpy as np
import pytest
from scipy import sparse

pytestmark = pytest.mark.numeric


def normal(n_rows=40, n_columns=5):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n_rows, n_columns)), rng.integers(3, size=n_rows)


def binary():
    """Return rows with equally many ones, in columns with shares of their own."""
    rng = np.random.default_rng(0)
    return rng.random((200, 6)) < np.linspace(0.2, 0.7, 6), np.arange(200) % 2


def many_kinds():
    """Return columns of two values, one and many, and zeros."""
    rng = np.random.default_rng(0)
    two = np.where(rng.random((40, 15)) < 0.3, 2.25, -0.125)
    return np.hstack([normal()[0], two, np.full((40, 1), -3.0)]), rng.normal(size=40)


# Three ones each, and equally often together: found by `make fuzz`.
ALIKE = np.array([[1, 1], [1, 0], [0, 0], [0, 1], [1, 0], [0, 1]])
TABLES = {
    "normal": normal(),
    "wide": normal(40, 2000),  # more columns than are read at once
    "long": normal(70_000, 2),  # column by column
    "binary": binary(),
    "many kinds": many_kinds(),
    "columns told apart by the target": (ALIKE, [0.1, -0.1, 0.6, 0.2, -0.5, 0.4]),
    "rows told apart by the target": (np.zeros((4, 2)), [1, 0, 1, 3]),
}


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("case", TABLES)
def test_shuffled_tables_are_the_same_problem(case, form, prepared):
    X, y = TABLES[case]
    X, y = np.asarray(X, dtype=np.float32), np.asarray(y, dtype=float)
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y))
    expected = prepared(form(X), y, weights)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rows, columns = rng.permutation(len(y)), rng.permutation(X.shape[1])
        X_other = X[rows][:, columns]
        found = prepared(form(X_other), y[rows], weights[rows])
        assert_same_problem(found.problem, expected.problem)


def assert_same_problem(found, expected):
    if sparse.issparse(expected.features):
        assert (found.features != expected.features).nnz == 0
    else:
        np.testing.assert_array_equal(found.features, expected.features)
    np.testing.assert_allclose(found.targets, expected.targets, rtol=1e-6)
    if expected.row_weights is not None:
        np.testing.assert_allclose(found.row_weights, expected.row_weights)


def test_last_digits_do_not_change_the_order_of_rows(prepared):
    X, y = normal()
    X = X.astype(np.float32)
    plain, nearly = (prepared(Z, y) for Z in (X, np.nextafter(X, np.float32(10))))
    found, expected = nearly.problem.features, plain.problem.features
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_rows_that_stand_for_several_come_into_the_order_of_their_copies(prepared):
    X, y = normal()
    counts = np.arange(len(X)) % 3
    copies = np.repeat(np.arange(len(X)), counts)
    found, expected = prepared(X, y, counts), prepared(X[copies], y[copies])
    found, expected = found.problem.features, expected.problem.features
    np.testing.assert_array_equal(found, expected)


def test_features_of_a_group_stay_together_and_equal_ones_as_they_came(prepared):
    X, y = normal()
    units = prepared(X[:, [0, 0, 0]], y).units
    assert np.concatenate(units).tolist() == [0, 1, 2]
    one = prepared(X, y, feature_groups=[[0, 3], [4, 2]]).units
    assert sorted(sorted(unit.tolist()) for unit in one) == [[0, 3], [1], [2, 4]]
    other = prepared(X, y, feature_groups=[[2, 4], [3, 0]]).units
    for unit, swapped in zip(one, other, strict=True):
        np.testing.assert_array_equal(unit, swapped)


def test_a_cell_alone_in_its_sparse_column_is_told_from_no_cell(prepared):
    X = np.array([[1, 0], [0, 0]])
    one, other = (prepared(sparse.csr_array(Z), [1, 1]) for Z in (X, X[::-1, ::-1]))
    assert_same_problem(other.problem, one.problem)
