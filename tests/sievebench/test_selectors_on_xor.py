"""XOR: one-column and linear selectors must miss it, the others must find it."""

import numpy as np
import pytest
from balanced_xor import XOR_COLUMNS, balanced_xor

from sievebench.selectors import SELECTORS

# Those that look at one column at a time, or at a weighted sum of them.
MISSES = ["univariate", "lasso", "mrmr", "svc-rfe"]
FINDS = {
    "forest": {},
    "xgboost": {"n_jobs": 1},
    "permutation": {},
    "boruta": {"max_iter": 12, "n_estimators": 100, "max_depth": 10},
    "lassonet": {"first_penalty": 5.0, "path_multiplier": 1.3, "n_epochs": (200, 30)},
    "autonfs": {},
}
TASKS = ["classification", "regression"]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", MISSES)
def test_selector_of_single_columns_misses_xor(name, task):
    X, y = balanced_xor(task)
    selector = SELECTORS[name](n_features_to_select=2, random_state=0).fit(X, y)
    assert not set(XOR_COLUMNS) & set(np.flatnonzero(selector.support_))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", FINDS)
def test_selector_of_interactions_finds_xor(name, task):
    X, y = balanced_xor(task)
    selector = SELECTORS[name](n_features_to_select=2, random_state=0, **FINDS[name])
    selector.fit(X, y)
    assert set(np.flatnonzero(selector.support_)) == set(XOR_COLUMNS)
