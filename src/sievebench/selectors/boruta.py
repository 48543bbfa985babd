"""Boruta: columns that beat shuffled copies of the columns in a forest."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from sievebench.checks import check_integer
from sievebench.search_space import Integer, SearchSpace
from sievebench.selectors._scored_selector import (
    AutomaticSelector,
    FitData,
    Scores,
    Support,
    require,
)


@dataclass(kw_only=True, eq=False, repr=False)
class Boruta(AutomaticSelector):
    """Keep the columns whose importance beats that of the best shuffled column.

    Needs the package boruta, in the extra `lab`.

    Parameters
    ----------
    max_iter : int, default=100
        Most rounds; each grows one forest.
    percentile : float, default=100
        Percentile of the importances of the shuffled columns that counts as a hit.
    alpha : float, default=0.05
        Level of the tests that confirm or reject.
    max_depth : int or None, default=5
        Greatest depth of a tree.
    n_estimators : int or "auto", default="auto"
        Trees per forest; "auto" chooses by the number of columns.
    n_jobs : int or None, default=None
        Trees grown at the same time, as in scikit-learn.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Minus Boruta's rank (1 confirmed, 2 tentative, more: rejected, in order), plus
        at most one half by mean importance, which orders columns of equal rank.
    n_iter_ : int
        Rounds done.
    n_confirmed_ : int
        Columns Boruta confirmed. If it confirms none, "auto" keeps the tentative ones,
        and if there are none either, the best column.

    References
    ----------
    M. Kursa, W. Rudnicki, "Feature Selection with the Boruta Package", Journal of
    Statistical Software 36 (2010).
    """

    example: ClassVar[Mapping[str, Any]] = {"max_iter": 12, "n_estimators": 30}
    # Our proposal; there is no published space.
    space: ClassVar[SearchSpace] = {
        "max_depth": Integer(3, 7),
        "percentile": Integer(80, 100),
    }

    max_iter: int = 100
    percentile: float = 100
    alpha: float = 0.05
    max_depth: int | None = 5
    n_estimators: int | Literal["auto"] = "auto"
    n_jobs: int | None = None

    def _score_columns(self, data: FitData) -> Scores:
        X, y = data.X, data.y
        check_integer("max_iter", self.max_iter, low=2)
        boruta = require("boruta", "Boruta")
        arguments = {"max_depth": self.max_depth, "n_jobs": self.n_jobs}
        if data.is_regression:
            forest = RandomForestRegressor(**arguments)
        else:
            forest = RandomForestClassifier(class_weight="balanced", **arguments)
        found = boruta.BorutaPy(
            forest,
            n_estimators=self.n_estimators,
            perc=self.percentile,
            alpha=self.alpha,
            max_iter=self.max_iter,
            random_state=data.seed,
        ).fit(X, y)
        self.n_iter_ = len(found.importance_history_) - 1  # a row of zeros comes first
        self.n_confirmed_ = int(found.support_.sum())
        self._own_support = found.support_ if self.n_confirmed_ else found.support_weak_
        # Rejected columns have no importance in later rounds: 0 there.
        importance = np.nan_to_num(found.importance_history_).mean(axis=0)
        share = 0.5 * importance / max(importance.sum(), np.finfo(np.float64).tiny)
        return np.asarray(share - found.ranking_)

    def _automatic_support(self) -> Support:
        if self._own_support.any():
            return np.asarray(self._own_support)
        return np.asarray(self.ranking_ == 1)
