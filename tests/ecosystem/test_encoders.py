"""Encoders and cleaners of category_encoders and feature-engine before the selector."""

import category_encoders
import numpy as np
import pytest
from feature_engine.imputation import DropMissingData
from feature_engine.pipeline import Pipeline
from feature_engine.selection import DropCorrelatedFeatures
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from quick_selectors import quick


@pytest.mark.parametrize("name", ["TargetEncoder", "CountEncoder", "OneHotEncoder"])
def test_selector_keeps_names_of_encoded_columns(name, table, word):
    X, y = table
    X = X[["mean smoothness"]].assign(word=word)
    encoder = getattr(category_encoders, name)(cols=["word"])
    pipeline = make_pipeline(encoder, quick()).fit(X, y)
    kept = list(pipeline[-1].get_feature_names_out())
    assert any(column.startswith("word") for column in kept)
    assert list(pipeline.transform(X).columns) == kept


def test_selector_takes_what_feature_engine_leaves(table):
    X, y = table
    pipeline = make_pipeline(DropCorrelatedFeatures(threshold=0.95), quick())
    kept = pipeline.fit(X, y).transform(X)
    correlations = np.corrcoef(kept.to_numpy(), rowvar=False)
    assert np.abs(correlations[np.triu_indices_from(correlations, 1)]).max() <= 0.95


def test_selector_learns_from_the_rows_that_feature_engine_leaves(table):
    X, y = table
    X.iloc[::50, 0] = np.nan
    pipeline = Pipeline([("rows", DropMissingData()), ("selector", quick())])
    whole = X.notna().all(axis=1)
    expected = clone(pipeline[-1]).fit(X[whole], y[whole])
    found = pipeline.fit(X, y)[-1]
    np.testing.assert_array_equal(found.support_, expected.support_)
