import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import featuresieve
from featuresieve import AutoNFSClassifier, AutoNFSRegressor, Training

SMALL = Training(n_epochs=30, n_members=2, hidden_sizes=(8,))
QUICK = {"training": SMALL, "random_state": 0}


def class_table(n_rows=300, n_columns=8):
    """Return a frame whose columns matter the less the later they come."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns))
    y = X[:, 0] + 0.7 * X[:, 1] + 0.4 * X[:, 2] + 0.3 * rng.standard_normal(n_rows) > 0
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(n_columns)]), y


def value_table():
    X, _ = class_table()
    return X, 3 * X["c0"] + X["c1"] + 0.3 * X["c2"]


@pytest.fixture(scope="module")
def fitted():
    return AutoNFSClassifier(**QUICK).fit(*class_table())


def assert_same_answer(found, expected, X):
    assert type(found) is type(expected)
    assert found.get_params() == expected.get_params()
    np.testing.assert_array_equal(found.support_, expected.support_)
    np.testing.assert_array_equal(found.order_, expected.order_)
    np.testing.assert_array_equal(found.ranking_, expected.ranking_)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))


@pytest.mark.parametrize("size", [1, 3, 8, 0.5])
def test_with_size_is_the_answer_of_a_fit_of_that_size(fitted, size):
    X, y = class_table()
    expected = AutoNFSClassifier(**QUICK, n_features_to_select=size).fit(X, y)
    found = fitted.with_size(size)
    assert_same_answer(found, expected, X)
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))


def test_with_tolerance_is_the_answer_of_a_fit_of_that_tolerance():
    X, y = value_table()
    fitted = AutoNFSRegressor(**QUICK).fit(X, y)
    for tolerance in (0.05, 0.5):
        expected = AutoNFSRegressor(**QUICK, tolerance=tolerance).fit(X, y)
        found = fitted.with_tolerance(tolerance)
        assert_same_answer(found, expected, X)
        np.testing.assert_array_equal(found.path_, expected.path_)


def test_a_larger_tolerance_never_keeps_more_and_the_original_does_not_change(fitted):
    X, _ = class_table()
    before, path = fitted.predict_proba(X), fitted.path_.copy()
    sizes = [fitted.with_tolerance(t).n_features_ for t in (0.0, 0.01, 0.1, 1.0, 10.0)]
    assert sizes == sorted(sizes, reverse=True)
    fitted.with_size(1)
    np.testing.assert_array_equal(fitted.predict_proba(X), before)
    np.testing.assert_array_equal(fitted.path_, path)
    assert fitted.n_features_to_select is None


def test_one_size_leads_to_another_and_back_to_the_choice(fitted):
    X, _ = class_table()
    back = fitted.with_size(2).with_size(5).with_tolerance(fitted.tolerance)
    assert_same_answer(back, fitted, X)
    np.testing.assert_array_equal(back.path_, fitted.path_)


def test_another_size_has_a_row_without_a_loss_and_can_be_saved(fitted, tmp_path):
    X, _ = class_table()
    other = fitted.with_size(4)
    path = other.path_
    assert len(path) == len(fitted.path_) + 1
    (row,) = path[path["is_chosen"]]
    assert row["n_kept"] == 4
    assert np.isnan(row["loss"])
    other.save(tmp_path / "other.safetensors")
    again = featuresieve.load(tmp_path / "other.safetensors")
    assert_same_answer(again, other, X)
    for name in path.dtype.names:
        np.testing.assert_array_equal(again.path_[name], path[name])


@pytest.mark.filterwarnings("ignore::featuresieve.DoubtfulSelectionWarning")
def test_groups_and_features_always_kept_are_respected():
    X, y = class_table()
    constraints = {
        "feature_groups": [["c0", "c7"]],
        "always_keep": ["c5"],
        "never_keep": ["c1"],
    }
    selector = AutoNFSClassifier(**QUICK, **constraints).fit(X, y)
    for size in (1, 2, 3, 7):
        expected = AutoNFSClassifier(**QUICK, **constraints, n_features_to_select=size)
        expected.fit(X, y)
        found = selector.with_size(size)
        np.testing.assert_array_equal(found.support_, expected.support_)
        np.testing.assert_array_equal(found.predict(X), expected.predict(X))


def test_weights_and_data_can_be_passed_again():
    X, y = class_table()
    weights = np.where(X["c3"] > 0, 2.0, 1.0)
    selector = AutoNFSClassifier(**QUICK).fit(X, y, sample_weight=weights)
    expected = selector.with_size(2)
    again = pickle.loads(pickle.dumps(selector))
    found = again.with_size(2, X, y, sample_weight=weights)
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))


@pytest.mark.parametrize("way", ["pickle", "deepcopy", "file"])
def test_without_data_an_error_asks_for_them(fitted, way, tmp_path):
    X, y = class_table()
    if way == "file":
        fitted.save(tmp_path / "selector.safetensors")
        again = featuresieve.load(tmp_path / "selector.safetensors")
    else:
        again = copy.deepcopy(fitted)
        if way == "pickle":
            again = pickle.loads(pickle.dumps(fitted))
    with pytest.raises(ValueError, match="Pass X and y too"):
        again.with_size(3)
    assert_same_answer(again.with_size(3, X, y), fitted.with_size(3), X)
    found = again.with_tolerance(0.3, X, y)
    assert_same_answer(found, fitted.with_tolerance(0.3), X)


def test_large_tables_are_not_kept(monkeypatch):
    X, y = class_table()
    monkeypatch.setattr("featuresieve.estimators._autonfs._MOST_BYTES_KEPT", X.shape[0])
    selector = AutoNFSClassifier(0.01, **QUICK).fit(X, y)
    with pytest.raises(ValueError, match="the table was large"):
        selector.with_size(2)


@pytest.mark.parametrize("size", [9, 0, 1.5, "all", None])
def test_sizes_that_cannot_be_are_refused(fitted, size):
    allowed = "at most the number of features" if size == 9 else "an int >= 1, or a fl"
    error = TypeError if size in ("all", None) else ValueError
    with pytest.raises(error, match=f"n_features(_to_select)? must be {allowed}"):
        fitted.with_size(size)
    with pytest.raises(TypeError, match=r"^AutoNFSClassifier.with_size\(\) missing a"):
        fitted.with_size()


def test_other_columns_and_unfitted_estimators_are_refused(fitted):
    X, y = class_table()
    with pytest.raises(ValueError, match="feature names"):
        fitted.with_size(2, X.rename(columns={"c0": "other"}), y)
    for method in ("with_size", "with_tolerance"):
        with pytest.raises(NotFittedError):
            getattr(AutoNFSClassifier(), method)(1)


def test_without_held_out_losses_there_is_no_other_tolerance(fitted):
    selector = AutoNFSClassifier(0.01, **QUICK).fit(*class_table())
    with pytest.raises(ValueError, match="needs held-out losses"):
        selector.with_tolerance(0.1)
    with pytest.raises(ValueError, match="tolerance must be a finite number >= 0"):
        fitted.with_tolerance(-1)
