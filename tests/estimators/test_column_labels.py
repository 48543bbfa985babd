import datetime
import json

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import featuresieve
from any_table import ODD_LABELS
from featuresieve import AutoNFSClassifier
from quick_selectors import built

# Names are tested here: what such short trainings keep does not matter.
pytestmark = pytest.mark.filterwarnings("ignore::featuresieve.FeatureSieveWarning")

LABELS = ("range", "integers", "floats", "tuples", "dates", "levels")


@pytest.fixture(scope="module", params=LABELS)
def case(request):
    """Return a frame with such names, and a selector of its first and third column."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((60, 4)))
    y = frame[0] + frame[2] > 0
    frame.columns = ODD_LABELS[request.param](4)
    constraints = {"always_keep": [0, 2], "n_features_to_select": 2}
    quick = built(AutoNFSClassifier, 0.01, n_epochs=3, random_state=0, **constraints)
    return frame, y, quick


@pytest.fixture(scope="module")
def fitted(case):
    frame, y, selector = case
    return selector.fit(frame, y)


def test_json_has_whole_numbers_as_they_are_and_other_names_as_text(case, fitted):
    frame, _, _ = case
    is_whole = frame.columns.dtype == np.int64
    found = [feature["name"] for feature in json.loads(fitted.to_json())["features"]]
    assert found == [name if is_whole else str(name) for name in frame.columns]


def test_names_in_another_order_are_refused(case, fitted):
    frame, _, _ = case
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(frame.iloc[:, ::-1])


def test_errors_name_the_column(case):
    frame, y, selector = case
    broken = frame.copy()
    broken.isetitem(1, np.full(len(frame), np.inf))
    name = repr(frame.columns.tolist()[1])
    with pytest.raises(ValueError, match="infinity") as error:
        selector.fit(broken, y)
    assert name in str(error.value)


def test_dates_as_names_are_moments_after_loading_and_nanoseconds_refused(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 2)))
    y = frame[0] > 0
    selector = built(AutoNFSClassifier, 0.0, n_epochs=3, random_state=0)
    frame.columns = pd.DatetimeIndex(["2024-01-01", "2024-02-01"])
    selector.fit(frame, y).save(tmp_path / "selector")
    names = featuresieve.load(tmp_path / "selector").feature_table()["name"]
    assert {type(name) for name in names} <= {datetime.datetime, pd.Timestamp}
    frame.columns = pd.DatetimeIndex([pd.Timestamp(1), pd.Timestamp(2)])
    with pytest.raises(TypeError, match="column names"):
        selector.fit(frame, y).save(tmp_path / "selector")


def kept_and_put_back(X, **arguments):
    """Return a selector of the first column, and all columns it puts back."""
    constraints = {"always_keep": [0], "n_features_to_select": 1}
    selector = built(AutoNFSClassifier, 0.01, n_epochs=3, **constraints, **arguments)
    selector.fit(X, np.arange(12) % 2)
    return selector, selector.inverse_transform(selector.transform(X))


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table, pd.DataFrame])
def test_names_in_a_frame_of_narwhals_are_known(make):
    columns = {"a": np.arange(12.0), "b": np.ones(12)}
    selector, wide = kept_and_put_back(nw.from_native(make(columns)))
    assert selector.feature_names_in_.tolist() == wide.columns == ["a", "b"]


@pytest.mark.parametrize("name", ["", "*", "^.*$", "a\0", "{0}"])
@pytest.mark.parametrize("make", [pl.DataFrame, pa.table, pd.DataFrame])
def test_names_that_mean_something_to_a_library_come_back(make, name):
    frame = make({name: np.arange(12.0), "b": np.ones(12)})
    selector, wide = kept_and_put_back(frame)
    kept = nw.from_native(selector.transform(frame))
    assert kept.columns == list(selector.get_feature_names_out()) == [name]
    assert nw.from_native(wide).columns == [name, "b"]
    assert set(selector.feature_table()["name"]) == {name, "b"}
    for library in ("pandas", "polars"):
        found = selector.set_output(transform=library).transform(frame)
        assert list(found.columns) == [name]
