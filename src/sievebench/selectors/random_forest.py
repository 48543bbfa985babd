"""Random forest: mean decrease in impurity."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from sievebench.search_space import Integer, SearchSpace
from sievebench.selectors._scored_selector import FitData, ScoredSelector, Scores


@dataclass(kw_only=True, eq=False, repr=False)
class RandomForest(ScoredSelector):
    """Score columns by how much they lower the impurity in the trees of a forest.

    Parameters
    ----------
    n_estimators : int, default=200
        Number of trees.
    max_depth : int or None, default=10
        Greatest depth of a tree.
    n_jobs : int or None, default=None
        Trees grown at the same time, as in scikit-learn.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Mean decrease in impurity, normalised to sum to 1.

    Notes
    -----
    Missing values (NaN) are allowed: each split sends them to the better side.
    """

    allows_nan: ClassVar[bool] = True
    # The benchmark's space.
    space: ClassVar[SearchSpace] = {
        "n_estimators": Integer(10, 2000),
        "max_depth": Integer(3, 10),
    }

    n_estimators: int = 200
    max_depth: int | None = 10
    n_jobs: int | None = None

    def _score_columns(self, data: FitData) -> Scores:
        forest = forest_of(self, data).fit(data.X, data.y)
        return np.asarray(forest.feature_importances_)


def forest_of(selector: Any, data: FitData) -> Any:
    """Return a forest with the arguments of a selector, for the task at hand."""
    kind = RandomForestRegressor if data.is_regression else RandomForestClassifier
    return kind(
        selector.n_estimators,
        max_depth=selector.max_depth,
        n_jobs=selector.n_jobs,
        random_state=data.seed,
    )
