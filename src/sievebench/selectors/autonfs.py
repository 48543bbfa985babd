"""AutoNFS: this project's own estimators, among the other selectors."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from featuresieve import (
    AutoNFSClassifier,
    AutoNFSRegressor,
    SelectionCollapseWarning,
    UninformativeTargetWarning,
)
from featuresieve.errors import check_choice
from sievebench.search_space import Choice, SearchSpace
from sievebench.selectors._scored_selector import (
    AutomaticSelector,
    FitData,
    Scores,
    Support,
)

_OF_TRAINING = (
    *("n_members", "n_epochs", "penalty", "batch_size", "temperature_decay"),
    *("mask_learning_rate", "task_learning_rate"),
)
_PASSED_ON = ("balance", "max_time", "device", *_OF_TRAINING)
# How the estimators choose; another name wherever that changes, so that records tell.
RULE = "votes"
# The share of members that must keep a column at a balance that is a number.
_MAJORITY = 0.5


@dataclass(kw_only=True, eq=False, repr=False)
class AutoNFS(AutomaticSelector):
    """Select with `featuresieve.AutoNFSClassifier` or `AutoNFSRegressor`.

    Parameters
    ----------
    setting : {"default", "published"}, default="default"
        The estimators' own defaults, or the literal setting of the paper (their
        `as_published`).
    balance, penalty, n_members, n_epochs, batch_size, temperature_decay, \
mask_learning_rate, task_learning_rate : default=None
        Arguments of the estimators, or of their `Training`; None leaves them as in
        `setting`.
    max_time : float or None, default=None
        Seconds a fit may take.
    device : str, default="auto"
        "auto" takes CUDA, then MPS, then the CPU.
    may_be_empty : bool, default=False
        Whether nothing is kept where no column clears the threshold, instead of the
        best ranked; for a balance that is a number.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The number of columns that AutoNFS ranks behind this one.
    estimator_ : AutoNFSClassifier or AutoNFSRegressor
        The fitted estimator.

    Notes
    -----
    The warnings of the estimators about a collapsed selection and an uninformative
    target are not passed on: the columns they stand for are kept all the same, unless
    `may_be_empty`.

    References
    ----------
    W. Wydmański and M. Śmieja, "AutoNFS: Automatic Neural Feature Selection".
    """

    example: ClassVar[Mapping[str, Any]] = {"balance": "price"}
    # The paper's space, meant for setting="published".
    space: ClassVar[SearchSpace] = {
        "temperature_decay": Choice((0.995, 0.997, 0.999)),
        "n_epochs": Choice((10, 20, 50, 100, 200, 300, 400)),
        "batch_size": Choice((32, 64, 128)),
        "penalty": Choice(("fraction", "target")),
    }

    setting: Literal["default", "published"] = "default"
    balance: float | str | None = None
    penalty: str | None = None
    n_members: int | None = None
    n_epochs: int | None = None
    batch_size: int | None = None
    temperature_decay: float | None = None
    mask_learning_rate: float | None = None
    task_learning_rate: float | None = None
    max_time: float | None = None
    device: str = "auto"
    may_be_empty: bool = False

    def _score_columns(self, data: FitData) -> Scores:
        X, y = data.X, data.y
        kind = AutoNFSRegressor if data.is_regression else AutoNFSClassifier
        check_choice("setting", self.setting, ("default", "published"))
        build = kind.as_published if self.setting == "published" else kind
        given = {name: getattr(self, name) for name in _PASSED_ON}
        count = None if self._is_automatic else self._count_to_select(X.shape[1])
        self.estimator_ = build(n_features_to_select=count, random_state=data.seed)
        self.estimator_.set_params(
            **{
                f"training__{name}" if name in _OF_TRAINING else name: value
                for name, value in given.items()
                if value is not None
            }
        )
        if self.may_be_empty and not isinstance(self.estimator_.balance, Real):
            raise ValueError(
                "may_be_empty needs a balance that is a number, "
                f"got {self.estimator_.balance!r}."
            )
        with warnings.catch_warnings():
            for category in (SelectionCollapseWarning, UninformativeTargetWarning):
                warnings.simplefilter("ignore", category)
            self.estimator_.fit(X, y)
        rank = np.argsort(self.estimator_.order_)
        return np.asarray(X.shape[1] - 1 - rank, dtype=np.float64)

    def decision(self) -> dict[str, Any]:
        """Return what explains the choice: votes, path, balance, notes, arguments.

        The constants of the rule are those of the commit, which the record names.

        Returns
        -------
        dict
        """
        fitted = self.estimator_
        path = fitted.path_
        return {
            "rule": RULE,
            "n_members": int(fitted.history_["n_kept"].shape[1]),
            "frequency": fitted.selection_frequency_.round(4).tolist(),
            # What a fit warned of; warnings themselves mix between threads.
            "notes": list(getattr(fitted, "notes_", ())),
            # A loss that was not judged is NaN, which JSON does not have.
            "path": [
                {
                    name: None if value != value else value
                    for name, value in zip(path.dtype.names, row, strict=True)
                }
                for row in path.tolist()
            ],
            "balance": float(fitted.balance_),
            "arguments": {
                name: repr(value) for name, value in fitted.get_params().items()
            },
        }

    def _automatic_support(self) -> Support:
        support = np.asarray(self.estimator_.support_)
        # By the vote of the members: warnings cannot be told apart between threads.
        is_collapsed = self.estimator_.selection_frequency_.max() < _MAJORITY
        if self.may_be_empty and is_collapsed:
            return np.zeros_like(support)
        return support
