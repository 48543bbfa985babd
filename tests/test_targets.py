"""Targets of every kind, in the units they came in."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from scipy import sparse
from sklearn.metrics import r2_score

from featuresieve import AutoNFSClassifier, AutoNFSRegressor
from featuresieve._targets import class_target, value_target
from made_tables import INFORMATIVE, class_table, value_table

LABELS = {
    "strings": np.array(["no", "yes"]),
    "minus one and one": np.array([-1, 1]),
    "far apart": np.array([7, 1_000_000]),
    "floats": np.array([1.0, 2.0]),
    "booleans": np.array([False, True]),
    "objects": np.array(["β", "α"], dtype=object),
}


def quick(estimator, **arguments):
    return estimator(**({"n_epochs": 20, "random_state": 0} | arguments))


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_any_labels_come_back(labels):
    X, y = class_table()
    selector = quick(AutoNFSClassifier).fit(X, labels[y.astype(int)])
    predicted = selector.predict(X)
    assert set(np.unique(predicted)) == set(labels)
    np.testing.assert_array_equal(selector.classes_, np.unique(labels))
    assert (predicted == labels[y.astype(int)]).mean() > 0.9


CONTAINERS = {
    "list": list,
    "pandas": pd.Series,
    "pandas category": lambda y: pd.Series(pd.Categorical(y)),
    "pandas frame": lambda y: pd.DataFrame({"y": y}),
    "polars": lambda y: pl.Series(y),
    "arrow": lambda y: pa.chunked_array([y]),
    "torch": torch.tensor,
    "sparse": lambda y: sparse.csr_array(np.asarray(y)[:, None]),
}


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
def test_targets_of_any_container_are_read(container):
    y = [0, 1, 1, 2, 0]
    found = class_target(container(y), 5)
    np.testing.assert_array_equal(found.values, y)


def test_missing_labels_are_refused():
    for y in (
        pd.Series(["a", None, "b"]),
        pl.Series(["a", None, "b"]),
        np.array(["a", None, "b"], dtype=object),
        [0.0, np.nan, 1.0],
    ):
        with pytest.raises(ValueError, match="Input y contains"):
            class_target(y, 3)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="at least 2 classes, got 1 class: 'a'"):
        class_target(["a", "a"], 2)


def test_several_classes_a_row_are_refused():
    with pytest.raises(ValueError, match="one class a row, or a matrix of zeros"):
        class_target(np.array([[0, 1], [2, 1], [1, 0]]), 3)


@pytest.mark.parametrize("n_rows", [2, 4])
def test_lengths_that_differ_are_refused(n_rows):
    for encode in (class_target, lambda y, n: value_target(y, n, None)):
        with pytest.raises(ValueError, match=f"X has {n_rows} rows, y has 3"):
            encode([0.0, 1.0, 0.0], n_rows)


def test_multilabel_targets_keep_the_columns_of_every_label():
    X, _ = class_table(400)
    labels = np.column_stack([X[:, 2] > 0, X[:, 5] + X[:, 7] > 0, X[:, 2] < 0.5])
    selector = AutoNFSClassifier(random_state=0).fit(X, labels.astype(int))
    assert selector.support_[[2, 5, 7]].all()
    probabilities, predicted = selector.predict_proba(X), selector.predict(X)
    assert probabilities.shape == predicted.shape == labels.shape
    np.testing.assert_array_equal(predicted, probabilities > 0.5)
    assert (predicted == labels).mean() > 0.9


def test_several_values_a_row_are_predicted_in_their_own_units():
    X, y = value_table(400)
    both = np.column_stack([y, 1e6 * X[:, 7]])
    selector = AutoNFSRegressor(random_state=0).fit(X, both)
    assert selector.support_[[*INFORMATIVE, 7]].all()
    predicted = selector.predict(X)
    assert predicted.shape == both.shape
    assert r2_score(both, predicted, multioutput="raw_values").min() > 0.8


def heavy_table(n_rows=600):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 8))
    return X, np.exp(3 * (X[:, 2] + 0.5 * X[:, 5]))


def test_heavy_tailed_values_are_compressed_and_come_back():
    _, y = heavy_table()
    target = value_target(y, len(y), None)
    assert target.code.widths[0] > 0
    encoded = target.values.astype(np.float64)
    assert np.abs(encoded).max() < np.abs(y - y.mean()).max() / y.std() / 2
    # float32 keeps seven digits of the compressed value, whose exponent is taken.
    np.testing.assert_allclose(target.code.decode(encoded), y, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "y",
    [np.random.default_rng(0).normal(size=500), np.arange(300.0), [0.0, 1.0] * 100],
    ids=["normal", "uniform", "two values"],
)
def test_other_values_are_only_shifted_and_scaled(y):
    target = value_target(y, len(y), None)
    assert target.code.widths[0] == 0
    np.testing.assert_allclose(target.values.mean(), 0, atol=1e-6)
    np.testing.assert_allclose(target.values.std(), 1, rtol=1e-6)


def test_a_handful_of_huge_values_does_not_decide():
    X, y = heavy_table()
    selector = AutoNFSRegressor(random_state=0).fit(X, y)
    assert selector.support_[[2, 5]].all()
    assert selector.n_features_selected_ <= 4
    # Ranks, because the mean squared error is that of the largest value alone.
    order = np.argsort(np.argsort(selector.predict(X)))
    assert np.corrcoef(order, np.argsort(np.argsort(y)))[0, 1] > 0.9


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_values_of_extreme_size_come_back(scale):
    X, y = value_table()
    selector = quick(AutoNFSRegressor).fit(X, y * scale)
    assert selector.score(X, y * scale) > 0.5


@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_values_that_are_not_finite_are_refused(bad):
    X, y = value_table()
    y[3] = bad
    with pytest.raises(ValueError, match="Input y contains"):
        AutoNFSRegressor().fit(X, y)


def test_imbalanced_classes_with_class_weight_are_all_predicted():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 6))
    y = np.where(X[:, 1] + 0.7 * rng.standard_normal(2000) > 2.6, "rare", "usual")
    plain = AutoNFSClassifier(random_state=0).fit(X, y)
    balanced = AutoNFSClassifier(class_weight="balanced", random_state=0).fit(X, y)
    assert balanced.support_[1]
    recalls = [(s.predict(X)[y == "rare"] == "rare").mean() for s in (plain, balanced)]
    assert recalls[1] > max(0.7, recalls[0])
