import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

from featuresieve import AutoNFSClassifier, AutoNFSRegressor
from made_tables import INFORMATIVE, class_table, value_table
from quick_selectors import built

IS_OLD = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8)


def quick(**arguments):
    # One balance: the search for one is not what is tried here.
    settings = {"balance": 0.05, "n_epochs": 20, "random_state": 0}
    return built(AutoNFSClassifier, **(settings | arguments))


PAIR = [("selector", quick()), ("linear", LogisticRegression())]


@pytest.mark.parametrize(
    "model",
    [
        StackingClassifier(PAIR, cv=2),
        VotingClassifier(PAIR, voting="soft"),
        BaggingClassifier(quick(), n_estimators=2, random_state=0),
        AdaBoostClassifier(quick(), n_estimators=2, random_state=0),
        CalibratedClassifierCV(quick(), cv=2),
        OneVsRestClassifier(quick()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_model_made_of_selectors_predicts_rows_it_has_not_seen(model):
    X, y = class_table(400)
    model.fit(X[:200], y[:200].astype(int))
    assert (model.predict(X[200:]) == y[200:]).mean() > 0.85


def test_rows_without_a_label_are_learnt_from():
    X, y = class_table(400)
    labels = np.where(np.arange(200) % 2, y[:200], -1)
    model = SelfTrainingClassifier(quick(), max_iter=2).fit(X[:200], labels)
    assert (model.labeled_iter_ > 0).any()
    assert (model.predict(X[200:]) == y[200:]).mean() > 0.85


def test_fitted_selector_is_calibrated_without_another_fit():
    X, y = class_table()
    frozen = FrozenEstimator(quick().fit(X, y))
    calibrated = CalibratedClassifierCV(frozen, method="sigmoid").fit(X, y)
    order = frozen.predict_proba(X)[:, 1].argsort()
    assert (np.diff(calibrated.predict_proba(X)[order, 1]) >= 0).all()


def test_threshold_is_tuned():
    X, y = class_table()
    tuned = TunedThresholdClassifierCV(quick(), scoring="balanced_accuracy", cv=2)
    tuned.fit(X, y)
    high = tuned.estimator_.predict_proba(X)[:, 1] >= tuned.best_threshold_
    np.testing.assert_array_equal(tuned.predict(X), high)


# A balance of 100 keeps nothing, and says so.
@pytest.mark.filterwarnings("ignore::featuresieve.SelectionCollapseWarning")
@pytest.mark.parametrize("resource", ["n_samples", "training__n_epochs"])
def test_search_by_halves_gives_more_to_the_better(resource):
    X, y = class_table(400)
    most = {} if resource == "n_samples" else {"max_resources": 40}
    candidates = {"balance": [0.01, 100.0]}
    search = HalvingGridSearchCV(
        quick(), candidates, resource=resource, factor=2, cv=2, random_state=0, **most
    )
    search.fit(X, y)
    assert search.best_params_["balance"] == 0.01


def test_columns_are_added_by_scores():
    X, y = class_table()
    X = X[:, [2, 5]] * [1.0, 0.5]
    search = SequentialFeatureSelector(quick(), n_features_to_select=1, cv=2)
    scores = [cross_val_score(quick(), X[:, [j]], y, cv=2).mean() for j in range(2)]
    assert search.fit(X, y).get_support().argmax() == np.argmax(scores)


@pytest.mark.skipif(
    IS_OLD, reason="older pipelines do not route the weights of a score"
)
def test_weights_reach_the_selector_through_pipeline_and_search():
    X, y = class_table()
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        selector = quick().set_fit_request(sample_weight=True)
        selector.set_score_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, selector)
        search = GridSearchCV(pipeline, {"autonfsclassifier__balance": [0.05]}, cv=2)
        search.fit(X, y, sample_weight=weights)
    rows = StandardScaler().fit_transform(X)
    by_hand = quick().fit(rows, y, sample_weight=weights)
    found = search.best_estimator_[-1]
    np.testing.assert_array_equal(
        found.predict_proba(rows), by_hand.predict_proba(rows)
    )


def test_groups_reach_the_selector_through_a_search():
    X, y = class_table()
    groups = np.arange(len(y)) // 2
    with sklearn.config_context(enable_metadata_routing=True):
        selector = quick().set_fit_request(groups=True)
        search = GridSearchCV(selector, {"balance": [0.05]}, cv=GroupKFold(2))
        search.fit(X, y, groups=groups)
    by_hand = quick(balance=0.05).fit(X, y, groups=groups)
    np.testing.assert_array_equal(search.best_estimator_.logits_, by_hand.logits_)
    assert (by_hand.logits_ != quick(balance=0.05).fit(X, y).logits_).any()


def test_permuting_dropped_columns_changes_nothing():
    X, y = class_table()
    selector = quick(balance=0.1).fit(X, y)
    found = permutation_importance(selector, X, y, n_repeats=2, random_state=0)
    assert (found.importances_mean[~selector.support_] == 0).all()
    assert set(found.importances_mean.argsort()[-2:]) == set(INFORMATIVE)


@pytest.mark.skipif(IS_OLD, reason="older partial dependence does not know text")
def test_dependence_on_text_is_that_of_its_levels():
    X, y = class_table()
    frame = pd.DataFrame({"number": X[:, 0], "word": np.where(y, "yes", "no")})
    selector = quick(n_features_to_select=2).fit(frame, y)
    found = partial_dependence(selector, frame, ["word"], categorical_features=["word"])
    expected = [
        selector.predict_proba(frame.assign(word=word))[:, 1].mean()
        for word in found["grid_values"][0]
    ]
    np.testing.assert_allclose(found["average"][0], expected)


def test_union_of_selectors_names_its_columns():
    X, y = class_table()
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    union = FeatureUnion(
        [("one", quick(n_features_to_select=1)), ("two", quick(n_features_to_select=2))]
    ).set_output(transform="pandas")
    kept = union.fit_transform(frame, y)
    assert list(kept.columns) == list(union.get_feature_names_out())
    assert {"two__c", "two__f"} < set(kept.columns)


def test_folds_predict_what_a_selector_of_the_other_rows_does():
    X, y = class_table()
    halves = [
        (np.arange(100), np.arange(100, 200)),
        (np.arange(100, 200), np.arange(100)),
    ]
    found = cross_val_predict(quick(), X, y, cv=halves, method="predict_log_proba")
    other = clone(quick()).fit(X[:100], y[:100])
    np.testing.assert_array_equal(found[100:], other.predict_log_proba(X[100:]))


def test_target_is_transformed_around_the_regressor():
    X, y = value_table()
    model = TransformedTargetRegressor(
        built(AutoNFSRegressor, 0.05, n_epochs=20, random_state=0),
        func=np.log,
        inverse_func=np.exp,
    ).fit(X, y)
    by_hand = built(AutoNFSRegressor, 0.05, n_epochs=20, random_state=0).fit(
        X, np.log(y)
    )
    np.testing.assert_allclose(model.predict(X), np.exp(by_hand.predict(X)))
