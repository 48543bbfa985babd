"""judge= takes the set that another kind of model predicts best from."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from featuresieve import AutoNFSClassifier, AutoNFSRegressor, Training, load
from featuresieve.errors import FeatureSieveWarning
from featuresieve.problem import CountLimits, Problem
from featuresieve.search import HeldOutSplit, Settings, Unwatched
from featuresieve.search._judge import judged_losses
from featuresieve.search._refit import HeldOutLosses
from featuresieve.search._vote_search import VoteSearch
from featuresieve.search._votes import Votes

RNG = np.random.default_rng(0)
FEATURES = RNG.standard_normal((120, 6)).astype(np.float32)
SIGNAL = FEATURES[:, :2].sum(axis=1) + RNG.standard_normal(120)
TARGETS = {
    "classification": np.digitize(SIGNAL, [-0.8, 0.8]).astype(np.int64),
    "multilabel": np.c_[SIGNAL > 0, SIGNAL > 1].astype(np.float32),
    "regression": np.c_[SIGNAL, SIGNAL**2].astype(np.float32),
}


def predicted(task, columns, folds):
    """Return what scikit-learn's own cross-validation predicts, (rows, outputs)."""
    X, y = FEATURES[:, columns], TARGETS[task]
    if task == "regression":
        return cross_val_predict(LinearRegression(), X, y, cv=folds)
    how = {"cv": folds, "method": "predict_proba"}
    if task == "classification":
        return cross_val_predict(LogisticRegression(), X, y, **how)
    parts = [cross_val_predict(LogisticRegression(), X, part, **how) for part in y.T]
    return np.column_stack([part[:, 1] for part in parts])


@pytest.mark.parametrize("task", TARGETS)
def test_losses_are_squared_errors_of_cross_validated_predictions(task):
    y = TARGETS[task]
    n_outputs = 3 if task == "classification" else 2
    problem = Problem(FEATURES, y, n_outputs, task)
    folds = list(KFold(4).split(FEATURES))
    splits = [HeldOutSplit(fit, test) for fit, test in folds]
    sets = [np.array([0]), np.arange(3), np.arange(6)]
    model = LinearRegression() if task == "regression" else LogisticRegression()
    losses, constant = judged_losses(problem, model, [sets] * 4, splits)
    truth = np.eye(3)[y] if task == "classification" else y
    for found, columns in zip(losses.rows, sets, strict=True):
        errors = ((predicted(task, columns, folds) - truth) ** 2).sum(axis=1)
        np.testing.assert_allclose(found, errors, rtol=1e-4, atol=1e-6)  # float32
    means = np.concatenate(
        [[truth[fit].mean(axis=0)] * len(test) for fit, test in folds]
    )
    expected = ((means - truth) ** 2).sum(axis=1)
    np.testing.assert_allclose(constant, expected, rtol=1e-5)


def test_a_row_held_out_twice_does_not_make_the_judge_surer():
    problem = Problem(FEATURES, TARGETS["regression"], 2, "regression")
    folds = [HeldOutSplit(fit, test) for fit, test in KFold(4).split(FEATURES)]
    sets, gains = [np.array([0]), np.arange(3)], []
    for splits in (folds, folds * 9):
        asked = problem, LinearRegression(), [sets] * len(splits), splits
        losses, constant = judged_losses(*asked)
        gains.append(losses.gain_over(constant, 1))
    assert gains[1] == pytest.approx(gains[0])


def test_a_larger_set_is_kept_where_the_judge_is_shown_to_be_better_with_it():
    # The second column is worth less than its price, but all to a model of lines.
    rng = np.random.default_rng(0)
    X, error = rng.standard_normal((300, 4)), 0.3 * rng.standard_normal(300)
    y = X[:, 0] + 0.1 * X[:, 1] + error
    own = AutoNFSRegressor(random_state=0).fit(X, y)
    assert np.flatnonzero(own.support_).tolist() == [0]
    selector = AutoNFSRegressor(judge=LinearRegression(), random_state=0).fit(X, y)
    assert selector.support_[:2].all()
    np.testing.assert_array_equal(selector.order_, own.order_)  # the votes are theirs
    alone = X[:, 0] + error
    noise = AutoNFSRegressor(judge=LinearRegression(), random_state=0).fit(X, alone)
    assert np.flatnonzero(noise.support_).tolist() == [0]


def test_trees_need_no_noise_where_sums_of_few_columns_are_the_target():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 8))
    y = X[:, :3] @ [2, 1, 0.5] + 0.3 * rng.standard_normal(400)
    selector = AutoNFSRegressor(judge="trees", random_state=0).fit(X, y)
    assert np.flatnonzero(selector.support_).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("judge", "error", "message"),
    [
        ("forest", ValueError, "'networks', 'trees', got 'forest'"),
        (None, TypeError, "a classifier with fit and predict_proba, got None"),
        (LogisticRegression, TypeError, "a classifier with fit and predict_proba"),
        (RidgeClassifier(), TypeError, "predict_proba, got RidgeClassifier"),
    ],
)
def test_what_cannot_judge_is_refused_before_the_work(judge, error, message):
    with pytest.raises(error, match=message):
        AutoNFSClassifier(judge=judge).fit(FEATURES, TARGETS["classification"])


def test_a_classifier_does_not_judge_values():
    judge = LogisticRegression()
    with pytest.raises(
        TypeError, match=r"or a regressor .* got LogisticRegression\(\)"
    ):
        AutoNFSRegressor(judge=judge).fit(FEATURES, TARGETS["regression"])


def test_an_estimator_has_parameters_and_is_not_saved(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    few = Training(n_members=10, n_epochs=5)
    selector = AutoNFSRegressor(judge=ExtraTreesRegressor(5), training=few)
    selector.set_params(judge__random_state=0, random_state=0).fit(X, y)
    assert selector.get_params()["judge__n_estimators"] == 5
    with pytest.warns(FeatureSieveWarning, match=r"judge=Extra.* saved as 'networks'"):
        selector.save(tmp_path / "s")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same = load(tmp_path / "s")
    assert same.judge == "networks"
    assert same.support_.tolist() == selector.support_.tolist()


@pytest.mark.parametrize("task", ["multilabel", "regression"])
def test_a_judge_that_takes_no_weights_does_without_them(task):
    weights = np.repeat([0.5, 1.5], 60)
    problem = Problem(FEATURES, TARGETS[task], 2, task, row_weights=weights)
    model = KNeighborsClassifier() if task == "multilabel" else KNeighborsRegressor()
    folds = [HeldOutSplit(np.arange(80), np.arange(80, 120))]
    losses, _ = judged_losses(problem, model, [[np.arange(2)]], folds)
    model.fit(FEATURES[:80, :2], TARGETS[task][:80])
    found = model.predict(FEATURES[80:, :2])
    if task == "multilabel":
        parts = model.predict_proba(FEATURES[80:, :2])
        found = np.column_stack([part[:, 1] for part in parts])
    expected = ((found - TARGETS[task][80:]) ** 2).sum(axis=1)
    np.testing.assert_allclose(losses.rows[0], expected, rtol=1e-4, atol=1e-6)


def test_classes_that_a_fold_does_not_hold_have_no_probability():
    y = np.repeat([0, 1, 2], 40)
    problem = Problem(FEATURES, y, 3, "classification")
    folds = [HeldOutSplit(np.arange(80), np.arange(80, 120))]
    losses, _ = judged_losses(problem, LogisticRegression(), [[np.arange(2)]], folds)
    fitted = LogisticRegression().fit(FEATURES[:80, :2], y[:80])
    expected = (fitted.predict_proba(FEATURES[80:, :2]) ** 2).sum(axis=1) + 1
    np.testing.assert_allclose(losses.rows[0], expected, rtol=1e-5)


def test_the_networks_judge_where_the_judge_has_no_time_for_what_they_elect():
    search = VoteSearch(
        Problem(FEATURES, FEATURES[:, :1], 1, "regression"),
        Settings(Training(n_members=10)),
        CountLimits(1, 6),
        Unwatched(max_time=0.0),
        tolerance=0.0,
        judge=LinearRegression(),
    )
    logits = np.tile(np.linspace(3, -3, 6, dtype=np.float32), (10, 1))
    votes, sizes = Votes(logits > 0, logits), [1, 2, 3, 5]
    refits = HeldOutLosses(RNG.random((4, 120)), np.full(4, 0.5))
    losses, null = search._by_judge(votes, sizes, refits)
    assert losses.is_cut_short
    np.testing.assert_array_equal(losses.rows, refits.rows[:3])
    judgement = search._judge(votes, sizes[:3], losses, null)
    assert judgement.sets[judgement.choose(0.0)].tolist() == [True] * 3 + [False] * 3
