import time

import numpy as np
import pytest

from featuresieve import (
    AutoNFSClassifier,
    AutoNFSRegressor,
    SelectionCollapseWarning,
    TimeBudgetWarning,
    Training,
    UninformativeTargetWarning,
)
from made_tables import INFORMATIVE, class_table, value_table
from quick_selectors import built, quick


def quick_classifier(balance="auto", **arguments):
    return quick(balance=balance, **arguments)


def quick_regressor(balance="auto", **arguments):
    return quick(AutoNFSRegressor, balance=balance, **arguments)


def assert_found(selector, informative):
    """All informative columns are kept and ranked first, with one stranger at most."""
    informative = list(informative)
    assert selector.support_[informative].all()
    assert {*selector.order_[: len(informative)]} == {*informative}
    assert selector.n_features_selected_ <= len(informative) + 1


# --- made problems, default arguments


@pytest.mark.parametrize("kind", [AutoNFSClassifier, AutoNFSRegressor])
def test_interactions_and_lines_are_found(kind):
    rng = np.random.default_rng(0)
    if kind is AutoNFSClassifier:  # neither column helps alone
        X, informative = rng.normal(size=(1000, 10)), (0, 1)
        y = X[:, 0] * X[:, 1] > 0
    else:
        X, informative = rng.normal(size=(400, 12)), (2, 7, 11)
        y = X[:, informative] @ [3, -2, 1] + 0.3 * rng.normal(size=400)
    selector = kind(random_state=0).fit(X, y)
    assert_found(selector, informative)
    assert selector.score(X, y) > 0.9


def test_balance_price_finds_the_columns_in_one_run():
    X, y = value_table(n_rows=400)
    selector = AutoNFSRegressor("price", random_state=0).fit(X, y)
    assert_found(selector, INFORMATIVE)
    assert len(np.unique(selector.history_["balance"])) == 1


def test_balance_price_is_the_number_it_reports():
    X, y = value_table()
    priced = quick_regressor("price").fit(X, y)
    given = quick_regressor(priced.balance_).fit(X, y)
    np.testing.assert_array_equal(given.logits_, priced.logits_)


# --- the balance


@pytest.mark.parametrize("balance", [0, 0.1, 1 / 3, 1, np.float32(0.1)])
@pytest.mark.filterwarnings("ignore::featuresieve.SelectionCollapseWarning")
def test_given_balance_is_used_exactly(balance):
    selector = quick_classifier(balance, n_epochs=2).fit(*class_table())
    assert selector.balance_ == float(balance)
    assert set(selector.history_["balance"]) == {float(balance)}


@pytest.mark.parametrize("least", [1, 3])
@pytest.mark.parametrize("balance", [1e2, 1e6, 1e12])
def test_huge_balance_collapses_to_the_fewest_columns_and_warns(balance, least):
    selector = quick_regressor(balance, n_epochs=40, min_features_to_select=least)
    with pytest.warns(SelectionCollapseWarning, match=f"the {least} best ranked"):
        selector.fit(*value_table())
    assert {*np.flatnonzero(selector.support_)} == {*selector.order_[:least]}


# --- the paper's setting


@pytest.mark.parametrize("estimator_class", [AutoNFSClassifier, AutoNFSRegressor])
def test_as_published_is_the_setting_of_the_paper(estimator_class):
    published = {
        "balance": 1.0,
        "decision": "threshold",
        "embedding_size": 32,
        "gate_rows": "shared",
        "hidden_sizes": (32, 32),
        "mask_learning_rate": 4e-3,
        "n_members": 1,
        "noise": "gumbel",
        "penalty": "fraction",
        "penalty_ramp": 0.0,
        "reduction": "mean",
        "start_temperature": 2.0,
        "task_learning_rate": 3e-4,
        "temperature_decay": 0.997,
        "train_embedding": True,
    }
    estimator = estimator_class.as_published()
    assert type(estimator) is estimator_class
    found = estimator.get_params(deep=False) | estimator.training.get_params()
    assert {name: found[name] for name in published} == published


def test_as_published_takes_overrides_and_leaves_the_training_it_is_given():
    published = AutoNFSClassifier.as_published().get_params()
    changed = AutoNFSClassifier.as_published(balance=0.1, noise="logistic").get_params()
    expected = published | {"balance": 0.1, "training__noise": "logistic"}
    del changed["training"], expected["training"]
    assert changed == expected
    own = Training(batch_size=64)
    changed = AutoNFSClassifier.as_published(training=own, noise="logistic").training
    assert (changed.batch_size, changed.noise) == (64, "logistic")
    assert (own.batch_size, own.noise) == (64, "gumbel")


def test_as_published_follows_its_temperature():
    """Records at the end of epoch e show 2.0 x 0.997^(e - 1)."""
    X, y = value_table(n_rows=64)
    arguments = {"balance": 0.0, "n_epochs": 32, "random_state": 0}
    history = AutoNFSRegressor.as_published(**arguments).fit(X, y).history_
    epochs = history["step"] / 2  # 64 rows are two batches of 32
    np.testing.assert_allclose(history["temperature"], 2.0 * 0.997 ** (epochs - 1))


# --- how many columns


@pytest.mark.parametrize(
    ("balance", "size"), [("auto", 1), ("auto", 8), ("price", 3), (0.05, 3)]
)
def test_count_asked_for_gives_the_best_ranked(balance, size):
    selector = quick_classifier(balance, n_features_to_select=size)
    selector.fit(*class_table())
    assert selector.n_features_selected_ == size
    assert {*np.flatnonzero(selector.support_)} == {*selector.order_[:size]}


@pytest.mark.parametrize("balance", ["auto", "price", 0.0, 0.5])
def test_no_fewer_and_no_more_columns_are_kept_than_asked_for(balance):
    X, y = value_table()
    least = quick_regressor(balance, min_features_to_select=6).fit(X, y)
    assert least.n_features_selected_ >= 6
    assert (least.path_["n_kept"] >= 6).all()
    most = quick_regressor(balance, max_features=1).fit(X, y)
    assert most.n_features_selected_ == 1
    assert most.support_[most.order_[0]]
    assert (most.path_["n_kept"] == 1).all()
    # Above the number of columns it is no limit.
    limited, free = (quick_regressor(balance, max_features=m) for m in (100, None))
    np.testing.assert_array_equal(limited.fit(X, y).support_, free.fit(X, y).support_)


# --- a target that has nothing to do with the columns


@pytest.mark.parametrize("least", [1, 3])
@pytest.mark.parametrize("kind", [quick_classifier, quick_regressor])
def test_unrelated_target_is_answered_with_the_fewest_columns_and_a_warning(
    kind, least
):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 8)), rng.integers(2, size=300)
    selector = kind(min_features_to_select=least)
    with pytest.warns(UninformativeTargetWarning, match="better than a constant"):
        selector.fit(X, y)
    assert {*np.flatnonzero(selector.support_)} == {*selector.order_[:least]}


def test_what_is_elected_stays_where_columns_are_more_than_the_few_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 100)), np.arange(60) % 2
    with pytest.warns(UninformativeTargetWarning, match="better than a constant"):
        selector = quick_classifier(n_epochs=100).fit(X, y)
    elected = selector.selection_frequency_ >= 0.1
    assert elected.sum() > 1
    np.testing.assert_array_equal(selector.support_, elected)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shift", [0.0, 8.0])
def test_an_answer_that_rests_on_three_rows_is_told(seed, shift):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(300, 12)), np.arange(300) < 3
    X[y, 0] += shift
    with pytest.warns(UninformativeTargetWarning, match=r"rests on 3|than a constant"):
        quick_classifier(random_state=seed).fit(X, y)


def test_an_answer_that_rests_on_three_groups_of_rows_is_told_so():
    X, y = class_table(300)
    message = r"rests on \d held-out groups of rows: no more"
    with pytest.warns(UninformativeTargetWarning, match=message):
        quick_classifier().fit(X, y, groups=np.arange(300) // 100)


@pytest.mark.filterwarnings("ignore::featuresieve.DoubtfulSelectionWarning")
def test_ten_rows_that_stand_apart_are_believed():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 12)), np.arange(300) < 10
    X[y, 0] += 8.0
    assert AutoNFSClassifier(random_state=0).fit(X, y).support_[0]


def test_constant_target_counts_as_unrelated_and_the_warning_points_here():
    X, _ = value_table()
    selector = quick_regressor(n_epochs=60)
    with pytest.warns(UninformativeTargetWarning) as caught:
        selector.fit(X, np.full(len(X), 7.0))
    assert caught[0].filename == __file__
    assert selector.n_features_selected_ == 1
    np.testing.assert_allclose(selector.predict(X), 7.0, atol=0.1)


# --- limited time


@pytest.mark.parametrize("balance", ["auto", "price"])
def test_time_limit_is_kept_and_told(balance):
    X = np.random.default_rng(0).normal(size=(3000, 60))
    y = X[:, 0] + X[:, 1] > 0
    # So many epochs that no machine finishes them in a second.
    selector = built(
        AutoNFSClassifier, balance, n_epochs=10_000, max_time=1.0, random_state=0
    )
    started = time.process_time()  # others may be busy on this machine
    with pytest.warns(TimeBudgetWarning, match=r"max_time=1\.0 seconds"):
        selector.fit(X, y)
    assert time.process_time() - started < 3
    assert selector.support_[:2].all()


@pytest.mark.filterwarnings("ignore::featuresieve.FeatureSieveWarning")
def test_hopeless_time_limit_gives_an_answer_and_an_ample_one_the_same():
    selector = AutoNFSClassifier(max_time=1e-6, random_state=0).fit(*class_table())
    assert selector.n_features_selected_ >= 1
    X, y = value_table()
    limited = quick_regressor(max_time=600, n_epochs=10).fit(X, y)
    free = quick_regressor(n_epochs=10).fit(X, y)
    np.testing.assert_array_equal(limited.logits_, free.logits_)
    np.testing.assert_array_equal(limited.predict(X), free.predict(X))


# --- other arguments


@pytest.mark.parametrize(
    "arguments",
    [
        {"training__noise": "logistic"},
        {"training__reduction": "sum"},
        {"training__decision": "vote"},
        {"training__mask_init": "uniform"},
        {"training__train_embedding": False},
        {"training__gate_rows": "shared"},
        {"training__scaling": "standard"},
        {"training__scaling": "none"},
        {"training__n_members": 1},
        {"training__batch_size": 16},
    ],
    ids=str,
)
def test_alternative_settings_rank_the_informative_columns_first(arguments):
    selector = quick_regressor(0.05).set_params(**arguments).fit(*value_table())
    assert {*selector.order_[:2]} == {*INFORMATIVE}


def test_target_penalty_pulls_towards_the_target_count():
    X, y = value_table()
    kept = [
        quick_regressor(
            1e3, training=Training(penalty="target", target_count=count), n_epochs=60
        )
        .fit(X, y)
        .history_["penalty"][-1]
        .mean()
        for count in (2.0, 6.0)
    ]
    # The penalty is the squared distance of the kept share to target / 8.
    assert max(kept) < 0.05
