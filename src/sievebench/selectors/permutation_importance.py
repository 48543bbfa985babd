"""Permutation importance: what a forest loses when a column is shuffled."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.metrics import accuracy_score, r2_score

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
        Trees treated at the same time, as in scikit-learn.

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
        forest = forest_of(self, data).fit(learnt.X, learnt.y)
        metric = r2_score if data.is_regression else accuracy_score
        X = judged.X.astype(np.float32)  # what a forest makes of it anyway
        score = metric(judged.y, forest.predict(X))
        orders = self._orders(len(X), data.seed)
        # The shuffled copies of a column go through the forest in one call.
        stacked = np.tile(X, (self.n_repeats, 1))
        losses = np.empty(X.shape[1])
        for column, values in enumerate(X.T):
            stacked[:, column] = values[orders].ravel()
            answers = np.split(forest.predict(stacked), self.n_repeats)
            scores = np.array([metric(judged.y, answer) for answer in answers])
            losses[column] = np.mean(score - scores)
            stacked[:, column] = np.tile(values, self.n_repeats)
        return losses

    def _orders(self, n_rows: int, seed: int) -> npt.NDArray[np.int64]:
        """Return the orders of scikit-learn's permutation importance, (repeats, rows).

        Its columns share them; each one shuffles what the one before has shuffled.
        """
        seeds = np.random.RandomState(seed)
        generator = np.random.RandomState(seeds.randint(2**31))
        index, result = np.arange(n_rows), np.arange(n_rows)
        orders = []
        for _ in range(self.n_repeats):
            generator.shuffle(index)
            result = result[index]
            orders.append(result)
        return np.array(orders)
