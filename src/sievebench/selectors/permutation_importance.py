"""Permutation importance: what a forest loses when a column is shuffled."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.inspection import permutation_importance

from sievebench.search_space import Choice, Integer, SearchSpace
from sievebench.selectors._scored_selector import FitData, ScoredSelector, Scores
from sievebench.selectors.random_forest import forest_of


@dataclass(kw_only=True, eq=False, repr=False)
class PermutationImportance(ScoredSelector):
    """Score columns by the loss of a forest, on rows it has not seen, without them.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees of the forest.
    max_depth : int or None, default=None
        Greatest depth of a tree.
    n_repeats : int, default=5
        How often each column is shuffled.
    validation_fraction : float, default=0.25
        Fraction of the rows set aside for judging, at most 0.5.
    n_jobs : int or None, default=None
        Trees, and columns, treated at the same time, as in scikit-learn.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Mean loss of accuracy or R² when the column is shuffled; may be negative.

    Notes
    -----
    Of two columns that say the same, shuffling one costs little, so both score low.
    """

    example: ClassVar[Mapping[str, Any]] = {"n_estimators": 20}
    # Our proposal; there is no published space.
    space: ClassVar[SearchSpace] = {
        "n_estimators": Integer(50, 500),
        "max_depth": Choice((None, 5, 10, 20)),
    }

    n_estimators: int = 100
    max_depth: int | None = None
    n_repeats: int = 5
    validation_fraction: float = 0.25
    n_jobs: int | None = None

    def _score_columns(self, data: FitData) -> Scores:
        learnt, judged = data.parts(self.validation_fraction, least=2)  # R² needs two
        losses = permutation_importance(
            forest_of(self, data).fit(learnt.X, learnt.y),
            *(judged.X, judged.y),
            n_repeats=self.n_repeats,
            random_state=data.seed,
            n_jobs=self.n_jobs,
        )
        return np.asarray(losses.importances_mean)
