import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoded_tables import FLOAT32, SCALINGS, encoded, fitted, through_json
from featuresieve.tables import TableEncoder, read_table
from many_tables import SERIES, frames

# Sums of larger numbers would depend on the order of the rows.
CELLS = SERIES | {
    "float": st.floats(-1e6, 1e6, width=32),
    "int": st.integers(-9, 9),
    "text": st.sampled_from(["a", "b", "c", "ä", ""]),
}
tables = frames(CELLS, most_rows=12)
scalings = st.sampled_from(SCALINGS)
seeds = st.integers(0, 2**32 - 1)


@given(tables, scalings)
def test_every_table_is_encoded_to_finite_numbers_and_the_state_holds_all(X, scaling):
    encoder, table = fitted(X, scaling), read_table(X)
    found = encoder.transform(table)
    assert found.dtype == np.float32
    assert np.isfinite(found).all()
    assert found.shape == (X.height, len(encoder.feature_of_column))
    assert set(encoder.feature_of_column.tolist()) == set(range(X.width))
    again = through_json(encoder)
    np.testing.assert_array_equal(again.transform(table), found)
    np.testing.assert_array_equal(again.feature_of_column, encoder.feature_of_column)


@given(tables, scalings, seeds)
def test_permuted_tables_are_encoded_as_permuted_tables(X, scaling, seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(X.height), rng.permutation(X.width)
    encoder = fitted(X, scaling)
    whole = encoder.transform(read_table(X))
    # Sums in another order differ in their last digits, as do constants in float32.
    np.testing.assert_allclose(
        encoded(X[rows.tolist()], scaling), whole[rows], rtol=1e-5, atol=1e-5
    )
    blocks = [whole[:, encoder.feature_of_column == j] for j in columns]
    permuted = X.select([X.columns[j] for j in columns])
    np.testing.assert_array_equal(encoded(permuted, scaling), np.hstack(blocks))


@given(tables, scalings, seeds, st.sampled_from(["whole", "zeros", "any", None]))
def test_encoding_while_learning_is_encoding_afterwards(X, scaling, seed, kind):
    rng = np.random.default_rng(seed)
    weights = {
        "whole": rng.integers(1, 4, size=X.height).astype(float),
        "zeros": np.maximum(rng.integers(3, size=X.height), np.arange(X.height) < 1.0),
        "any": np.exp(5 * rng.standard_normal(X.height)),
    }.get(kind)
    table, options = read_table(X), {"scaling": scaling, "weights": weights}
    encoder, at_once = TableEncoder.fit_transform(table, **options)
    np.testing.assert_array_equal(at_once, encoder.transform(table))


@given(tables, scalings, seeds)
def test_a_weight_counts_as_so_many_copies(X, scaling, seed):
    weights = np.random.default_rng(seed).integers(0, 4, size=X.height)
    weights[0] = max(weights[0], 1)
    rows = np.repeat(np.arange(X.height), weights)
    options = {"scaling": scaling, "max_categories": 2}
    weighted = fitted(X, weights=weights.astype(float), **options)
    copied = fitted(X[rows.tolist()], **options)
    np.testing.assert_array_equal(weighted.feature_of_column, copied.feature_of_column)
    used = read_table(X[np.flatnonzero(weights).tolist()])
    np.testing.assert_allclose(
        weighted.transform(used), copied.transform(used), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("scaling", ["normal_scores", "standard"])
def test_weights_count_as_copies_among_more_values_than_knots(scaling):
    rng = np.random.default_rng(0)
    X, weights = rng.standard_normal((3000, 1)), rng.integers(0, 4, size=3000)
    copies = np.repeat(X, weights, axis=0)
    weighted = fitted(X, scaling, weights=weights.astype(float))
    table = read_table(X)
    np.testing.assert_allclose(
        weighted.transform(table), fitted(copies, scaling).transform(table), **FLOAT32
    )


@given(tables, scalings, seeds)
def test_taken_features_are_their_columns_of_the_whole(X, scaling, seed):
    rng = np.random.default_rng(seed)
    features = rng.permutation(X.width)[: rng.integers(1, X.width + 1)]
    encoder = fitted(X, scaling)
    table = read_table(X)
    whole = encoder.transform(table)
    blocks = [whole[:, encoder.feature_of_column == j] for j in features]
    taken = encoder.take(features)
    np.testing.assert_array_equal(taken.transform(table), np.hstack(blocks))
    assert list(dict.fromkeys(taken.feature_of_column.tolist())) == features.tolist()
