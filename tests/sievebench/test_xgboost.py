import numpy as np
import pytest
import xgboost

from made_tables import class_table, value_table
from sievebench.selectors import XGBoost


def three_classes():
    X, _ = class_table()
    return X, np.digitize(X[:, 2] - X[:, 5], [-1, 1])


@pytest.mark.parametrize("table", [class_table, three_classes, value_table])
def test_scores_are_average_gains_of_the_written_trees(table, monkeypatch):
    train, boosters = xgboost.train, []

    def remember(*arguments, **named):
        boosters.append(train(*arguments, **named))
        return boosters[-1]

    monkeypatch.setattr(xgboost, "train", remember)
    scores = XGBoost(n_estimators=15, n_jobs=1, random_state=5).fit(*table()).scores_
    nodes = boosters[0].trees_to_dataframe()
    gains = nodes[nodes.Feature != "Leaf"].groupby("Feature").Gain.mean()
    expected = np.array([gains.get(f"f{j}", 0.0) for j in range(8)])
    # The text has six digits.
    np.testing.assert_allclose(scores, expected / expected.sum(), rtol=1e-4)


def test_boosting_of_noise_stops_early():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)), rng.integers(2, size=200)
    selector = XGBoost(n_jobs=1, early_stopping_rounds=7, random_state=0).fit(X, y)
    assert 8 <= selector.n_rounds_ < 100


def test_columns_no_tree_uses_score_zero():
    X, y = class_table()
    selector = XGBoost(gamma=1e9, n_estimators=3, n_jobs=1, random_state=0).fit(X, y)
    assert (selector.scores_ == 0).all()


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
