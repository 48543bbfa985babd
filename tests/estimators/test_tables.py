"""Tables of every kind through the estimators: what goes in comes out."""

import warnings

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from featuresieve import (
    AutoNFSClassifier,
    AutoNFSRegressor,
    DoubtfulSelectionWarning,
    load,
)
from featuresieve.tables import plain_array
from made_tables import class_table
from quick_selectors import quick

N_ROWS = 300


def mixed_columns(seed=0):
    """Return columns of every kind; city, area and when decide the target."""
    rng = np.random.default_rng(seed)
    city = rng.choice(["Köln", "Oslo", "Rome", "Nice"], N_ROWS)
    area = rng.lognormal(size=N_ROWS)
    area[::10] = np.nan
    when = np.datetime64("2020-01-01") + rng.integers(0, 700, N_ROWS)
    columns = {
        "city of birth": city,
        "area": area.astype(np.float32),
        "when": when.astype("datetime64[us]"),
        "rooms": rng.integers(1, 9, N_ROWS).astype(np.int16),
        "garden": rng.random(N_ROWS) < 0.5,
        "colour": rng.choice(list("abcdefgh"), N_ROWS),
        "noise": rng.standard_normal(N_ROWS),
    }
    signs = (
        np.isin(city, ["Köln", "Oslo"]),
        area > 1,
        when > np.datetime64("2021-01-01"),
    )
    return columns, np.where(np.sum(signs, axis=0) >= 2, "good", "poor")


def pandas_frame():
    columns, y = mixed_columns()
    frame = pd.DataFrame(columns, index=np.arange(N_ROWS) * 3)
    frame["colour"] = frame["colour"].astype("category")
    return frame, y


def polars_frame():
    columns, y = mixed_columns()
    frame = pl.DataFrame(columns).with_columns(
        pl.col("colour").cast(pl.Categorical), pl.col("area").fill_nan(None)
    )
    return frame, y


def arrow_table():
    frame, y = polars_frame()
    return frame.with_columns(pl.col("colour").cast(pl.String)).to_arrow(), y


def kept_of(selector):
    return list(selector.get_feature_names_out())


@pytest.fixture(scope="module")
def fitted():
    frame, y = pandas_frame()
    return AutoNFSClassifier(random_state=0).fit(frame, y)


def test_mixed_columns_are_selected_whole(fitted):
    frame, y = pandas_frame()
    assert {"city of birth", "area", "when"} <= set(kept_of(fitted))
    assert fitted.n_features_in_ == 7
    assert fitted.score(frame, y) > 0.8


def test_pandas_frames_come_back_with_names_dtypes_and_index(fitted):
    frame, _ = pandas_frame()
    expected = frame[kept_of(fitted)]
    pd.testing.assert_frame_equal(fitted.transform(frame), expected)


@pytest.mark.parametrize("make", [polars_frame, arrow_table])
def test_other_frames_come_back_with_their_dtypes(make):
    frame, y = make()
    selector = quick().fit(frame, y)
    found, expected = selector.transform(frame), frame.select(kept_of(selector))
    assert type(found) is type(frame)
    assert found.equals(expected)
    assert found.schema == expected.schema


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_keeps_dtypes_within_a_library(library):
    frame, y = pandas_frame() if library == "pandas" else polars_frame()
    selector = quick().set_output(transform=library).fit(frame, y)
    found, expected = selector.transform(frame), frame[kept_of(selector)]
    assert type(found) is type(frame)
    assert list(found.dtypes) == list(expected.dtypes)


@pytest.mark.parametrize("make", [pandas_frame, polars_frame, arrow_table])
def test_set_output_default_gives_an_array_as_scikit_learn_does(make, tmp_path):
    frame, y = make()
    selector = quick().set_output(transform="default")
    found = selector.fit_transform(frame, y)
    assert type(found) is np.ndarray
    kept = make_pipeline(quick()).fit(frame, y).transform(frame)
    assert type(kept) is type(frame)
    np.testing.assert_array_equal(found[:, -1], plain_array(kept)[:, -1])
    selector.save(tmp_path / "selector")
    assert type(load(tmp_path / "selector").transform(frame)) is np.ndarray


@pytest.mark.parametrize("make", [pandas_frame, polars_frame, arrow_table])
def test_inverse_transform_gives_a_frame_for_a_frame(make):
    frame, y = make()
    selector = quick().fit(frame, y)
    kept = selector.transform(frame)
    restored = selector.inverse_transform(kept)
    assert type(restored) is type(frame)
    names = restored.column_names if make is arrow_table else list(restored.columns)
    assert names == list(selector.feature_names_in_)
    again = selector.transform(restored)
    assert again.equals(kept)  # missing values too
    (dropped,) = np.flatnonzero(~selector.support_)[:1]
    assert set(np.asarray(restored[names[dropped]]).tolist()) == {0.0}


@pytest.mark.parametrize("make", [pandas_frame, polars_frame, arrow_table])
def test_dropped_text_and_dates_come_back_missing(make):
    frame, y = make()
    selector = quick(n_features_to_select=1).fit(frame, y)
    restored = nw.from_native(selector.inverse_transform(selector.transform(frame)))
    for name in selector.feature_names_in_[~selector.support_]:
        column = restored[name]
        is_missing = name in ("city of birth", "colour", "when")
        assert column.is_null().all() == is_missing
        assert is_missing or column.to_list() == [0.0] * len(column)


def test_inverse_transform_of_arrays_keeps_missing_values():
    X, y = class_table()
    X[::7, :] = np.nan
    selector = quick().fit(X, y)
    restored = selector.inverse_transform(selector.transform(X))
    np.testing.assert_array_equal(restored, np.where(selector.support_, X, 0))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_makes_frames_of_arrays(library):
    X, y = class_table()
    selector = quick().set_output(transform=library).fit(X, y)
    found = selector.transform(X)
    assert type(found).__module__.startswith(library)
    assert list(found.columns) == [f"x{j}" for j in selector.get_support(True)]


def test_the_same_table_in_any_library_gives_the_same_answer():
    tables = pandas_frame(), polars_frame(), arrow_table()
    first, *others = [quick().fit(frame, y).logits_ for frame, y in tables]
    for logits in others:
        np.testing.assert_array_equal(logits, first)


FORMS = {
    "float64": np.asarray,
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "fortran": np.asfortranarray,
    "nested lists": lambda X: X.tolist(),
    "objects": lambda X: X.astype(object),
    "torch": lambda X: torch.tensor(X, requires_grad=True),
    "bfloat16": lambda X: torch.tensor(X).bfloat16(),
    "csr matrix": sparse.csr_matrix,
    "csc array": sparse.csc_array,
    "coo array": sparse.coo_array,
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_arrays_of_any_form_are_taken_and_come_back(form):
    X, y = class_table()
    given = form(X)
    selector = quick().fit(given, y)
    assert selector.support_[[2, 5]].all()
    found = selector.transform(given)
    kind = np.ndarray if isinstance(given, list) else type(given)
    assert isinstance(found, kind)
    assert found.shape == (len(X), selector.n_features_selected_)
    assert selector.score(given, y) > 0.85


def test_read_only_memory_is_taken():
    X, y = class_table()
    X.setflags(write=False)
    y.setflags(write=False)
    assert quick().fit(X, y).transform(X).shape[0] == len(X)


@pytest.mark.filterwarnings("ignore::featuresieve.DoubtfulSelectionWarning")
def test_small_integers_are_taken():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 255, size=(300, 6), dtype=np.uint8)
    selector = quick().fit(X, X[:, 3] > 128)
    assert selector.support_[3]
    assert selector.transform(X).dtype == np.uint8


def test_sparse_tables_give_the_answer_of_their_dense_form():
    rng = np.random.default_rng(0)
    X = rng.random((500, 40)) * (rng.random((500, 40)) < 0.1)
    y = X[:, 3] + X[:, 17] > 0.1
    selector = AutoNFSClassifier(random_state=0).fit(sparse.csr_array(X), y)
    assert selector.support_[[3, 17]].all()
    assert selector.n_features_selected_ <= 4
    dense, given = selector.predict(X), selector.predict(sparse.csr_array(X))
    np.testing.assert_array_equal(dense, given)


def test_missing_values_may_be_the_message():
    # The value says nothing, that it is missing says everything.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 5))
    y = rng.random(400) < 0.5
    X[y, 2] = np.nan
    with pytest.warns(DoubtfulSelectionWarning, match="'x2' alone predicts"):
        selector = AutoNFSClassifier(random_state=0).fit(X, y)
    assert selector.order_[0] == 2
    assert selector.n_features_selected_ <= 2
    assert selector.score(X, y) == 1.0


def test_values_missing_only_later_are_taken():
    X, y = class_table()
    selector = quick().fit(X, y)
    X[0, :] = np.nan
    assert np.isfinite(selector.predict_proba(X)).all()


@pytest.mark.filterwarnings("ignore::featuresieve.DoubtfulSelectionWarning")
def test_categories_of_many_levels_are_taken():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 300, 3000)
    frame = pd.DataFrame(
        {
            "postcode": np.char.add("P", codes.astype(str)),
            "identifier": [f"id{i}" for i in range(3000)],
            "x": rng.standard_normal(3000),
        }
    )
    y = frame["x"] + np.isin(codes, [0, 1, 2, 3]) > 0.5
    selector = quick().fit(frame, y)
    assert "x" in kept_of(selector)
    assert "identifier" not in kept_of(selector)
    unseen = pd.DataFrame({"postcode": ["?"], "identifier": ["new"], "x": [2.0]})
    assert selector.predict(unseen).shape == (1,)


def test_names_are_compared_with_those_of_fit(fitted):
    frame, _ = pandas_frame()
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(frame.rename(columns={"area": "size"}))
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(frame[frame.columns[::-1]])


def test_a_column_of_another_kind_is_refused(fitted):
    frame, _ = pandas_frame()
    with pytest.raises(ValueError, match="column 'area' of X held values of kind"):
        fitted.predict(frame.assign(area="large"))


@pytest.mark.parametrize(
    ("column", "spoil", "advice"),
    [
        ("when", lambda c: c.astype(str), r"dates of it.*to_datetime\(X\['when'\]\)"),
        ("when", lambda c: c.astype("int64"), r"pandas\.to_datetime\(X\['when'\]\)"),
        ("area", lambda c: c.astype(str), r"pandas\.to_numeric\(X\['area'\]\)"),
        ("area", lambda c: c.astype("datetime64[s]"), r"count in a unit.*\.dt\.year"),
        ("city of birth", lambda c: c.str.len(), r"\['city of birth'\]\.astype\(str\)"),
    ],
)
def test_a_column_of_another_kind_is_answered_with_the_way_back(
    fitted, column, spoil, advice
):
    frame, _ = pandas_frame()
    with pytest.raises(ValueError, match=f"held values of kind .* now: .*{advice}"):
        fitted.predict(frame.assign(**{column: spoil(frame[column])}))
    spoiled = frame.assign(when=frame["when"].astype(str))
    spoiled["when"] = pd.to_datetime(spoiled["when"])
    np.testing.assert_array_equal(fitted.predict(spoiled), fitted.predict(frame))


def test_permuting_rows_and_columns_permutes_the_answer():
    frame, y = pandas_frame()
    first = quick().fit(frame, y)
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(len(frame)), rng.permutation(frame.shape[1])
    again = quick().fit(frame.iloc[rows, columns], y[rows])
    np.testing.assert_array_equal(again.support_, first.support_[columns])
    # The last digits of means depend on the order of summation.
    np.testing.assert_allclose(again.logits_, first.logits_[columns], atol=1e-3)


# Bad input: each either works or is refused by name, and nothing is lost.

BAD = {
    "infinite": (np.array([[1.0, np.inf], [2.0, 3.0], [0.0, 1.0]]), "inf"),
    "no rows": (np.empty((0, 3)), "0 sample"),
    "no columns": (np.empty((3, 0)), "0 feature"),
    "one dimension": (np.arange(3.0), "Expected 2D array"),
    "three dimensions": (np.ones((3, 2, 2)), "dim"),
    "mixed types": (pd.DataFrame({"a": [1, "x", 2.5]}), "column 'a'"),
    "cells of lists": (pd.DataFrame({"a": [[1], [2], [3]]}), "column 'a'"),
    "complex": (np.ones((3, 2)) * 1j, "Complex data not supported"),
    "names twice": (pd.DataFrame(np.ones((3, 2)), columns=["a", "a"]), "a"),
    "lazy": (pl.LazyFrame({"a": [1, 2, 3]}), "collect"),
    "wrong length": (np.ones((4, 2)), "X has 4 rows, y has 3"),
}


@pytest.mark.parametrize(("X", "message"), BAD.values(), ids=BAD)
@pytest.mark.parametrize("estimator", [AutoNFSClassifier, AutoNFSRegressor])
def test_bad_tables_are_refused_by_name(X, message, estimator):
    selector = quick(estimator)
    with pytest.raises((ValueError, TypeError), match=message):
        selector.fit(X, [0, 1, 0])
    with pytest.raises(NotFittedError):
        selector.transform(X)


def test_a_refused_fit_leaves_the_earlier_one():
    X, y = class_table()
    selector = quick().fit(X, y)
    before = selector.predict(X)
    with pytest.raises(ValueError, match="inf"):
        selector.fit(np.full((10, 3), np.inf), y[:10])
    assert selector.n_features_in_ == X.shape[1]
    np.testing.assert_array_equal(selector.predict(X), before)


ODD = {
    "constant columns": np.column_stack([np.ones((40, 2)), np.arange(40.0)]),
    "all missing column": np.column_stack([np.full(40, np.nan), np.arange(40.0)]),
    "everything missing": np.full((40, 2), np.nan),
    "equal columns": np.repeat(np.arange(40.0)[:, None], 3, axis=1),
    "one column": np.arange(40.0)[:, None],
    "huge": np.arange(80.0).reshape(40, 2) * 1e30,
    "tiny": np.arange(80.0).reshape(40, 2) * 1e-30,
    "two rows": np.array([[0.0, 1.0], [1.0, 0.0]]),
    "fewer rows than columns": np.random.default_rng(0).normal(size=(6, 50)),
}


@pytest.mark.parametrize("X", ODD.values(), ids=ODD)
@pytest.mark.parametrize("estimator", [AutoNFSClassifier, AutoNFSRegressor])
def test_odd_tables_work(X, estimator):
    y = np.arange(len(X)) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # some have nothing to say
        selector = quick(estimator).fit(X, y)
    assert 1 <= selector.n_features_selected_ <= X.shape[1]
    assert np.isfinite(selector.predict(X)).all()


def test_fewer_rows_than_classes_is_an_error_or_an_answer():
    X, y = np.random.default_rng(0).normal(size=(8, 3)), np.arange(8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert quick().fit(X, y).n_features_selected_ >= 1


@pytest.mark.parametrize("as_arrow", [False, True])
def test_a_column_that_is_never_kept_may_hold_anything(as_arrow):
    X, y = class_table()
    frame = pd.DataFrame(X, columns=list("abcdefgh")).assign(what=[[1, 2]] * len(X))
    table = pa.Table.from_pandas(frame) if as_arrow else frame
    with pytest.raises(TypeError, match=r"column 'what' of X holds the list \[1, 2\]"):
        quick().fit(table, y)
    selector = quick(never_keep=["what"]).fit(table, y)
    expected = quick().fit(frame.drop(columns="what"), y)
    np.testing.assert_array_equal(selector.support_[:-1], expected.support_)
    np.testing.assert_array_equal(
        selector.predict(table), expected.predict(frame.drop(columns="what"))
    )
