"""MAPIE puts sets and intervals of known coverage around the predictions."""

import numpy as np
from mapie.classification import SplitConformalClassifier
from mapie.regression import CrossConformalRegressor
from sklearn.datasets import load_diabetes
from sklearn.utils import shuffle

from quick_selectors import quick, quick_regressor


def test_sets_cover_as_many_classes_as_they_promise(table):
    # MAPIE turns frames into arrays on the way; arrays from the start do not mind.
    X, y = shuffle(*(part.to_numpy() for part in table), random_state=0)
    selector = quick().fit(X[:250], y[:250])
    sets = SplitConformalClassifier(selector, confidence_level=0.9, prefit=True)
    sets.conformalize(X[250:400], y[250:400])
    _, found = sets.predict_set(X[400:])
    covered = found[np.arange(169), y[400:], 0].mean()
    # Standard error of a share of 0.9 in 169 rows, and of 150 to conform to: 0.034.
    assert covered > 0.8


def test_intervals_cover_as_many_values_as_they_promise():
    X, y = shuffle(*load_diabetes(return_X_y=True), random_state=0)
    intervals = CrossConformalRegressor(quick_regressor(), confidence_level=0.9, cv=3)
    intervals.fit_conformalize(X[:300], y[:300])
    _, found = intervals.predict_interval(X[300:])
    covered = ((found[:, 0, 0] <= y[300:]) & (y[300:] <= found[:, 1, 0])).mean()
    assert covered > 0.8
