import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from made_tables import INFORMATIVE, class_table, value_table
from sievebench.labels import SELECTOR_LABELS
from sievebench.search_space import Distribution
from sievebench.selectors import SELECTORS, ScoredSelector

# Small settings of the slow ones: the promises do not depend on them.
QUICK_NETWORK = {"max_epochs": 2, "hidden_sizes": (8,)}
QUICK = {
    "1l-lasso": {**QUICK_NETWORK, "penalty": 0.1},
    "agl": {"n_steps": 5, "hidden_sizes": (8,)},
    "deep-lasso": {**QUICK_NETWORK, "penalty": 0.1},
    "stg": {**QUICK_NETWORK},
    "protogate": {**QUICK_NETWORK},
    "lspin": {**QUICK_NETWORK, "gating_sizes": (8,)},
    "attention": {"max_epochs": 1, "token_size": 8, "n_layers": 1, "n_heads": 2},
    "lassonet": {
        "hidden_sizes": (8,),
        "first_penalty": 10.0,
        "path_multiplier": 4.0,
        "n_epochs": (5, 2),
    },
    "forest": {"n_estimators": 5},
    "xgboost": {"n_estimators": 5, "n_jobs": 1},
    "autonfs": {"balance": "price", "n_epochs": 2},
    "boruta": {"max_iter": 3, "n_estimators": 5},
    "permutation": {"n_estimators": 5, "n_repeats": 1},
}
TABLES = {"classification": class_table, "regression": value_table}


def quick(name, **arguments):
    return SELECTORS[name](**QUICK.get(name, {}), **arguments)


CASES = [
    (name, task) for name, kind in SELECTORS.items() for task in kind.supported_tasks
]
every_case = pytest.mark.parametrize(("name", "task"), CASES)
every_selector = pytest.mark.parametrize("name", SELECTORS)


class FirstFits(dict):
    """A quick fit of each selector to the table of each task, made when it is asked."""

    def __missing__(self, case):
        name, task = case
        selector = quick(name, n_features_to_select=3, random_state=7)
        self[case] = selector.fit(*TABLES[task]())
        return self[case]


@pytest.fixture(scope="module")
def first():
    return FirstFits()


def test_labels_are_those_of_the_registry_in_its_order():
    assert list(SELECTOR_LABELS) == list(SELECTORS)


@every_case
def test_selector_keeps_the_columns_with_the_largest_scores(name, task, first):
    X, _ = TABLES[task]()
    selector = first[name, task]
    assert selector.task_ == task
    assert selector.n_features_in_ == 8
    assert selector.scores_.dtype == np.float64
    assert selector.scores_.shape == (8,)
    assert not np.isnan(selector.scores_).any()
    kept, dropped = selector.support_, ~selector.support_
    assert kept.dtype == bool
    assert kept.sum() == 3
    assert selector.transform(X).shape == (len(X), 3)
    assert selector.scores_[kept].min() >= selector.scores_[dropped].max()
    assert sorted(selector.ranking_) == list(range(1, 9))
    assert (kept == (selector.ranking_ <= 3)).all()


@every_case
def test_selector_repeats_itself_and_treats_data_frame_like_array(name, task, first):
    X, y = TABLES[task]()
    names = [f"column {j} é" for j in range(8)]
    frame, target = pd.DataFrame(X, columns=names), pd.Series(y, name="target")
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    selector = clone(first[name, task]).fit(frame, target)
    after = np.random.get_state()[1]  # noqa: NPY002

    np.testing.assert_array_equal(before, after)
    np.testing.assert_array_equal(selector.scores_, first[name, task].scores_)
    expected = list(np.array(names)[selector.support_])
    assert list(selector.get_feature_names_out()) == expected
    out = selector.set_output(transform="pandas").transform(frame)
    assert list(out.columns) == expected


@every_selector
def test_selector_learns_string_labels(name, first):
    X, y = class_table()
    selector = clone(first[name, "classification"])
    selector.fit(X, np.where(y, "yes", "no"))
    assert list(selector.classes_) == ["no", "yes"]
    expected = first[name, "classification"].scores_  # of booleans
    np.testing.assert_array_equal(selector.scores_, expected)


@every_selector
def test_selector_survives_odd_columns_and_a_class_with_one_row(name):
    X, y = class_table()
    X[:, 0], X[:, 1] = 3.0, X[:, 2]  # constant, equal
    selector = quick(name, n_features_to_select=3, random_state=0)
    selector.fit(X, np.where(np.arange(len(y)) == 4, 2, y))
    assert selector.support_.sum() == len(selector.classes_) == 3


@every_selector
def test_selector_refuses_nan_or_declares_that_it_can(name):
    X, y = class_table()
    X[3, 4] = np.nan
    selector = quick(name, random_state=0)
    if SELECTORS[name].allows_nan:
        assert selector.fit(X, y).support_.any()
    else:
        with pytest.raises(ValueError, match="NaN"):
            selector.fit(X, y)


@pytest.mark.parametrize(
    "name", [name for name, kind in SELECTORS.items() if len(kind.supported_tasks) < 2]
)
def test_selector_names_itself_when_it_does_not_support_the_task(name):
    X, y = value_table()
    with pytest.raises(ValueError, match=f"{SELECTORS[name].__name__} supports"):
        quick(name).fit(X, y)


@every_selector
@pytest.mark.parametrize("wanted", [0, 9, -1, 0.0, 1.5, "half", None, True])
def test_selector_refuses_a_senseless_count(name, wanted):
    X, y = class_table(n_rows=20)
    with pytest.raises(ValueError, match="n_features_to_select must be"):
        quick(name, n_features_to_select=wanted).fit(X, y)


@every_selector
def test_selector_refuses_an_unknown_task_and_a_senseless_seed(name):
    X, y = class_table(n_rows=20)
    with pytest.raises(ValueError, match="task must be one of"):
        quick(name, task="ranking").fit(X, y)
    with pytest.raises(ValueError, match="random_state must be"):
        quick(name, random_state="seven").fit(X, y)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("boruta", {"max_iter": 1}, "max_iter must be an int >= 2, got 1"),
        ("permutation", {"validation_fraction": -3}, "_fraction must be a number >= 0"),
        ("autonfs", {"may_be_empty": True}, "may_be_empty needs a balance"),
        ("autonfs", {"setting": "best"}, "setting must be one of"),
        ("attention", {"token_size": 10}, "must be a multiple of n_heads, 4"),
        ("xgboost", {"n_estimators": -3}, "n_estimators must be an int >= 1, got -3"),
        ("xgboost", {"n_estimators": "bad"}, "must be an int >= 1, got 'bad'"),
        ("xgboost", {"early_stopping_rounds": 0}, "_rounds must be an int >= 1"),
        ("xgboost", {"validation_fraction": 1}, "_fraction must be a number >= 0 and"),
        ("lassonet", {"path_multiplier": 1.0}, "_multiplier must be a number > 1, got"),
        ("lassonet", {"hierarchy": -3}, "hierarchy must be a number >= 0, got -3"),
        ("lassonet", {"first_penalty": -3}, "first_penalty must be a number > 0, got"),
        ("lassonet", {"max_penalty": "bad"}, "must be a number > 0, got 'bad'"),
        ("lassonet", {"n_epochs": -3}, "must be a sequence of ints >= 1, got -3"),
        ("lassonet", {"n_epochs": (5,)}, r"must be two ints >= 1, got \(5,\)"),
        ("lassonet", {"patience": (5, 0)}, "patience must be an int >= 1, got 0"),
        ("lassonet", {"batch_size": -3}, "batch_size must be an int >= 1, got -3"),
        ("lassonet", {"validation_fraction": -3}, "_fraction must be a number >= 0"),
        ("lassonet", {"dropout": 1.0}, "dropout must be a number >= 0 and < 1, got"),
        ("1l-lasso", {"penalty": 1.0}, "penalty must be a number >= 0 and < 1, got 1"),
        ("1l-lasso", {"penalty": ()}, "penalty must hold at least one number"),
        ("1l-lasso", {"penalty": "strong"}, "penalty must be a number or numbers"),
        ("1l-lasso", {"hidden_sizes": (0,)}, "hidden_sizes must be an int >= 1, got 0"),
        ("1l-lasso", {"dropout": -0.1}, "dropout must be a number >= 0 and < 1"),
        ("1l-lasso", {"learning_rate": 0}, "learning_rate must be a number > 0, got 0"),
        ("1l-lasso", {"max_epochs": 0}, "max_epochs must be an int >= 1"),
        ("1l-lasso", {"batch_size": 0}, "batch_size must be an int >= 1"),
        ("1l-lasso", {"n_networks": 1.5}, "n_networks must be an int >= 1"),
        ("1l-lasso", {"monitor": "mood"}, "monitor must be one of 'loss', 'score'"),
        ("1l-lasso", {"validation_fraction": 1}, "must be a number > 0 and < 1"),
        ("1l-lasso", {"device": "abacus"}, "device must be 'auto' or the name"),
    ],
)
def test_argument_that_is_not_allowed_is_named(name, settings, message):
    X, y = class_table(n_rows=20)
    with pytest.raises(ValueError, match=message):
        SELECTORS[name](**settings).fit(X, y)


@pytest.mark.parametrize(
    ("name", "package"), [("xgboost", "xgboost"), ("lassonet", "lassonet.interfaces")]
)
def test_missing_package_is_named_with_its_extra(name, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    label = SELECTORS[name].__name__
    with pytest.raises(ImportError, match=rf"{label} needs.*featuresieve\[lab\]"):
        SELECTORS[name]().fit(*class_table())


@every_selector
def test_search_space_names_parameters(name):
    space = SELECTORS[name].search_space()
    assert set(space) <= set(SELECTORS[name]().get_params())
    assert all(isinstance(entry, Distribution) for entry in space.values())


@every_selector
def test_selector_is_documented_with_an_example(name):
    text = SELECTORS[name].__doc__
    assert issubclass(SELECTORS[name], ScoredSelector)
    assert all(part in text for part in ("Parameters", "scores_", "Examples"))


@pytest.mark.parametrize(
    "name", [n for n, k in SELECTORS.items() if k.has_automatic_count]
)
@pytest.mark.parametrize("task", TABLES)
def test_automatic_count_keeps_the_informative_columns(name, task):
    X, y = TABLES[task]()
    # Enough rounds for Boruta's tests to confirm anything.
    enough = {
        "boruta": {"max_iter": 20, "n_estimators": 10},
        "autonfs": {"n_epochs": 60},
    }[name]
    selector = quick(name, n_features_to_select="auto", random_state=0)
    selector.set_params(**enough).fit(X, y)
    assert set(INFORMATIVE) <= set(np.flatnonzero(selector.support_))
    assert selector.support_.sum() < 8


@parametrize_with_checks([quick(name) for name in SELECTORS])
def test_selector_passes_scikit_learn_check(estimator, check):
    check(estimator)
