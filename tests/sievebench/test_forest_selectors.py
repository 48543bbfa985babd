"""Selectors that grow trees: random forest, XGBoost, permutation importance, Boruta."""

import numpy as np
import pytest
import xgboost
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from featuresieve.errors import draw_seed
from made_tables import INFORMATIVE, class_table, value_table
from sievebench.selectors import Boruta, PermutationImportance, RandomForest, XGBoost


def impurity_decreases(tree, n_columns):
    """Return the decrease of one tree by column, in plain loops."""
    decreases = np.zeros(n_columns)
    weight = tree.weighted_n_node_samples * tree.impurity
    for node in range(tree.node_count):
        left, right = tree.children_left[node], tree.children_right[node]
        if left != -1:
            decrease = weight[node] - weight[left] - weight[right]
            decreases[tree.feature[node]] += decrease
    return decreases / decreases.sum()


@pytest.mark.parametrize(
    ("table", "kind"),
    [(class_table, RandomForestClassifier), (value_table, RandomForestRegressor)],
)
def test_scores_are_decreases_in_impurity(table, kind):
    X, y = table()
    forest = kind(30, max_depth=10, random_state=draw_seed(3)).fit(X, y)
    expected = np.mean(
        [impurity_decreases(tree.tree_, X.shape[1]) for tree in forest.estimators_],
        axis=0,
    )
    scores = RandomForest(n_estimators=30, random_state=3).fit(X, y).scores_
    np.testing.assert_allclose(scores, expected, rtol=1e-6)


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


def test_boosting_of_noise_stops_early_and_unused_columns_score_zero():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)), rng.integers(2, size=200)
    selector = XGBoost(n_jobs=1, early_stopping_rounds=7, random_state=0).fit(X, y)
    assert 8 <= selector.n_rounds_ < 100
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


def test_loss_is_near_twice_the_share_of_the_variance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    y = 2 * X[:, 0] + X[:, 1]
    scores = PermutationImportance(random_state=0).fit(X, y).scores_
    # For y = Σ a_j x_j, a perfect model loses 2 a_j² / Σ a²; the forest is near that.
    np.testing.assert_allclose(scores, [2 * 4 / 5, 2 * 1 / 5], rtol=0.15)


def test_column_without_use_costs_nothing():
    X, y = value_table()
    X[:, 0] = 1.0
    assert PermutationImportance(random_state=0).fit(X, y).scores_[0] == 0


FEW_ROUNDS = {"max_iter": 25, "n_estimators": 50, "random_state": 0}


@pytest.mark.parametrize("table", [class_table, value_table])
def test_confirmed_columns_are_the_informative_ones(table):
    selector = Boruta(**FEW_ROUNDS).fit(*table())
    assert tuple(np.flatnonzero(selector.support_)) == INFORMATIVE
    assert selector.n_confirmed_ == 2
    assert set(selector.ranking_[selector.support_]) == {1, 2}


def test_given_count_goes_past_what_is_confirmed():
    settings = {**FEW_ROUNDS, "max_iter": 12, "n_features_to_select": 5}
    selector = Boruta(**settings).fit(*class_table())
    assert selector.n_confirmed_ == 2
    assert selector.support_.sum() == 5
    assert selector.support_[list(INFORMATIVE)].all()


def test_pure_noise_confirms_nothing_and_keeps_something():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(150, 5)), rng.integers(2, size=150)
    selector = Boruta(**FEW_ROUNDS).fit(X, y)
    assert selector.n_confirmed_ == 0
    assert selector.support_.any()
