"""Recursive feature elimination with a linear support vector machine."""

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE
from sklearn.svm import LinearSVC, LinearSVR

from sievebench.search_space import LogUniform, SearchSpace
from sievebench.selectors._scored_selector import FitData, ScoredSelector, Scores


@dataclass(kw_only=True, eq=False, repr=False)
class LinearSVCElimination(ScoredSelector):
    """Drop the columns with the smallest weights of a linear SVM, step by step.

    Parameters
    ----------
    C : float, default=1.0
        Inverse weight of the L2 penalty.
    step : int or float, default=1
        Columns dropped per step: a count, or a fraction of all columns. Each step
        trains one machine.
    max_iter : int, default=1000
        Most iterations of the solver.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        How many steps the column outlived, plus, for those kept, their share (below 1)
        of the squared weights of the last machine.
    n_iter_ : int
        Iterations of the solver in the last step.

    Notes
    -----
    A column's weight is the sum of its squared weights over the one-against-rest
    classifiers; for regression, a linear SVR with the squared loss. Columns dropped in
    one step have equal scores.
    """

    standardises: ClassVar[bool] = True
    # Our proposal; there is no published space.
    space: ClassVar[SearchSpace] = {"C": LogUniform(1e-3, 1e2)}

    C: float = 1.0
    step: int | float = 1
    max_iter: int = 1000

    def _score_columns(self, data: FitData) -> Scores:
        X, y = data.X, data.y
        arguments = {"C": self.C, "max_iter": self.max_iter, "random_state": data.seed}
        if data.is_regression:
            loss = "squared_epsilon_insensitive"  # the one with a primal solver
            machine = LinearSVR(loss=loss, dual="auto", **arguments)
        else:
            machine = LinearSVC(dual="auto", **arguments)
        count = self._count_to_select(X.shape[1])
        elimination = RFE(machine, n_features_to_select=count, step=self.step)
        with warnings.catch_warnings():
            # The order of the weights settles long before their last digits.
            warnings.simplefilter("ignore", ConvergenceWarning)
            # The first of equals is dropped: their order is drawn.
            drawn = np.random.default_rng(data.seed).permutation(X.shape[1])
            elimination.fit(X[:, drawn], y)
        self.n_iter_ = int(np.max(elimination.estimator_.n_iter_))
        steps: Scores = elimination.ranking_.max() - elimination.ranking_
        scores = steps.astype(np.float64)
        weights = np.atleast_2d(elimination.estimator_.coef_)
        squares = np.sum(weights**2, axis=0)
        scores[elimination.support_] += squares / (1.0 + squares.sum())
        return scores[np.argsort(drawn)]
