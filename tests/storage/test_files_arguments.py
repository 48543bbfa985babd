import copy
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from torch import nn

import featuresieve
from featuresieve import Training
from made_tables import class_table
from saved_estimators import assert_same, quick, saved_and_loaded


@pytest.fixture(scope="module")
def fitted():
    return quick().fit(*class_table())


# --- labels


@pytest.mark.parametrize(
    "labels",
    [
        ["no", "yes, käse \N{GRINNING FACE}"],
        np.array(["a", "b"], dtype="<U20"),
        np.array(["", "b\x00c"], dtype=object),
        [False, True],
        [-(2**62), 2**62],
        np.array([3, 200], dtype=np.uint8),
        np.array([1, 2], dtype=">i4"),
        [-1.0, 1e9],
        np.array([0, 1], dtype=np.float32),
        pd.Categorical(["low", "high"]),
        pd.array([1, 2], dtype="Int64"),
        pd.array(["low", "high"], dtype="string"),
    ],
    ids=lambda labels: f"{type(labels).__name__} {getattr(labels, 'dtype', labels[0])}",
)
def test_class_labels_survive(labels, tmp_path):
    X, y = class_table()
    if isinstance(labels, np.ndarray):
        targets = labels[y.astype(int)]
    else:
        targets = pd.Series(labels).take(y.astype(int)).reset_index(drop=True)
    estimator = quick(n_epochs=2).fit(X, targets)
    again = saved_and_loaded(estimator, tmp_path)
    assert again.classes_.dtype == estimator.classes_.dtype.newbyteorder("=")
    assert again.classes_.tolist() == estimator.classes_.tolist()
    assert again.predict(X).tolist() == estimator.predict(X).tolist()


def test_labels_that_are_dates_are_refused(tmp_path):
    X, y = class_table()
    days = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]")
    estimator = quick(n_epochs=2).fit(X, days[y.astype(int)])
    with pytest.raises(TypeError, match=r"labels like .*dtype datetime64\[D\]"):
        estimator.save(tmp_path / "selector")
    assert list(tmp_path.iterdir()) == []


# --- names and arguments


def test_feature_names_of_any_kind_survive(tmp_path):
    X, y = class_table()
    names = ["a", "", "a,b [", '"}', "ä\N{GRINNING FACE}", "\\u0000\x00", "\n", "h"]
    estimator = quick(n_epochs=2).fit(pd.DataFrame(X, columns=names), y)
    again = saved_and_loaded(estimator, tmp_path)
    assert_same(again.feature_names_in_, estimator.feature_names_in_)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("training__hidden_sizes", (8, 4)),
        ("training__hidden_sizes", [8, 4]),
        ("training__noise", "logistic"),
        ("training", None),
        ("balance", np.float32(0.1)),
        ("random_state", np.int64(2**32 - 1)),
        ("feature_groups", [["a", "b"], ("c", 3)]),
        ("feature_groups", {"one": ["a", "b"], "two": [3]}),
        ("feature_groups", [np.array([1, 2])]),
        ("always_keep", np.array([True] + [False] * 7)),
        ("always_keep", np.array(["a", "b"])),
        ("always_keep", np.array(["a", "b"], dtype=object)),
        ("always_keep", pd.Index(["a", "b"])),
        ("always_keep", {"b", "a"}),
        ("never_keep", range(2)),
        ("feature_costs", {"a": 0.5, 3: 2}),
        ("feature_costs", np.linspace(0, 1, 8)),
        ("feature_costs", np.linspace(0, 1, 8, dtype=np.float32)),
        ("class_weight", {False: 1.0, True: 2}),
        ("class_weight", "balanced"),
        ("max_time", 1e300),
        ("tolerance", 0.1 + 0.2),
    ],
)
def test_arguments_survive(fitted, name, value, tmp_path):
    estimator = copy.deepcopy(fitted).set_params(**{name: value})
    loaded = saved_and_loaded(estimator, tmp_path).get_params()[name]
    if isinstance(value, np.generic):
        value = value.item()
    elif isinstance(value, pd.Index | range):
        value = list(value)
    assert_same(loaded, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tolerance", float("nan")),
        ("max_time", float("inf")),
        ("always_keep", np.array(["2020-01-01"], dtype="datetime64[D]")),
        ("feature_costs", np.ones((2, 2))),
        ("feature_groups", object()),
        ("class_weight", {1: {2: {3: {4: {5: {6: {7: {8: {9: 0}}}}}}}}}),
        ("feature_groups", {("x", 1): [0]}),
        ("feature_groups", {frozenset([1]): [0]}),
        ("class_weight", {0: 1, 1: 1, (1, 2): 3}),
        ("feature_costs", {0: Fraction(1, 2)}),
        ("feature_costs", np.ones(8, dtype=np.longdouble)),
    ],
)
def test_arguments_that_a_file_cannot_hold_are_named(fitted, name, value, tmp_path):
    estimator = copy.deepcopy(fitted).set_params(**{name: value})
    with pytest.raises(
        TypeError, match=rf"(?s)(got {name}=|{name}' has).*Use pickle or"
    ):
        estimator.save(tmp_path / "selector")
    assert list(tmp_path.iterdir()) == []


def test_network_of_the_users_own_is_refused(tmp_path):
    own = Training(task_network=nn.Linear)
    estimator = quick(training=own, n_epochs=2).fit(*class_table())
    with pytest.raises(TypeError, match=r"task_network .* Use pickle or joblib"):
        estimator.save(tmp_path / "selector")
    with pytest.raises(TypeError, match="task_network"):
        estimator.set_params(training=None).save(tmp_path / "selector")


def test_random_state_that_is_a_generator_becomes_none_with_a_warning(tmp_path):
    state = np.random.RandomState(0)
    estimator = quick(random_state=state, n_epochs=2).fit(*class_table())
    with pytest.warns(featuresieve.FeatureSieveWarning, match="is saved as None"):
        again = saved_and_loaded(estimator, tmp_path)
    assert again.random_state is None
    assert estimator.random_state is state


def test_output_of_transform_survives_and_the_checkpoint_stays(tmp_path):
    X, y = class_table()
    estimator = quick(n_epochs=2).set_output(transform="polars").fit(X, y)
    estimator.set_params(checkpoint=tmp_path / "checkpoint")
    again = saved_and_loaded(estimator, tmp_path)
    assert isinstance(again.transform(X), pl.DataFrame)
    assert again.checkpoint is None


def test_more_layers_than_a_file_may_have_are_not_saved(fitted, tmp_path, monkeypatch):
    # A thousand layers take long to train.
    monkeypatch.setattr("featuresieve.storage._selector_file._MAX_LAYERS", 3)
    with pytest.raises(TypeError, match="its networks have 4 sizes"):
        fitted.save(tmp_path / "selector")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [np.longdouble(0.5), np.float16(0.5)])
def test_float_of_any_width_survives(fitted, value, tmp_path):
    estimator = copy.copy(fitted).set_params(tolerance=value, feature_costs={0: value})
    again = saved_and_loaded(estimator, tmp_path)
    assert again.tolerance == 0.5
    assert again.feature_costs == {0: 0.5}
