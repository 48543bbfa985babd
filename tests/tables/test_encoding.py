import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import norm, rankdata

from encoded_tables import (
    FLOAT32,
    SCALINGS,
    encoded,
    fitted,
    frame,
    mixed_frame,
    scaler_of,
    sparse_table,
    standardised,
    through_json,
    transformed,
)
from featuresieve.tables import TableEncoder, _number_blocks, read_table

NAN = float("nan")


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.uint8])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_numeric_array_is_scaled_to_the_bit_as_without_a_table(scaling, dtype, order):
    X = np.random.default_rng(0).uniform(0, 200, size=(700, 5))
    X = np.asarray(X, dtype=dtype, order=order)
    encoder = fitted(X, scaling)
    expected = transformed(scaler_of(X, scaling), X)
    found = encoder.transform(read_table(X))
    assert found.dtype == np.float32
    assert found.flags.f_contiguous
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(encoder.feature_of_column, range(5))


def test_missing_numbers_are_zero_and_marked_by_an_indicator():
    values = [3.0, None, 10.0, 11.0, None, -5.0]
    present = [3.0, 10.0, 11.0, -5.0]
    found = encoded(frame(a=values), "normal_scores")
    scores = norm.ppf((rankdata(present) - 0.5) / 4)
    np.testing.assert_allclose(found[[0, 2, 3, 5], 0], standardised(scores), **FLOAT32)
    np.testing.assert_array_equal(found[[1, 4], 0], 0.0)
    holes = standardised([0, 1, 0, 0, 1, 0])
    np.testing.assert_allclose(found[:, 1], holes, **FLOAT32)


def test_booleans_are_numbers_and_what_is_missing_only_later_becomes_zero():
    found = encoded(frame(a=[True, False, False, None]))
    np.testing.assert_allclose(found[:3, 0], standardised([1, 0, 0]), **FLOAT32)
    assert found[3, 0] == 0.0
    assert found.shape == (4, 2)
    encoder = fitted(np.array([[1.0], [2.0], [4.0]]))
    found = encoder.transform(read_table([[NAN], [2.0]]))
    assert (found.shape, found[0, 0]) == ((2, 1), 0.0)


def test_dates_become_the_moment_and_the_parts_that_vary():
    moments = pd.Series(pd.date_range("2021-01-30", periods=90, freq="7h"))
    found = encoded(pd.DataFrame({"a": moments}))
    parts = [
        moments.astype("datetime64[us]").astype("int64"),
        *(moments.dt.month, moments.dt.day_of_week, moments.dt.hour),
    ]
    expected = np.column_stack([standardised(part) for part in parts])
    np.testing.assert_allclose(found, expected, **FLOAT32)
    # Days of one month have no hour and no month, and are always standardised.
    days = pd.DataFrame({"a": pd.date_range("2021-03-01", periods=20)})
    assert encoded(days).shape == (20, 2)
    np.testing.assert_array_equal(encoded(days, "none"), encoded(days))


@pytest.mark.parametrize("scaling", SCALINGS)
def test_categories_become_standardised_indicators_most_frequent_first(scaling):
    texts = ["b"] * 5 + ["a"] * 2 + ["c"] * 3
    found = encoded(frame(a=texts), scaling)
    dummies = pd.get_dummies(pd.Series(texts))[["b", "c", "a"]]
    expected = np.column_stack([standardised(dummies[c]) for c in dummies])
    np.testing.assert_allclose(found, expected, **FLOAT32)


def test_a_missing_category_is_a_level_and_a_rare_one_stays_within_five():
    found = encoded(frame(a=["a", "a", "a", "b", "b", None]))
    assert found.shape == (6, 3)
    np.testing.assert_allclose(found[:, 2], standardised([0, 0, 0, 0, 0, 1]), **FLOAT32)
    found = encoded(frame(a=["a"] * 5000 + ["b"] * 4000 + ["rare"]))
    np.testing.assert_allclose(found[-1, 2], (1 - 1 / 9001) / 0.2, rtol=1e-6)
    assert np.abs(found).max() <= 5


@pytest.mark.parametrize("texts", [["a", "b", "a", "a"], ["a", None, "a", "a"]])
def test_two_states_are_one_column(texts):
    found = encoded(frame(a=texts))
    np.testing.assert_allclose(found, standardised([0, 1, 0, 0])[:, None], **FLOAT32)


def test_levels_beyond_the_most_frequent_share_a_column():
    texts = ["a"] * 6 + ["b"] * 5 + ["c"] * 4 + ["d"] * 3 + ["e"]
    encoder = fitted(frame(a=texts), max_categories=2)
    found = encoder.transform(read_table(frame(a=texts)))
    expected = np.column_stack(
        [
            standardised([text == "a" for text in texts]),
            standardised([text == "b" for text in texts]),
            standardised([text in "cde" for text in texts]),
        ]
    )
    np.testing.assert_allclose(found, expected, **FLOAT32)
    # Equally frequent levels are taken by their values, not by where they stand.
    balanced = frame(a=["q", "p", "o"] * 4)
    np.testing.assert_array_equal(
        fitted(balanced, max_categories=1).features[0].encoder.levels, ["o"]
    )


@pytest.mark.parametrize("weights", [None, np.full(100, 0.01), np.full(100, 1.0)])
def test_an_identifier_column_is_zero(weights):
    names = [f"person {k}" for k in range(100)]
    np.testing.assert_array_equal(encoded(frame(a=names), weights=weights), 0.0)
    assert encoded(frame(a=names), weights=weights).shape == (100, 1)


def test_an_unseen_level_is_among_the_others_or_zero():
    texts = ["a"] * 6 + ["b"] * 5 + ["c"] * 4
    new = read_table(frame(a=["new", "c", None]))
    found = fitted(frame(a=texts), max_categories=2).transform(new)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[2], 0.0)
    found = fitted(frame(a=texts)).transform(new)
    np.testing.assert_array_equal(found[[0, 2]], 0.0)


@pytest.mark.parametrize(
    ("column", "levels"),
    [
        (pd.Series([3, 1, 3, 2, 3, 1]).astype("category"), (3, 1, 2)),
        (pd.Series([0.5, 2.0, 0.5]).astype("category"), (0.5, 2.0)),
        (pd.Series([True, False, True]).astype("category"), (True, False)),
        (pd.Series(["3", "1", "3"]), ("3", "1")),
        (
            pd.Series(['"', "\ud800", "ä\x00", '"'], dtype=object),
            ('"', "ä\x00", "\ud800"),
        ),
    ],
    ids=["int", "float", "bool", "digits", "odd text"],
)
def test_levels_survive_json_with_their_type(column, levels):
    X = pd.DataFrame({"a": column})
    encoder = fitted(X)
    again = through_json(encoder)
    assert again.features[0].encoder.levels == levels
    assert [type(x) for x in again.features[0].encoder.levels] == [
        type(x) for x in levels
    ]
    table = read_table(X)
    np.testing.assert_array_equal(again.transform(table), encoder.transform(table))


@pytest.mark.parametrize("scaling", ["normal_scores", "standard"])
@pytest.mark.parametrize(
    "column",
    [
        pd.Series([3] * 4),
        pd.Series([None] * 4, dtype=object),
        pd.Series([NAN] * 4),
        pd.Series(["a"] * 4),
        pd.Series([None] * 4, dtype="string"),
        pd.Series([True] * 4),
        pd.Series([pd.NaT] * 4),
        pd.Series([pd.Timestamp("2021-01-01")] * 4),
    ],
    ids=["number", "None", "NaN", "text", "string", "truth", "NaT", "date"],
)
def test_a_constant_or_missing_feature_is_one_column_of_zeros(scaling, column):
    found = encoded(pd.DataFrame({"a": column}), scaling)
    assert found.shape == (4, 1)
    np.testing.assert_allclose(found, 0.0, atol=1e-12)


def test_a_feature_may_be_all_missing_in_fit_or_later():
    encoder = fitted(frame(a=[None, None]))
    for values in ([1.0, 2.0], ["a", "b"], [True, None]):
        found = encoder.transform(read_table(frame(a=values)))
        np.testing.assert_array_equal(found, [[0.0], [0.0]])
    for values in (["a", "b", "b"], [1, 2, 4], [dt.date(2021, 1, 1)]):
        found = fitted(frame(a=values)).transform(read_table(frame(a=[None, None])))
        np.testing.assert_array_equal(found, 0.0)


def test_features_own_their_columns():
    X = frame(a=[1.0, None, 2.0], b=["x", "y", "z"], c=[1, 2, 3])
    np.testing.assert_array_equal(fitted(X).feature_of_column, [0, 0, 1, 1, 1, 2])


@pytest.mark.parametrize("library", ["polars", "pyarrow", "objects", "array"])
def test_the_library_of_the_table_does_not_matter(library):
    X = mixed_frame()
    expected = encoded(X)
    other = {
        "polars": lambda: pl.from_pandas(X),
        "pyarrow": lambda: pl.from_pandas(X).to_arrow(),
        "objects": lambda: X.astype(object),
        "array": lambda: X.astype(object).to_numpy(),
    }[library]()
    np.testing.assert_array_equal(encoded(other), expected)


def test_encoding_leaves_the_table_alone():
    X = mixed_frame()
    before = X.copy(deep=True)
    encoded(X, "normal_scores")
    pd.testing.assert_frame_equal(X, before)


NUMBERS, TEXTS, DATES = [1, 2], ["x", "y"], [dt.date(2021, 1, 1), dt.date(2022, 1, 1)]


@pytest.mark.parametrize(
    ("first", "second", "kinds"),
    [
        (NUMBERS, TEXTS, "'number' in fit, .* 'category'"),
        (NUMBERS, DATES, "'number' in fit, .* 'date'"),
        ([True, False], TEXTS, "'boolean' in fit, .* 'category'"),
        (TEXTS, NUMBERS, "'category' in fit, .* 'number'"),
        (TEXTS, [True, False], "'category' in fit, .* 'boolean'"),
        (DATES, NUMBERS, "'date' in fit, .* 'number'"),
        (DATES, TEXTS, "'date' in fit, .* 'category'"),
    ],
)
def test_another_kind_than_in_fit_is_named(first, second, kinds):
    encoder = fitted(frame(other=NUMBERS, age=first))
    with pytest.raises(ValueError, match=f"column 'age' of X held .* {kinds}"):
        encoder.transform(read_table(frame(other=NUMBERS, age=second)))


def test_booleans_may_follow_numbers_but_not_another_number_of_features():
    encoder = fitted(frame(a=[0, 1, 1]))
    np.testing.assert_array_equal(
        encoder.transform(read_table(frame(a=[True, False]))),
        encoder.transform(read_table(frame(a=[1, 0]))),
    )
    with pytest.raises(ValueError, match="X has 3 features, but 2 features"):
        fitted(np.eye(2)).transform(read_table(np.eye(3)))


@pytest.mark.parametrize("scaling", ["standard", "none"])
def test_what_is_too_large_for_float32_is_named(scaling):
    encoder = fitted(np.array([[1.0, 1.0], [2.0, 3.0]]), scaling)
    with pytest.raises(ValueError, match=r"infinity or a value too large.* column 1"):
        encoder.transform(read_table(np.array([[1.0, 1e300]])))
    if scaling == "none":
        X = np.random.default_rng(0).standard_normal((9, 4))
        X[5, 2] = 1e200  # in a block
        with pytest.raises(ValueError, match="so does column 2 after scaling"):
            fitted(X, scaling)


def test_nan_after_a_sparse_fit_is_an_error():
    encoder = fitted(sparse_table())
    with pytest.raises(ValueError, match="X holds NaN"):
        encoder.transform(read_table(np.full((1, 6), NAN)))
    with pytest.raises(ValueError, match="must be one now, or a numeric array"):
        encoder.transform(read_table(pd.DataFrame(np.ones((1, 6)))))


def many_numbers(n_rows, dtype):
    """Return columns without and with ties, constant, of zeros, and with a gap."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n_rows, 12)) * 100
    X[:, 3:6] = X[:, 3:6].round(-1)
    X[:, 6], X[:, 7] = 7, 0
    if np.dtype(dtype).kind == "f":
        X[1, 9] = np.nan
    return X.astype(dtype)


@pytest.mark.numeric
@pytest.mark.parametrize("scaling", ["normal_scores", "standard", "none"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16"])
@pytest.mark.parametrize("n_rows", [2, 60, 700])  # below and above the number of knots
@pytest.mark.parametrize("library", ["numpy", "pandas", "polars", "pyarrow"])
def test_columns_in_blocks_are_encoded_as_one_by_one(
    library, n_rows, dtype, scaling, monkeypatch
):
    X = many_numbers(n_rows, dtype)
    columns = {f"x{j}": values for j, values in enumerate(X.T)}
    forms = {"numpy": X, "pandas": pd.DataFrame(columns)}
    forms |= {"polars": pl.DataFrame(columns)}
    forms |= {"pyarrow": forms["polars"].to_arrow()}
    table = read_table(forms[library])
    monkeypatch.setattr(_number_blocks, "_CELLS_AT_ONCE", 5 * n_rows)
    encoder, encoded = TableEncoder.fit_transform(table, scaling=scaling)
    alone = [
        TableEncoder.fit_transform(read_table(objects), scaling=scaling)
        for objects in (X[:, [j]].astype(object) for j in range(X.shape[1]))
    ]
    np.testing.assert_array_equal(encoded, np.hstack([part for _, part in alone]))
    np.testing.assert_array_equal(encoder.transform(table), encoded)
    for feature, (one, _) in zip(encoder.features, alone, strict=True):
        own, other = feature.encoder.scaler, one.features[0].encoder.scaler
        np.testing.assert_array_equal(own.knots, other.knots)
        np.testing.assert_array_equal(own.scores, other.scores)


def test_only_plain_numbers_of_a_frame_are_read_in_blocks():
    kinds = {
        "float": [0.5, 1.5],
        "int": [1, 2],
        "hole": [1.0, NAN],
        "yes": [True, False],
    }
    frame = pd.DataFrame(kinds | {"text": ["a", "b"], "other": [1, 2]})
    frame = frame.astype({"int": "uint8", "other": "Int64"})
    expected = ["number", "number", "number", "boolean", "", ""]
    assert read_table(frame).number_kinds().tolist() == expected
