import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline

from featuresieve import (
    AutoNFSClassifier,
    AutoNFSRegressor,
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


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_keeps_dtypes_within_a_library(library):
    frame, y = pandas_frame() if library == "pandas" else polars_frame()
    selector = quick().set_output(transform=library).fit(frame, y)
    found, expected = selector.transform(frame), frame[kept_of(selector)]
    assert type(found) is type(frame)
    assert list(found.dtypes) == list(expected.dtypes)


def test_set_output_of_no_known_library_is_refused():
    frame, y = pandas_frame()
    selector = quick().set_output(transform="panda").fit(frame, y)
    with pytest.raises(ValueError, match=r"one of 'default', .* got 'panda'"):
        selector.transform(frame)


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
def test_dropped_text_and_dates_come_back_missing(make):
    frame, y = make()
    only = {"n_features_to_select": 1, "always_keep": ["rooms"]}
    selector = quick(**only).fit(frame, y)
    restored = nw.from_native(selector.inverse_transform(selector.transform(frame)))
    for name in selector.feature_names_in_[~selector.support_]:
        column = restored[name]
        is_missing = name in ("city of birth", "colour", "when")
        assert column.is_null().all() == is_missing
        assert is_missing or column.to_list() == [0.0] * len(column)


def test_sparse_tables_give_the_answer_of_their_dense_form():
    rng = np.random.default_rng(0)
    X = rng.random((500, 40)) * (rng.random((500, 40)) < 0.1)
    y = X[:, 3] + X[:, 17] > 0.1
    selector = AutoNFSClassifier(random_state=0).fit(sparse.csr_array(X), y)
    assert selector.support_[[3, 17]].all()
    assert selector.n_features_selected_ <= 4
    dense, given = selector.predict(X), selector.predict(sparse.csr_array(X))
    np.testing.assert_array_equal(dense, given)


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
    "a class for every row": np.random.default_rng(0).normal(size=(8, 3)),
}


@pytest.mark.parametrize("X", ODD.values(), ids=ODD)
@pytest.mark.parametrize("estimator", [AutoNFSClassifier, AutoNFSRegressor])
@pytest.mark.filterwarnings("ignore::UserWarning")  # some have nothing to say
def test_odd_tables_work(X, estimator):
    y = np.arange(len(X)) % (2 if len(X) != 8 else 8)
    selector = quick(estimator).fit(X, y)
    assert 1 <= selector.n_features_selected_ <= X.shape[1]
    assert np.isfinite(selector.predict(X)).all()


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
