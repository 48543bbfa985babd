"""Mutual information of each column with the target."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

from sievebench.search_space import Integer, SearchSpace
from sievebench.selectors._scored_selector import FitData, ScoredSelector, Scores


@dataclass(kw_only=True, eq=False, repr=False)
class MutualInformation(ScoredSelector):
    """Score each column by its mutual information with the target.

    Parameters
    ----------
    n_neighbors : int, default=3
        Neighbours of the estimator: more lower its variance and raise its bias.
    n_jobs : int or None, default=None
        Columns treated at the same time, as in scikit-learn.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Estimated mutual information in nats, not below 0.

    Notes
    -----
    Nearest-neighbour estimates of Kraskov et al. and Ross, as scikit-learn has them;
    every column is taken for continuous.
    """

    standardises: ClassVar[bool] = True
    # Our proposal; there is no published space.
    space: ClassVar[SearchSpace] = {"n_neighbors": Integer(2, 20)}

    n_neighbors: int = 3
    n_jobs: int | None = None

    def _score_columns(self, data: FitData) -> Scores:
        X, y = data.X, data.y
        is_regression = data.is_regression
        estimate = mutual_info_regression if is_regression else mutual_info_classif
        return np.asarray(
            estimate(
                X.astype(np.float64),
                y,
                discrete_features=False,
                n_neighbors=min(self.n_neighbors, len(y) - 1),
                random_state=data.seed,
                n_jobs=self.n_jobs,
            )
        )
