import numpy as np
import pytest
from scipy import sparse

from encoded_tables import FLOAT32, encoded, fitted, sparse_table, through_json
from featuresieve.tables import read_table

pytestmark = pytest.mark.numeric

NAN = float("nan")


@pytest.mark.parametrize("scaling", ["normal_scores", "standard"])
def test_a_sparse_table_stays_sparse_and_is_divided_by_its_root_mean_square(scaling):
    X = sparse_table()
    found = encoded(X, scaling)
    dense = X.toarray()
    assert isinstance(found, sparse.csr_array)
    assert found.dtype == np.float32
    assert found.nnz == X.nnz
    expected = dense / np.sqrt((dense**2).mean(axis=0))
    np.testing.assert_allclose(found.toarray(), expected, **FLOAT32)
    np.testing.assert_allclose(encoded(X, "none").toarray(), dense, rtol=1e-7)
    X = sparse.csr_array(np.array([[0.0, 1e200], [0.0, 1e-200], [0.0, 0.0]]))
    found = encoded(X, scaling).toarray()
    np.testing.assert_allclose(found[:, 0], 0.0)
    np.testing.assert_allclose(found[0, 1], np.sqrt(3), rtol=1e-6)


def test_sparse_weights_count_as_copies():
    X = sparse_table().tocsr()
    weights = np.random.default_rng(1).integers(0, 4, size=40)
    copies = X[np.repeat(np.arange(40), weights)]
    found = fitted(X, weights=weights.astype(float)).sparse_spreads
    np.testing.assert_allclose(found, fitted(copies).sparse_spreads, rtol=1e-12)


def test_dense_and_sparse_tables_may_follow_each_other():
    X = sparse_table()
    for first, second in ((X, X.toarray()), (X.toarray(), X)):
        encoder = fitted(first)
        found, expected = (encoder.transform(read_table(Z)) for Z in (second, first))
        assert type(found) is type(expected)
        if sparse.issparse(found):
            found, expected = found.toarray(), expected.toarray()
        np.testing.assert_array_equal(found, expected)


def test_taken_features_of_a_sparse_table_are_its_columns_also_after_json():
    encoder = fitted(sparse_table())
    table = read_table(sparse_table())
    taken = through_json(encoder.take(np.array([4, 1])))
    expected = encoder.transform(table).toarray()[:, [4, 1]]
    np.testing.assert_array_equal(taken.transform(table).toarray(), expected)
    np.testing.assert_array_equal(taken.feature_of_column, [4, 1])
