"""Boruta: columns that beat shuffled copies of the columns in a forest."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import joblib
import numpy as np
import numpy.typing as npt
from scipy import stats
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.class_weight import compute_sample_weight

from sievebench.checks import check_integer
from sievebench.search_space import Integer, SearchSpace
from sievebench.selectors._scored_selector import (
    AutomaticSelector,
    FitData,
    FloatArray,
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
        Most rounds; each grows one forest. With "auto" it ends before, when no column
        that is still tentative can be confirmed or rejected any more.
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
        check_integer("max_iter", self.max_iter, low=2)
        boruta = require("boruta", "Boruta")
        found = boruta.BorutaPy(
            Forest(data.is_regression, self.max_depth, self.n_jobs),
            n_estimators=self.n_estimators,
            perc=self.percentile,
            alpha=self.alpha,
            max_iter=self.max_iter,
            random_state=data.seed,
        )
        if self.n_features_to_select == "auto":  # the order of the others is not asked
            _stop_when_decided(found)
        found.fit(data.X, data.y)
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


def can_be_decided(
    hits: npt.NDArray[np.int64], n_rounds: int, max_rounds: int, alpha: float
) -> bool:
    """Tell whether rounds to come could confirm or reject one of some columns.

    After n rounds Boruta confirms a column with k hits only if ``P(K >= k) <= alpha /
    n``, and rejects it only if ``P(K <= k) <= alpha / n``, K binomial of n fair trials.
    `hits` are those of the columns after `n_rounds`; from then on each round may bring
    one or none.
    """
    later = np.arange(n_rounds + 1, max_rounds + 1)
    least = hits[:, np.newaxis]
    most = least + later - n_rounds
    chances = stats.binom.sf(most - 1, later, 0.5), stats.binom.cdf(least, later, 0.5)
    return bool((np.minimum(*chances) <= alpha / later).any())


def _stop_when_decided(found: Any) -> None:
    """Let the package end when its columns are decided as far as they will ever be.

    Only where some are confirmed and some rejected: otherwise it looks at more.
    """
    do_tests = found._do_tests

    def test_and_look(decisions: Any, hits: Any, n_rounds: int) -> Any:
        decisions = do_tests(decisions, hits, n_rounds)
        open_hits = hits[decisions == 0]
        if {-1, 1} <= set(decisions) and not can_be_decided(
            open_hits, n_rounds, found.max_iter - 1, found.alpha
        ):
            found.max_iter = n_rounds
        return decisions

    found._do_tests = test_and_look


class Forest:
    """A random forest with all that Boruta asks of one: its columns' importances.

    The trees are those of scikit-learn 1.9, where balanced weights of the classes are
    the chances of rows to be drawn. Its forests take a quarter longer: they copy an
    estimator for each tree, and look up every row drawn by itself.
    """

    def __init__(
        self, is_regression: bool, max_depth: int | None, n_jobs: int | None
    ) -> None:
        self._is_regression, self._n_jobs = is_regression, n_jobs
        self._parameters: dict[str, Any] = {"max_depth": max_depth}

    def get_params(self) -> dict[str, Any]:
        """Return what Boruta needs to choose the number of trees."""
        return self._parameters

    def set_params(self, **parameters: Any) -> None:
        """Take the number of trees, and the generator that their seeds come from."""
        self._parameters |= parameters

    def fit(self, X: FloatArray, y: npt.NDArray[Any]) -> None:
        """Grow the trees, and take the mean of their importances."""
        X = X.astype(np.float32)
        reach = None if self._is_regression else _reach_of_rows(y)

        def grown(seed: int) -> Any:
            counts = _drawn_counts(np.random.RandomState(seed), len(y), reach)
            tree = self._tree(seed)
            return tree.fit(X, y, sample_weight=counts, check_input=False)

        source = self._parameters["random_state"]
        n_trees = self._parameters["n_estimators"]
        seeds = [source.randint(np.iinfo(np.int32).max) for _ in range(n_trees)]
        grow = joblib.Parallel(n_jobs=self._n_jobs, prefer="threads")
        trees = grow(map(joblib.delayed(grown), seeds))
        split = [tree for tree in trees if tree.tree_.node_count > 1]
        found = [tree.feature_importances_ for tree in split]
        mean = np.mean(found or [np.zeros(X.shape[1])], axis=0)
        self.feature_importances_ = mean / max(mean.sum(), np.finfo(np.float64).tiny)

    def _tree(self, seed: int) -> Any:
        """Return a tree to be grown."""
        arguments = {"max_depth": self._parameters["max_depth"], "random_state": seed}
        if self._is_regression:
            return DecisionTreeRegressor(**arguments)
        return DecisionTreeClassifier(max_features="sqrt", **arguments)


def _reach_of_rows(y: npt.NDArray[Any]) -> Scores:
    """Return sums of the chances to be drawn up to each row, equal for all classes."""
    weights = compute_sample_weight("balanced", y)
    reach = np.cumsum(weights / np.sum(weights))
    return np.asarray(reach / reach[-1])


def _drawn_counts(
    source: np.random.RandomState, n_rows: int, reach: Scores | None
) -> Scores:
    """Return how often each row is drawn, as `source.choice` would do it."""
    if reach is None:
        drawn = np.bincount(source.randint(0, n_rows, n_rows), minlength=n_rows)
    else:  # in order, so that all of them are looked up on one way through
        drawn = np.diff(
            np.sort(source.random_sample(n_rows)).searchsorted(reach), prepend=0
        )
    return drawn.astype(np.float64)
