"""Boruta and mlxtend select beside the selector, before it and with it."""

import numpy as np
from boruta import BorutaPy
from mlxtend.feature_selection import SequentialFeatureSelector
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline

from quick_selectors import quick


def test_selector_selects_from_what_boruta_keeps(table):
    X, y = (part.to_numpy() for part in table)
    forest = RandomForestClassifier(n_jobs=1, max_depth=5, random_state=0)
    boruta = BorutaPy(forest, n_estimators=30, max_iter=12, random_state=0)
    pipeline = make_pipeline(boruta, quick()).fit(X, y)
    kept = np.flatnonzero(boruta.support_)[pipeline[-1].support_]
    np.testing.assert_array_equal(pipeline.transform(X), X[:, kept])


def test_mlxtend_adds_columns_by_the_score_of_the_estimator(table):
    X, y = table
    X = X[["mean texture", "worst area", "mean symmetry"]]
    search = SequentialFeatureSelector(quick(n_epochs=5), k_features=1, cv=2)
    assert search.fit(X, y).k_feature_names_ == ("worst area",)
