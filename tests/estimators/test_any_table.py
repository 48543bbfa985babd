"""Any table at all is taken whole, or refused in words of our own.

`make fuzz` draws 5,000 of them, `make test` a few. A table that fails is shrunk, shown,
and drawn first the next time: run the same test again to replay it. To keep it, put the
`@reproduce_failure` that is printed with it on the test.
"""

import copy
import pickle
import traceback
import warnings
from pathlib import Path

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning

import featuresieve
from any_table import CONTAINERS, ODD_LABELS, Case, cases, label_faults
from featuresieve import (
    AutoNFSClassifier,
    AutoNFSRegressor,
    FeatureSieveWarning,
    Training,
)

# With `make fuzz` 5,000 tables in all.
PER_CONTAINER = settings.default.max_examples * 5 // (2 * len(CONTAINERS))
ARROW = (pa.Table, pa.RecordBatch)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("any") / "selector"


@pytest.mark.parametrize("container", CONTAINERS)
@settings(
    max_examples=PER_CONTAINER,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_any_table_is_taken_whole_or_refused_in_words(container, path, data):
    case = data.draw(cases(container), label="case")
    before = copy.deepcopy(case.X)
    selector = made(case)
    state = vars(selector).copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeatureSieveWarning)
        warnings.simplefilter("ignore", DataConversionWarning)  # a column as y
        try:
            fit(selector, case)
        except (ValueError, TypeError) as error:
            assert_refused_in_words(error, case)
            assert vars(selector) == state
            assert_same_table(case.X, before)
            return
        assert case.faults == []
        assert_agrees_with_itself(selector, case)
        assert_columns_come_back(selector, case)
        assert_predicts(selector, case)
        assert_stored_and_read(selector, case, path)
        if data.draw(st.integers(0, 3), label="again") == 3:
            assert_fitted_again(selector, case)
            assert_permuted(selector, case)
    assert_same_table(case.X, before)


def labelled_case(kind):
    rng = np.random.default_rng(0)
    labels = ODD_LABELS[kind](4)
    X = pd.DataFrame(rng.standard_normal((60, 4)), columns=labels)
    training = Training(n_epochs=2, n_members=2)
    arguments = {"balance": 0.01, "training": training, "random_state": 0}
    arguments |= {"always_keep": [0, 2], "n_features_to_select": 2}
    arguments |= dict.fromkeys(("never_keep", "feature_groups", "max_features"))
    faults = label_faults(X.columns)
    case = Case(X, True, arguments, None, faults, [], 60, 4, 0, [kind])
    case.y = X.iloc[:, 0] + X.iloc[:, 2] > 0
    return case


@pytest.mark.filterwarnings("ignore::featuresieve.FeatureSieveWarning")
@pytest.mark.parametrize("kind", ODD_LABELS)
def test_labels_of_every_kind_come_back(kind, path):
    case = labelled_case(kind)
    selector = made(case)
    if case.faults:
        with pytest.raises((ValueError, TypeError)) as caught:
            fit(selector, case)
        assert_in_words(caught.value)
        return
    fit(selector, case)
    assert_agrees_with_itself(selector, case)
    assert_columns_come_back(selector, case)
    assert_stored_and_read(selector, case, path)
    for case.output in ("default", "pandas", "polars"):
        selector.set_output(transform=case.output)
        assert_columns_come_back(selector, case)


def made(case):
    estimator = AutoNFSClassifier if case.is_classes else AutoNFSRegressor
    selector = estimator(**case.arguments)
    return (
        selector if case.output is None else selector.set_output(transform=case.output)
    )


def fit(selector, case):
    return selector.fit(case.X, case.y, sample_weight=case.sample_weight)


# What is refused.


def assert_in_words(error):
    """An error is raised on purpose: by us, or by what scikit-learn checks."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    assert {"featuresieve", "sklearn"} & set(Path(frame.filename).parts), frame
    assert frame.line.startswith("raise"), frame


def assert_refused_in_words(error, case):
    assert_in_words(error)
    assert case.faults != [], error
    if case.bad_labels and len(case.faults) == len(case.bad_labels):
        assert any(label in str(error) for label in case.bad_labels), error


# What is found.


def labels_of(X, n_columns):
    X = X.to_native() if isinstance(X, nw.DataFrame) else X
    if isinstance(X, ARROW):
        return X.schema.names
    is_frame = isinstance(X, pd.DataFrame | pl.DataFrame)
    return list(X.columns) if is_frame else [f"x{j}" for j in range(n_columns)]


def assert_agrees_with_itself(selector, case):
    support, order = selector.support_, selector.order_
    labels = labels_of(case.X, case.n_columns)
    assert support.shape == (case.n_columns,) == (selector.n_features_in_,)
    assert selector.n_features_ == selector.n_features_selected_ == support.sum() >= 1
    assert sorted(order) == [*range(case.n_columns)]
    assert (selector.ranking_ == 1).tolist() == support.tolist()
    kept = [label for label, is_kept in zip(labels, support, strict=True) if is_kept]
    assert repr(list(selector.get_feature_names_out())) == repr(kept)
    table = selector.feature_table()
    assert repr(table["name"].tolist()) == repr([labels[j] for j in order])
    assert table["kept"].tolist() == support[order].tolist()
    assert np.isclose(selector.feature_importances_.sum(), 1)
    selector.to_json()
    by_label = {repr(label): j for j, label in enumerate(labels)}

    def kept_of(features):
        return support[[by_label.get(repr(f), f) for f in features or ()]]

    assert kept_of(case.arguments["always_keep"]).all()
    assert not kept_of(case.arguments["never_keep"]).any()
    for group in case.arguments["feature_groups"] or ():
        assert len(set(kept_of(group))) == 1
    assert support.sum() <= (case.arguments["max_features"] or case.n_columns)


def assert_predicts(selector, case):
    predicted = selector.predict(case.X)
    assert len(predicted) == case.n_rows
    if not case.is_classes:
        assert np.isfinite(predicted).all()
        assert predicted.shape[1:] == np.shape(case.y)[1:]
        return
    shares = selector.predict_proba(case.X)
    assert ((shares >= 0) & (shares <= 1)).all()
    if predicted.ndim == 1:
        assert np.allclose(shares.sum(axis=1), 1)
        assert set(predicted.tolist()) <= set(selector.classes_.tolist())
    np.testing.assert_allclose(
        selector.predict_proba(rows_of(case.X, [0])), shares[:1], rtol=1e-3, atol=1e-6
    )


# What comes back.


def columns_of(X, positions):
    """Return some columns, in the way of each library."""
    if isinstance(X, nw.DataFrame):
        return nw.from_native(columns_of(X.to_native(), positions))
    if isinstance(X, pd.DataFrame):
        return X.iloc[:, positions]
    if isinstance(X, pl.DataFrame):  # not by name: "*" is a pattern
        taken = pl.DataFrame([X.to_series(j).alias(f"x{j}") for j in positions])
        taken.columns = [X.columns[j] for j in positions]
        return taken
    if isinstance(X, ARROW):
        return X.select(positions)
    if sparse.issparse(X):
        return X.tocsc()[:, positions].asformat(X.format)
    if isinstance(X, list | tuple):
        return type(X)(type(X)(row[j] for j in positions) for row in X)
    return X[:, positions]


def arrow_rows(column, rows):
    """Return some rows of a column; pyarrow takes none of a view."""
    if str(column.type) == "string_view":
        return column.cast(pa.string()).take(rows).cast(column.type)
    return column.take(rows)


def rows_of(X, rows):
    """Return some rows, in the way of each library."""
    if isinstance(X, nw.DataFrame):
        return nw.from_native(rows_of(X.to_native(), rows))
    if isinstance(X, pd.DataFrame | pd.Series):
        return X.iloc[rows]
    if isinstance(X, ARROW):
        columns = [arrow_rows(column, rows) for column in X.columns]
        return type(X).from_arrays(columns, schema=X.schema)
    if isinstance(X, pa.Array | pa.ChunkedArray):
        return arrow_rows(X, rows)
    if sparse.issparse(X):
        return X.tocsr()[rows].asformat(X.format)
    if isinstance(X, list | tuple):
        return type(X)(X[row] for row in rows)
    return X[rows]


def assert_same_table(found, expected, check_column_type="equiv"):
    """Compare type, names, dtypes and all values."""
    assert type(found) is type(expected)
    if isinstance(found, nw.DataFrame):
        found, expected = found.to_native(), expected.to_native()
    if isinstance(found, pd.DataFrame):
        pd.testing.assert_frame_equal(
            *(found, expected),
            check_exact=True,
            check_freq=False,
            check_column_type=check_column_type,
        )
    elif isinstance(found, pl.DataFrame):
        assert found.schema == expected.schema
        assert repr(found.rows()) == repr(expected.rows())
    elif isinstance(found, ARROW):
        assert found.schema == expected.schema
        assert repr(found.to_pydict()) == repr(expected.to_pydict())
    elif sparse.issparse(found):
        assert (found.format, found.dtype) == (expected.format, expected.dtype)
        assert repr(found.toarray().tolist()) == repr(expected.toarray().tolist())
    else:
        assert getattr(found, "dtype", None) == getattr(expected, "dtype", None)
        assert values_in(found) == values_in(expected)


def values_in(X):
    if isinstance(X, torch.Tensor) and X.layout != torch.strided:
        X = X.to_dense()
    rows = X.tolist() if hasattr(X, "tolist") else X
    return repr([list(row) if isinstance(row, tuple) else row for row in rows])


def shape_of(table):
    return getattr(table, "shape", None) or (table.num_rows, table.num_columns)


def assert_columns_come_back(selector, case):
    kept = np.flatnonzero(selector.support_).tolist()
    try:
        found = selector.transform(case.X)
    except (ValueError, TypeError) as error:
        assert_in_words(error)
        assert case.output is not None
        return
    assert shape_of(found) == (case.n_rows, len(kept))
    names = list(selector.get_feature_names_out())
    if case.output == "default":
        assert isinstance(found, np.ndarray) or sparse.issparse(found)
    elif case.output == "pandas":
        assert isinstance(found, pd.DataFrame)
        assert repr(list(found.columns)) == repr(names)
    elif case.output == "polars":
        assert isinstance(found, pl.DataFrame)
        assert found.columns == [str(name) for name in names]
    elif isinstance(case.X, list | tuple):
        assert isinstance(found, np.ndarray)
        expected = columns_of(case.X, kept)
        if found.dtype != object:  # truth among numbers is a number
            expected = np.array(expected, dtype=found.dtype)
        assert values_in(found) == values_in(expected)
    else:
        assert_same_table(found, columns_of(case.X, kept))
    if case.output is None:
        wide = selector.inverse_transform(found)
        assert shape_of(wide) == (case.n_rows, case.n_columns)
        if isinstance(case.X, pd.DataFrame):
            assert wide.columns.equals(case.X.columns)
            assert wide.columns.names == case.X.columns.names
        if not isinstance(found, np.ma.MaskedArray):  # which becomes plain
            assert_same_table(columns_of(wide, kept), found, check_column_type=False)


# What is stored, and what is done again.


def assert_same_findings(found, expected):
    for name in ("support_", "order_", "logits_", "ranking_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def assert_stored_and_read(selector, case, path):
    expected = selector.predict(case.X)
    pickled = pickle.loads(pickle.dumps(selector))
    assert_same_findings(pickled, selector)
    np.testing.assert_array_equal(pickled.predict(case.X), expected)
    try:
        selector.save(path)
    except TypeError as error:
        assert_in_words(error)
        return
    loaded = featuresieve.load(path)
    assert_same_findings(loaded, selector)
    np.testing.assert_array_equal(loaded.predict(case.X), expected)
    names = list(selector.get_feature_names_out())
    assert list(loaded.get_feature_names_out()) == names  # moments of either library


def assert_fitted_again(selector, case):
    """The same seed gives the same answer, also by way of fit_transform."""
    again = clone(selector)
    if case.output is None:
        found = again.fit_transform(case.X, case.y, sample_weight=case.sample_weight)
        assert_same_table(found, selector.transform(case.X))
    else:
        fit(again, case)
    assert_same_findings(again, selector)


def n_told_apart(y):
    """Count the values that differ, beside the largest too."""
    values = np.asarray(y, dtype=np.float64)
    return len(np.unique(np.round(values / max(np.ptp(values), 1e-300), 9)))


def assert_permuted(selector, case):
    """Another order of rows and columns only puts the answer into that order."""
    constraints = ("always_keep", "never_keep", "feature_groups", "feature_costs")
    if any(case.arguments[wish] for wish in constraints):
        return
    if case.is_classes or n_told_apart(case.y) < case.n_rows:
        return  # rows that look alike up to the order of columns stay as they came
    rng = np.random.default_rng(case.seed)
    rows, columns = rng.permutation(case.n_rows), rng.permutation(case.n_columns)
    X = rows_of(columns_of(case.X, columns.tolist()), rows.tolist())
    weights = case.sample_weight
    again = clone(selector).fit(
        X,
        rows_of(case.y, rows.tolist()),
        sample_weight=None if weights is None else rows_of(weights, rows.tolist()),
    )
    # Of equal columns either may stand first; the last digits depend on the order.
    np.testing.assert_allclose(
        np.sort(again.logits_), np.sort(selector.logits_), atol=2e-3
    )
