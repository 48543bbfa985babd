"""Selectors that grow trees: random forest, XGBoost, permutation importance, Boruta."""

import numpy as np
import pytest
import xgboost
from scipy.stats import binomtest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.inspection import permutation_importance
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.class_weight import compute_sample_weight

from featuresieve.errors import draw_seed
from made_tables import INFORMATIVE, class_table, value_table
from sievebench.selectors import Boruta, PermutationImportance, RandomForest, XGBoost
from sievebench.selectors._scored_selector import held_out_rows
from sievebench.selectors.boruta import Forest, can_be_decided


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


@pytest.mark.parametrize("table", [class_table, value_table])
def test_importances_are_those_of_scikit_learn(table):
    X, y = table()
    selector = PermutationImportance(n_estimators=20, random_state=3)
    task = "classification" if table is class_table else "regression"
    seed = draw_seed(3)
    y = np.unique(y, return_inverse=True)[1] if table is class_table else y
    is_judged = held_out_rows(y, task, 0.25, seed)
    kinds = {
        "classification": RandomForestClassifier,
        "regression": RandomForestRegressor,
    }
    forest = kinds[task](20, random_state=seed).fit(X[~is_judged], y[~is_judged])
    expected = permutation_importance(
        forest, X[is_judged], y[is_judged], n_repeats=5, random_state=seed
    )
    found = selector.fit(X, y).scores_
    np.testing.assert_array_equal(found, expected.importances_mean)


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


def importances(X, y, is_regression):
    forest = Forest(is_regression, max_depth=4, n_jobs=2)
    forest.set_params(n_estimators=6, random_state=np.random.RandomState(7))
    forest.fit(X, y)
    return forest.feature_importances_


def test_forest_of_values_is_that_of_scikit_learn():
    X, y = value_table()
    forest = RandomForestRegressor(6, max_depth=4, random_state=7).fit(X, y)
    np.testing.assert_array_equal(
        importances(X, y, is_regression=True), forest.feature_importances_
    )


def test_forest_of_classes_draws_rows_of_all_classes_equally_often():
    X, _ = class_table()
    y = np.digitize(X[:, 2], [-1.5, 0.5])
    chances = compute_sample_weight("balanced", y) / len(y)
    seeds = np.random.RandomState(7).randint(np.iinfo(np.int32).max, size=6)
    expected = np.zeros(X.shape[1])
    for seed in seeds:
        tree = DecisionTreeClassifier(
            max_depth=4, max_features="sqrt", random_state=seed
        )
        drawn = np.random.RandomState(seed).choice(len(y), len(y), p=chances)
        weights = np.bincount(drawn, minlength=len(y))
        expected += tree.fit(X, y, sample_weight=weights).feature_importances_ / 6
    np.testing.assert_allclose(
        importances(X, y, is_regression=False), expected, rtol=1e-12
    )


def test_forest_that_finds_nothing_to_split_has_no_importances():
    constant = np.ones((10, 3))
    assert not importances(constant, np.arange(10) % 2, is_regression=False).any()


@pytest.mark.parametrize("hits", [0, 3, 7, 12])
def test_column_can_be_decided_if_hits_or_misses_alone_would_do_it(hits):
    def is_decided(k, n):
        sides = (binomtest(k, n, alternative=side) for side in ("less", "greater"))
        return any(test.pvalue <= 0.05 / n for test in sides)

    for last in range(12, 40):
        later = range(13, last + 1)
        expected = any(
            is_decided(hits, n) or is_decided(hits + n - 12, n) for n in later
        )
        assert can_be_decided(np.array([hits]), 12, last, 0.05) == expected


def test_rounds_that_decide_nothing_are_left_out():
    X, y = class_table()
    X[:, 0] = X[:, 2] + 4 * X[:, 0]  # is a hit in some rounds and not in others
    settings = {**FEW_ROUNDS, "max_iter": 30}
    short = Boruta(**settings).fit(X, y)
    full = Boruta(**settings, n_features_to_select=3).fit(X, y)
    assert short.n_iter_ < full.n_iter_ == 29
    assert short.n_confirmed_ == full.n_confirmed_ == short.support_.sum()
    np.testing.assert_array_equal(short.support_, full.ranking_ <= full.n_confirmed_)
