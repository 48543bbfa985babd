from dataclasses import replace

import numpy as np
import pytest
from made_dataset import made_dataset
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from sievebench.data import fit_scaler, load, split

# Protocol, table 1.1: rows of the parts, quantiles.
SIZES = {
    "california": (13_416, 3_096, 4_128, 447),
    "eye": (7_107, 1_641, 2_188, None),
    "gesture": (6_417, 1_481, 1_975, 213),
    "house": (14_809, 3_418, 4_557, 493),
    "otto": (40_220, 9_282, 12_376, None),
}


def expected_rows(dataset):
    """Split row numbers as the protocol words it."""
    rows = np.arange(dataset.n_rows)
    labels = dataset.y if dataset.task == "classification" else None
    rest, test = train_test_split(rows, test_size=0.2, random_state=0, stratify=labels)
    left = labels[rest] if labels is not None else None
    train, val = train_test_split(rest, test_size=0.1875, random_state=0, stratify=left)
    return train, val, test


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_rows_are_those_of_the_protocol(task):
    dataset = made_dataset(task)
    for part, rows in zip(split(dataset).parts, expected_rows(dataset), strict=True):
        np.testing.assert_array_equal(part.X, dataset.X[rows])


def test_rows_of_a_group_stay_together():
    dataset = made_dataset("regression", n_rows=200)
    X = dataset.X.copy()
    X[:, [0, 1]] = np.arange(200)[:, None] // [50, 10] % 4  # 4 x 4 pairs of values
    grouped = replace(dataset, X=X, group_columns=(0, 1))
    parts = split(grouped, 5, grouped.groups()).parts
    pairs = [{tuple(row) for row in part.X[:, :2]} for part in parts]
    assert sum(map(len, pairs)) == len(np.unique(X[:, :2], axis=0))
    assert len(set.union(*pairs)) == len(np.unique(X[:, :2], axis=0))
    assert sum(len(part.y) for part in parts) == 200
    assert dataset.groups() is None


def test_regression_target_is_standardised_by_the_train_part():
    dataset = made_dataset("regression")
    train, _, test = expected_rows(dataset)
    mean, std = dataset.y[train].mean(), np.sqrt(np.var(dataset.y[train]))
    found = split(dataset)
    np.testing.assert_allclose(found.train.y, (dataset.y[train] - mean) / std)
    np.testing.assert_allclose(found.test.y, (dataset.y[test] - mean) / std)


def test_scalers_are_scikit_learns_the_quantiles_on_jittered_rows():
    raw = split(made_dataset())
    expected = StandardScaler().fit(raw.train.X).transform(raw.validation.X)
    np.testing.assert_allclose(raw.scaled().validation.X, expected)
    dataset = made_dataset(n_rows=2000, scaler="quantile")
    dataset.X[:, 3] *= 1e-6  # so that the jitter is limited
    raw = split(dataset)
    X = raw.train.X
    noise = np.random.RandomState(0).randn(*X.shape)
    std = np.array([np.std(column) for column in X.T])
    jittered = X + noise * (1e-3 / np.maximum(std, 1e-3))
    normal = {"output_distribution": "normal", "subsample": 10**9, "random_state": 0}
    expected = QuantileTransformer(n_quantiles=1300 // 30, **normal).fit(jittered)
    np.testing.assert_allclose(raw.scaled().test.X, expected.transform(raw.test.X))


def test_missing_values_become_the_mean_of_the_train_part():
    dataset = made_dataset()
    train, _, test = expected_rows(dataset)
    dataset.X[[*train[:5], *test[:5]], 1] = np.nan
    dataset.X[:, 2] = np.nan
    scaled = split(dataset).scaled()
    # The z-score of the mean is 0.
    np.testing.assert_allclose(scaled.test.X[:5, 1], 0, atol=1e-12)
    np.testing.assert_allclose(scaled.train.X[:5, 1], 0, atol=1e-12)
    assert (scaled.test.X[:, 2] == 0).all()  # no value at all


@pytest.mark.parametrize("scaler", ["standard", "quantile"])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_nothing_is_learnt_from_other_rows_than_the_train_part(task, scaler):
    clean = made_dataset(task, scaler=scaler)
    _, validation, test = expected_rows(clean)
    X, y = clean.X.copy(), clean.y.copy()
    other = np.concatenate([validation, test])
    X[other] = 1e9
    if task == "regression":
        y[other] = -1e9
    poisoned = split(replace(clean, X=X, y=y)).scaled()
    expected = split(clean).scaled()
    np.testing.assert_array_equal(poisoned.train.X, expected.train.X)
    np.testing.assert_array_equal(poisoned.train.y, expected.train.y)


def test_keep_takes_columns_before_scaling_which_happens_once():
    raw = split(made_dataset())
    support = np.array([True, False, True, False, False, True])
    kept = raw.keep(support)
    np.testing.assert_array_equal(kept.test.X, raw.test.X[:, [0, 2, 5]])
    assert kept.is_original.shape == (3,)
    with pytest.raises(ValueError, match="scaled already"):
        raw.scaled().scaled()


@pytest.mark.data
@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_those_of_the_protocol(data_folder, name):
    found = split(load(name, folder=data_folder))
    *sizes, n_quantiles = SIZES[name]
    assert [len(part.y) for part in found.parts] == sizes
    if n_quantiles is not None:
        scaler = fit_scaler("quantile", found.train.X)
        assert scaler.n_quantiles_ == n_quantiles
