"""MRMR: relevant to the target, and not redundant with what is kept already."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sievebench.selectors._scored_selector import (
    FitData,
    FloatArray,
    ScoredSelector,
    Scores,
    require,
)
from sievebench.selectors.univariate import f_statistics

_LARGEST_RELEVANCE = 1e200
# A correlation counts at least this, as in the package mrmr-selection: a column that is
# unrelated to those added would come first however weak it is.
_SMALLEST_CORRELATION = 1e-3


class MRMR(ScoredSelector):
    """Add columns one by one: most relevant per redundancy with those added before.

    Needs the package scikit-lego, in the extra `lab`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The number of columns ranked after this one: those kept in the order they were
        added, then the others by relevance.

    Notes
    -----
    Each step adds ``argmax_j F_j / mean_{i kept} max(|r_ij|, 0.001)``, with F the
    statistic of `Univariate` and r the correlation of two columns.

    References
    ----------
    C. Ding, H. Peng, "Minimum redundancy feature selection from microarray gene
    expression data", J. Bioinform. Comput. Biol. 3 (2005). Z. Zhao, R. Anand, M. Wang,
    "Maximum Relevance and Minimum Redundancy Feature Selection Methods for a Marketing
    Machine Learning Platform" (2019): F statistic and correlation, as a quotient.
    """

    standardises: ClassVar[bool] = True

    def _score_columns(self, data: FitData) -> Scores:
        X, y = data.X, data.y
        n_features = X.shape[1]
        # The first of equals is taken: their order is drawn.
        drawn = np.random.default_rng(data.seed).permutation(n_features)
        X = X[:, drawn]
        # Infinite statistics would make NaN when divided.
        relevance = np.minimum(f_statistics(X, y, data.task), _LARGEST_RELEVANCE)
        count = self._count_to_select(n_features)
        chosen = self._choose(X, y, relevance, min(count, n_features - 1))
        by_relevance = np.argsort(-relevance, kind="stable")
        rest = by_relevance[~np.isin(by_relevance, chosen)]
        scores = np.empty(n_features)
        scores[drawn[np.concatenate([chosen, rest])]] = np.arange(n_features)[::-1]
        return scores

    def _choose(
        self, X: FloatArray, y: npt.NDArray[Any], relevance: Scores, count: int
    ) -> npt.NDArray[np.int64]:
        """Return the first `count` columns in the order they are added."""
        if count == 0:  # a table of one column
            return np.empty(0, dtype=np.int64)
        module = require("sklego.feature_selection", "MRMR")
        search = module.MaximumRelevanceMinimumRedundancy(
            k=count,
            relevance_func=lambda *_: relevance,
            redundancy_func=RunningRedundancy(),
        )
        return np.asarray(search.fit(X, y).selected_features_)


class RunningRedundancy:
    """Sum of absolute correlations with the columns added so far, one at a time.

    Called with the standardised table, the columns added and those left, it returns
    one sum for each of those left. Columns are added at the end of `selected`.
    """

    def __init__(self) -> None:
        self._total: Scores | None = None

    def __call__(
        self, X: FloatArray, selected: Sequence[int], left: Sequence[int]
    ) -> Scores:
        """Add the newest column and return the sums."""
        correlation = np.abs(X[:, selected[-1]] @ X) / len(X)
        correlation = np.maximum(correlation, _SMALLEST_CORRELATION)
        self._total = correlation + (0.0 if self._total is None else self._total)
        return np.asarray(self._total[list(left)])
