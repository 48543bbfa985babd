"""The average gain against the trees as the booster writes them down."""

import sys

import numpy as np
import pytest
import xgboost

from featuresieve.errors import draw_seed
from made_tables import INFORMATIVE, class_table, value_table
from sievebench.selectors import XGBoost


def three_classes():
    X, _ = class_table()
    return X, np.digitize(X[:, 2] - X[:, 5], [-1, 1])


@pytest.mark.parametrize(
    ("table", "task"),
    [
        (class_table, "classification"),
        (three_classes, "classification"),
        (value_table, "regression"),
    ],
)
def test_scores_are_average_gains_of_the_written_trees(table, task):
    X, y = table()
    selector = XGBoost(n_estimators=15, n_jobs=1, random_state=5)
    codes = y.astype(np.int64) if task == "classification" else y
    booster = selector._train(X, codes, task=task, seed=draw_seed(5))
    nodes = booster.trees_to_dataframe()
    gains = nodes[nodes.Feature != "Leaf"].groupby("Feature").Gain.mean()
    expected = np.array([gains.get(f"f{j}", 0.0) for j in range(8)])
    # The text has six digits.
    np.testing.assert_allclose(
        selector.fit(X, y).scores_, expected / expected.sum(), rtol=1e-4
    )


@pytest.mark.parametrize("table", [class_table, three_classes, value_table])
def test_informative_columns_are_kept(table):
    selector = XGBoost(n_features_to_select=2, n_jobs=1, random_state=0).fit(*table())
    assert tuple(np.flatnonzero(selector.support_)) == INFORMATIVE


def test_boosting_of_noise_stops_early():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)), rng.integers(2, size=200)
    selector = XGBoost(n_jobs=1, early_stopping_rounds=7, random_state=0).fit(X, y)
    assert 8 <= selector.n_rounds_ < 100


def test_missing_values_that_tell_the_class_are_found():
    X, y = class_table()
    X = np.random.default_rng(1).normal(size=X.shape)
    X[y, 3] = np.nan
    selector = XGBoost(n_features_to_select=1, n_jobs=1, random_state=0).fit(X, y)
    assert selector.support_[3]


def test_columns_no_tree_uses_score_zero():
    X, y = class_table()
    selector = XGBoost(gamma=1e9, n_estimators=3, n_jobs=1, random_state=0).fit(X, y)
    assert (selector.scores_ == 0).all()


def test_missing_package_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(ImportError, match=r"XGBoost needs.*featuresieve\[lab\]"):
        XGBoost().fit(*class_table())


@pytest.mark.parametrize("device", ["cpu", "auto"])
def test_device_is_one_that_is_there(device):
    X, y = class_table()
    selector = XGBoost(n_estimators=5, device=device, random_state=0).fit(X, y)
    assert selector.n_rounds_ >= 1


def test_device_that_xgboost_is_not_built_for_is_refused(monkeypatch):
    X, y = class_table()
    built = {**xgboost.build_info(), "USE_CUDA": False}
    monkeypatch.setattr(xgboost, "build_info", lambda: built)
    with pytest.raises(ValueError, match="no CUDA; use 'cpu' or 'auto'"):
        XGBoost(device="cuda").fit(X, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_estimators": -3}, "n_estimators must be an int >= 1, got -3"),
        ({"n_estimators": "bad"}, "n_estimators must be an int >= 1, got 'bad'"),
        ({"early_stopping_rounds": 0}, "early_stopping_rounds must be an int >= 1"),
        ({"validation_fraction": 1}, "validation_fraction must be a number >= 0 and"),
    ],
)
def test_argument_that_is_not_allowed_is_named(settings, message):
    with pytest.raises(ValueError, match=message):
        XGBoost(**settings).fit(*class_table())
