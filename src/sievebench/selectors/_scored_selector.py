"""The contract of every selector: score the columns, keep the best."""

from abc import abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from importlib import import_module
from numbers import Integral, Real
from types import ModuleType
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from featuresieve.errors import draw_seed
from featuresieve.files import Task, infer_task
from sievebench.checks import check_number
from sievebench.search_space import SearchSpace

FloatArray = npt.NDArray[np.floating[Any]]
Scores = npt.NDArray[np.float64]
Support = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class FitData:
    """What a selector scores columns by."""

    X: FloatArray  # float32 or float64, as the user gave it, and maybe read-only
    y: npt.NDArray[Any]  # class codes 0 … n_classes - 1 (int64), or values (float64)
    task: Task
    seed: int  # what all randomness comes from, between 0 and 2**31 - 1

    @property
    def is_regression(self) -> bool:
        """Whether the target is of real values."""
        return self.task == "regression"

    def parts(self, fraction: float, least: int = 1) -> "tuple[FitData, FitData]":
        """Return rows to learn from, and rows set aside to judge by.

        Where not even `least` rows can be spared, those to learn from judge too.
        """
        is_aside = held_out_rows(self.y, self.task, fraction, self.seed)
        judges = is_aside if is_aside.sum() >= least else ~is_aside
        learnt, judged = (
            replace(self, X=self.X[some], y=self.y[some])
            for some in (~is_aside, judges)
        )
        return learnt, judged


@dataclass(kw_only=True, eq=False, repr=False)
class ScoredSelector(SelectorMixin, BaseEstimator):
    """Keep the columns with the largest scores.

    A subclass says how columns are scored, in `_score_columns`; this class checks the
    arguments, finds the task, encodes the target and turns scores into a support.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many columns to keep: an int is a count (1 is one column), a float in (0, 1]
        the fraction of the columns, rounded, and at least one column. Selectors that
        find the number themselves also take "auto".
    task : {"auto", "classification", "regression"}, default="auto"
        What the target is. "auto" takes labels (strings, booleans) and numbers with few
        distinct values for classes, and these for regression: numbers with a fractional
        part, floats with more than 20 distinct values, and integers with more than 20
        distinct values that number more than a tenth of the rows.
    random_state : int, RandomState instance or None, default=None
        Decides everything that is random.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The score of each column, larger = keep; may be infinite, never NaN.
    support_ : ndarray of shape (n_features,)
        Whether each column is kept.
    ranking_ : ndarray of shape (n_features,)
        The rank of each column, 1 for the largest score. Ties are broken at random, by
        `random_state`: a selector that tells no columns apart must not gain from a
        table in which the useful ones happen to come first.
    task_ : str
        "classification" or "regression".
    classes_ : ndarray of shape (n_classes,)
        The labels, for classification only.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where they have names that are all strings.

    Notes
    -----
    A subclass with parameters is a dataclass, like this one. What it may set besides:
    `supported_tasks`; `standardises`, if its scores depend on the scale of the columns:
    `_score_columns` then gets columns, and a regression target, of mean 0 and standard
    deviation 1 (constant columns are 0), computed on the rows given to `fit`;
    `allows_nan`; `turn`, a lock that a caller who measures seconds takes first, if
    `fit` waits for it; `space`, what `search_space` returns; `example`, arguments of
    the example in its docstring, where the defaults take long. One that can find the
    number of columns itself is an `AutomaticSelector`.
    """

    supported_tasks: ClassVar[tuple[Task, ...]] = ("classification", "regression")
    has_automatic_count: ClassVar[bool] = False
    standardises: ClassVar[bool] = False
    allows_nan: ClassVar[bool] = False
    turn: ClassVar[AbstractContextManager[Any]] = nullcontext()
    space: ClassVar[SearchSpace] = {}
    example: ClassVar[Mapping[str, Any]] = {}

    n_features_to_select: int | float | Literal["auto"] = 0.5
    task: Literal["auto", "classification", "regression"] = "auto"
    random_state: Any = None

    @classmethod
    def search_space(cls) -> SearchSpace:
        """Return what a tuner may draw for each parameter; empty if nothing is tuned.

        Returns
        -------
        mapping from parameter name to distribution
        """
        return cls.space

    def fit(self, X: Any, y: Any) -> Self:
        """Score the columns and choose among them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers.
        y : array-like of shape (n_samples,)
            Class labels or real values.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If an argument is not allowed, X is not finite, or the selector does not
            support the task.
        """
        X, y = validate_data(
            self,
            X,
            y,
            dtype=(np.float64, np.float32),
            order="C",  # so that data frames and arrays add up in the same order
            ensure_all_finite="allow-nan" if self.allows_nan else True,
            ensure_min_samples=2,
        )
        n_features = X.shape[1]
        count = self._count_to_select(n_features)
        task = self._find_task(y)
        seed = draw_seed(self.random_state)
        target, classes = self._encode_target(y, task)
        if self.standardises:
            X = standardised(X)
            target = standardised(target) if task == "regression" else target
        scores = np.asarray(
            self._score_columns(FitData(X, target, task, seed)), dtype=np.float64
        )
        if scores.shape != (n_features,) or np.isnan(scores).any():
            raise ValueError(
                f"{type(self).__name__} found no score for some columns: its scores "
                "are not numbers. Large or very uneven values in X are a usual cause."
            )
        self.task_ = task
        if classes is not None:
            self.classes_ = classes
        elif hasattr(self, "classes_"):
            del self.classes_
        self.scores_ = scores
        random_ties = np.random.default_rng(seed).permutation(n_features)
        order = np.lexsort((random_ties, -scores))
        self.ranking_ = np.empty(n_features, dtype=np.int64)
        self.ranking_[order] = np.arange(1, n_features + 1)
        self.support_ = self._choose_columns(count)
        return self

    @abstractmethod
    def _score_columns(self, data: FitData) -> Scores:
        """Return one score per column, larger = keep; the data stay as they are."""

    def decision(self) -> dict[str, Any]:
        """Return how a fitted selector chose, for its record: plain values by name.

        Returns
        -------
        dict
            Empty unless the selector has more to say than its scores.
        """
        return {}

    def _choose_columns(self, count: int) -> Support:
        """Return the columns to keep, after scoring."""
        return np.asarray(self.ranking_ <= count)

    def _count_to_select(self, n_features: int) -> int:
        """Return how many columns to keep, checked."""
        wanted: Any = self.n_features_to_select
        is_number = isinstance(wanted, Real) and not isinstance(wanted, bool)
        is_count = is_number and isinstance(wanted, Integral)
        if is_count and 1 <= int(wanted) <= n_features:
            return int(wanted)
        if is_number and not is_count and 0 < float(wanted) <= 1:
            return max(1, round(float(wanted) * n_features))
        or_auto = ", or 'auto'" if self.has_automatic_count else ""
        raise ValueError(
            "n_features_to_select must be an int between 1 and the number of features, "
            f"{n_features}, or a float > 0 and <= 1{or_auto}, got {wanted!r}."
        )

    def _find_task(self, y: npt.NDArray[Any]) -> Task:
        """Return the task, or say that the selector does not do it."""
        if self.task not in ("auto", "classification", "regression"):
            raise ValueError(
                "task must be one of 'auto', 'classification', 'regression', "
                f"got {self.task!r}."
            )
        task = infer_task(y)[0] if self.task == "auto" else self.task
        if task not in self.supported_tasks:
            (supported,) = self.supported_tasks
            raise ValueError(
                f"{type(self).__name__} supports {supported} only, and this is a "
                f"{task} (task={self.task!r}). If y holds class labels, set "
                "task='classification'."
            )
        return task

    def _encode_target(
        self, y: npt.NDArray[Any], task: Task
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any] | None]:
        """Return class codes and the classes, or values and None."""
        if task == "regression":
            try:
                return np.asarray(y, dtype=np.float64), None
            except ValueError as error:
                raise ValueError(
                    "y must hold numbers for task='regression', got "
                    f"values of dtype {y.dtype}."
                ) from error
        if self.task == "auto":
            check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"y must have at least 2 classes, got 1 class: {classes[0]!r}."
            )
        return codes.reshape(-1).astype(np.int64), classes

    def _get_support_mask(self) -> Support:
        """Return the support, as `SelectorMixin` asks."""
        check_is_fitted(self)
        return np.asarray(self.support_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = self.allows_nan
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class AutomaticSelector(ScoredSelector):
    """Keep the best columns, or with "auto" those of the selector's own rule.

    A subclass says in `_score_columns` how columns are scored, and in
    `_automatic_support` which of them its own rule keeps.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default="auto"
        "auto" leaves the number to the selector; a count, or a fraction, is kept
        exactly, the best ranked.
    """

    has_automatic_count: ClassVar[bool] = True

    n_features_to_select: int | float | Literal["auto"] = "auto"

    @abstractmethod
    def _automatic_support(self) -> Support:
        """Return the columns the selector keeps by its own rule, after scoring."""

    @property
    def _is_automatic(self) -> bool:
        """Whether the selector is to find the number of columns."""
        wanted = self.n_features_to_select
        return isinstance(wanted, str) and wanted == "auto"

    def _choose_columns(self, count: int) -> Support:
        """Return the columns to keep, after scoring."""
        if self._is_automatic:
            return self._automatic_support()
        return super()._choose_columns(count)

    def _count_to_select(self, n_features: int) -> int:
        """Return how many columns to keep at the most."""
        if self._is_automatic:
            return n_features
        return super()._count_to_select(n_features)


def standardised(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a copy with mean 0 and standard deviation 1 along the rows.

    Columns that do not vary become 0. Float32 stays float32: statistics are summed in
    float64.
    """
    is_constant = values.max(axis=0) == values.min(axis=0)
    mean = values.mean(axis=0, dtype=np.float64)
    centred: npt.NDArray[Any] = values - mean.astype(values.dtype)
    spread = np.sqrt(np.mean(np.square(centred), axis=0, dtype=np.float64))
    spread = np.where(is_constant | (spread == 0), np.inf, spread)
    centred /= spread.astype(values.dtype)
    return centred


def require(module: str, selector: str) -> ModuleType:
    """Import a package of the extra `lab`, or say what to install."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise ImportError(
            f"{selector} needs the package {package!r}, which could not be imported "
            f"({error}). Install it with: pip install 'featuresieve[lab]'"
        ) from error


def held_out_rows(
    y: npt.NDArray[Any], task: Task, fraction: float, seed: int
) -> npt.NDArray[np.bool_]:
    """Mark the rows to set aside: every class in proportion, none used up.

    Rows are shuffled, put in the order of their classes, and one is taken after each
    ``1 / fraction``, which is at least 2. The only row of a class is never taken; where
    no row can be spared, none is.
    """
    check_number("validation_fraction", fraction, low=0.0, below=1.0)
    generator = np.random.default_rng(seed)
    order = generator.permutation(len(y))
    if task == "classification":
        order = order[np.argsort(y[order], kind="stable")]
    counts = np.floor((np.arange(len(y)) + generator.random()) * fraction)
    is_held_out = np.zeros(len(y), dtype=np.bool_)
    is_held_out[order[1:][np.diff(counts) > 0]] = True
    if task == "classification":
        is_held_out &= np.bincount(y)[y] > 1
    return is_held_out
