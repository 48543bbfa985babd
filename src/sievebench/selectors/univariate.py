"""Univariate selection: each column on its own, by an F test."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.feature_selection import f_classif, f_regression

from featuresieve.files import Task
from sievebench.selectors._scored_selector import (
    FitData,
    FloatArray,
    ScoredSelector,
    Scores,
)


class Univariate(ScoredSelector):
    """Score each column by the F statistic of its relation to the target.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        F of a one-way analysis of variance between the classes, or F of the simple
        regression of the target on the column; infinite where the column tells the
        target without error, 0 for constant columns.

    Notes
    -----
    Regression: F = (n - 2) r² / (1 - r²), with r the correlation of column and target.
    """

    def _score_columns(self, data: FitData) -> Scores:
        return f_statistics(data.X, data.y, data.task)


def f_statistics(X: FloatArray, y: npt.NDArray[Any], task: Task) -> Scores:
    """Return F of each column; 0 for columns, and for a target, that do not vary."""
    varies = np.ptp(X, axis=0) > 0
    scores = np.zeros(X.shape[1])
    if not varies.any() or (task == "regression" and np.ptp(y) == 0):
        return scores
    # In float64: sums of squares of float32 lose the digits that tell columns apart.
    columns = X[:, varies].astype(np.float64)
    if task == "regression":
        statistics, _ = f_regression(columns, y)
    else:
        # Classes that a column separates without error have no variance within: x / 0.
        with np.errstate(divide="ignore", invalid="ignore"):
            statistics, _ = f_classif(columns, y)
    # The sums of squares come from differences, which rounding can leave just below 0:
    # between the classes if F is small, within them if it is large.
    statistics = np.where(statistics < -1, np.inf, statistics)
    scores[varies] = np.maximum(np.nan_to_num(statistics, posinf=np.inf), 0.0)
    return scores
