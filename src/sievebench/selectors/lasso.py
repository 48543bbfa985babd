"""Lasso: a linear model with an L1 penalty."""

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso as LassoRegression
from sklearn.linear_model import LogisticRegression

from sievebench.search_space import SearchSpace, Uniform
from sievebench.selectors._scored_selector import FitData, ScoredSelector, Scores

# Before scikit-learn 1.8, `l1_ratio` counts with this penalty alone; 1.8 deprecates it.
_PENALTY = {"penalty": "elasticnet"} if LogisticRegression().penalty == "l2" else {}


@dataclass(kw_only=True, eq=False, repr=False)
class Lasso(ScoredSelector):
    """Score columns by the coefficients of an L1-penalised linear model.

    Parameters
    ----------
    alpha : float, default=0.01
        Weight of the penalty, for regression.
    C : float, default=1.0
        Inverse weight of the penalty, for classification.
    max_iter : int, default=1000
        Most passes over the data.
    max_iter_classes : int or None, default=None
        The same for classification, where a pass costs far more; None is `max_iter`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Absolute coefficient; with more than two classes, the L2 norm over the classes.
    coef_ : ndarray of shape (n_outputs, n_features)
        The coefficients, of standardised columns.
    n_iter_ : int
        Passes over the data.
    has_converged_ : bool
        Whether the solver reached its tolerance within these passes.

    Notes
    -----
    Regression: ``||y - X b||² / (2 n) + alpha ||b||_1``.
    Classification: multinomial logistic regression, ``C * loss + ||W||_1``, with the
    loss summed over the rows (SAGA).
    """

    standardises: ClassVar[bool] = True
    # The benchmark's space: the same interval for both strengths.
    space: ClassVar[SearchSpace] = {
        "alpha": Uniform(1e-4, 1.0),
        "C": Uniform(1e-4, 1.0),
    }

    alpha: float = 0.01
    C: float = 1.0
    max_iter: int = 1000
    max_iter_classes: int | None = None

    def _score_columns(self, data: FitData) -> Scores:
        X, y = data.X, data.y
        most = self.max_iter
        if not data.is_regression and self.max_iter_classes is not None:
            most = self.max_iter_classes
        if data.is_regression:
            # A seed, though nothing is drawn: without one, scikit-learn reads a number
            # from NumPy's global generator.
            model = LassoRegression(self.alpha, max_iter=most, random_state=data.seed)
        else:
            model = LogisticRegression(
                C=self.C,
                l1_ratio=1.0,
                solver="saga",
                max_iter=most,
                random_state=data.seed,
                **_PENALTY,
            )
        with warnings.catch_warnings():  # `has_converged_` says it
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X.astype(np.float64), y)
        self.coef_ = np.atleast_2d(model.coef_)
        self.n_iter_ = int(np.max(model.n_iter_))
        self.has_converged_ = self.n_iter_ < most
        return np.asarray(np.linalg.norm(self.coef_, axis=0))
