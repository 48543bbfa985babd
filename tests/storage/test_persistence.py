"""A fitted estimator can be stored, copied, and put inside other estimators."""

import copy
import dataclasses
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
import torch
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

import featuresieve
from encoded_tables import mixed_frame
from featuresieve import AutoNFSClassifier, AutoNFSRegressor, Training
from made_tables import INFORMATIVE, class_table, value_table


def own_network(n_columns, n_outputs):
    # Batch normalisation adds buffers, one of them of integers, to the state.
    return nn.Sequential(
        nn.Linear(n_columns, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, n_outputs)
    )


def quick(**arguments):
    return AutoNFSClassifier(**({"n_epochs": 15, "random_state": 0} | arguments))


@pytest.fixture(scope="module", params=["classifier", "regressor", "own network"])
def fitted(request):
    if request.param == "regressor":
        return AutoNFSRegressor(n_epochs=15, random_state=0).fit(*value_table())
    if request.param == "own network":
        return quick(balance=0.01, training=Training(task_network=own_network)).fit(
            *class_table()
        )
    return quick().fit(*class_table())


def stored_with_pickle(selector, _):
    return pickle.loads(pickle.dumps(selector))


def stored_with_joblib(selector, folder):
    path = folder / "selector.joblib"
    joblib.dump(selector, path, compress=3)
    return joblib.load(path)


def mapped_with_joblib(selector, folder):
    """Load arrays as read-only memory maps, as joblib's workers do."""
    path = folder / "selector.joblib"
    joblib.dump(selector, path)
    return joblib.load(path, mmap_mode="r")


def copied(selector, _):
    return copy.deepcopy(selector)


def stored_with_skops(selector, folder):
    path = folder / "selector.skops"
    skops.io.dump(selector, path)
    own = [f"{__name__}.own_network"]
    return skops.io.load(path, trusted=featuresieve.TRUSTED_TYPES + own)


STORES = [
    stored_with_pickle,
    stored_with_joblib,
    mapped_with_joblib,
    stored_with_skops,
    copied,
]


@pytest.mark.parametrize("store", STORES)
def test_stored_selector_answers_as_before(fitted, store, tmp_path):
    X, _ = class_table(seed=1)
    again = store(fitted, tmp_path)
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    pd.testing.assert_frame_equal(again.feature_table(), fitted.feature_table())


@pytest.mark.parametrize("store", STORES)
def test_stored_pipeline_answers_as_before(store, tmp_path):
    X, y = class_table()
    frame = pd.DataFrame(X, columns=list("abcdefgh")).assign(word=np.where(y, "u", "v"))
    pipeline = make_pipeline(quick(n_epochs=5)).fit(frame, y)
    again = store(pipeline, tmp_path)
    np.testing.assert_array_equal(
        again.predict_proba(frame), pipeline.predict_proba(frame)
    )


@pytest.mark.parametrize("store", STORES)
def test_clone_of_what_was_stored_is_unfitted_and_equal(fitted, store, tmp_path):
    again = clone(store(fitted, tmp_path))
    assert not hasattr(again, "support_")
    # Not by value: the network of the user's own is a function.
    assert repr(again) == repr(clone(fitted))


def mixed_frame_table():
    frame = mixed_frame(80)
    return frame, np.where(frame["number"] > 0, "in", "out")


def sparse_labels_table():
    X, y = class_table()
    return sparse.csr_array(np.where(np.abs(X) > 1, X, 0)), np.column_stack([y, ~y])


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("table", [mixed_frame_table, sparse_labels_table])
def test_stored_selector_of_any_table_answers_as_before(table, store, tmp_path):
    X, y = table()
    selector = quick(balance=0.0, n_epochs=3).fit(X, y)
    again = store(selector, tmp_path)
    np.testing.assert_array_equal(again.predict_proba(X), selector.predict_proba(X))
    np.testing.assert_array_equal(again.classes_, selector.classes_)


def test_skops_trusts_no_more_than_needed():
    selectors = [
        quick(n_epochs=3, balance=0.0).fit(*mixed_frame_table()),
        AutoNFSRegressor(0.01, n_epochs=3, random_state=0).fit(*value_table()),
    ]
    data = [skops.io.dumps(selector) for selector in selectors]
    asked = {name for one in data for name in skops.io.get_untrusted_types(data=one)}
    assert sorted(asked) == featuresieve.TRUSTED_TYPES


def test_copy_does_not_share_what_it_learned(fitted):
    X, _ = class_table(seed=1)
    expected = fitted.predict(X)
    copy.deepcopy(fitted).fit(*class_table(seed=2))
    np.testing.assert_array_equal(fitted.predict(X), expected)


def walk(value, path):
    """Yield every value reachable from a fitted estimator, with its path."""
    yield path, value
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list | tuple | set):
        parts = enumerate(value)
    elif dataclasses.is_dataclass(value) or hasattr(value, "__dict__"):
        parts = vars(value).items() if not callable(value) else ()
    else:
        parts = ()
    for name, part in parts:
        yield from walk(part, f"{path}.{name}")


def test_fitted_state_holds_no_torch_object(fitted):
    paths = dict(walk(vars(fitted), "selector"))
    assert any(isinstance(value, np.ndarray) for value in paths.values())
    torch_types = (torch.Tensor, torch.Generator, torch.device, nn.Module)
    found = [path for path, value in paths.items() if isinstance(value, torch_types)]
    assert found == []


# --- inside other estimators


def test_pipeline_feeds_the_kept_columns_to_the_next_step():
    X, y = class_table()
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])
    pipeline = make_pipeline(StandardScaler(), quick(), LogisticRegression())
    pipeline.set_output(transform="pandas").fit(frame, y)
    assert {f"column {j}" for j in INFORMATIVE} <= {*pipeline[-1].feature_names_in_}
    assert len(pipeline[-1].feature_names_in_) == pipeline[1].n_features_selected_
    assert pipeline.score(frame, y) > 0.85


def test_pipeline_may_end_with_the_selector_as_predictor():
    X, y = class_table()
    assert make_pipeline(StandardScaler(), quick()).fit(X, y).score(X, y) > 0.85


# A balance of 50 keeps one column, which cannot predict as well as two.
@pytest.mark.filterwarnings("ignore::featuresieve.SelectionCollapseWarning")
def test_grid_search_chooses_a_balance():
    X, y = class_table()
    grid = {"balance": [0.02, 50.0]}
    search = GridSearchCV(quick(n_epochs=40), grid, cv=2, error_score="raise")
    search.fit(X, y)
    assert search.best_params_["balance"] == 0.02
    assert search.best_estimator_.support_[list(INFORMATIVE)].all()


def test_column_transformer_selects_among_its_own_columns():
    X, y = class_table()
    own, other = [1, 2, 3, 4, 5], [0, 6]
    transformer = ColumnTransformer(
        [("selected", quick(), own), ("untouched", "passthrough", other)]
    )
    transformed = transformer.fit_transform(X, y)
    support = transformer.named_transformers_["selected"].support_
    expected = X[:, [*np.array(own)[support], *other]]
    np.testing.assert_array_equal(transformed, expected)


@pytest.mark.parametrize(
    ("estimator_class", "table"),
    [(AutoNFSClassifier, class_table), (AutoNFSRegressor, value_table)],
)
def test_cross_validation_scores_the_predictor(estimator_class, table):
    estimator = estimator_class(0.01, n_epochs=20, random_state=0)
    assert cross_val_score(estimator, *table(), cv=3).min() > 0.75
