"""Another number of features from the votes and losses of a fit, without another."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from featuresieve.engine import explain_out_of_memory, torch_defaults
from featuresieve.errors import as_called, check_count_or_share, draw_seed
from featuresieve.estimators._arguments import count_limits_from, settings_from
from featuresieve.estimators._notes import ABOUT_DATA, about_copies
from featuresieve.estimators._streams import rows_of_fit
from featuresieve.estimators._verdicts import judged_features
from featuresieve.problem import BoolArray, constraints_from
from featuresieve.search import Judgement, Settings, Unwatched, fill, train_predictor
from featuresieve.storage import kept_attributes
from featuresieve.tables import read_table

# Learned attributes that do not depend on how many features are kept.
_SHARED = (
    *("n_features_in_", "feature_names_in_", "logits_", "selection_frequency_"),
    *("feature_importances_", "balance_", "history_", "_judgement", "_labels"),
    *("_importance", "_all_columns"),
)


class OtherSizes:
    """What an estimator inherits to answer again without another search."""

    @as_called()
    def with_size(
        self: Any,
        n_features: int | float,
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: Any = None,
    ) -> Any:
        """Return a fitted copy that keeps another number of features.

        The best ranked of this fit, as a fit with ``n_features_to_select=n_features``
        would keep: the votes are there, only the predictor is trained again.

        Parameters
        ----------
        n_features : int or float
            How many, or which share of all.
        X, y : default=None
            The data of the fit, to train the predictor on. An estimator that comes
            straight from `fit` still has them, unless they were large (more than
            256 MiB encoded); one from a file or a pickle does not.
        sample_weight : array-like of shape (n_samples,), default=None
            That of the fit, with X and y.

        Returns
        -------
        estimator
            With `n_features_to_select` set. `logits_`, `selection_frequency_`,
            `balance_` and `history_` are those of this fit.
        """
        check_is_fitted(self)
        check_count_or_share("n_features", n_features)
        other = clone(self).set_params(n_features_to_select=n_features, goal="minimal")
        params = other.get_params(deep=False)
        settings = settings_from(params)
        support = support_of_size(self, params)
        other.notes_ = [note for note in self.notes_ if note["code"] in ABOUT_DATA]
        path = _path_of_size(self, int(support.sum()))
        data = (X, y, sample_weight)
        self._resized(other, settings, support, path, 1.0, data)
        other.notes_ += about_copies(other)
        return other

    @as_called()
    def with_tolerance(
        self: Any,
        tolerance: float,
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: Any = None,
    ) -> Any:
        """Return a fitted copy that gives up more, or less, for a smaller set.

        What a fit with this `tolerance` would keep: the held-out losses of the
        candidate sets are there, only the predictor is trained again.

        Parameters
        ----------
        tolerance : float
            As in the constructor.
        X, y : default=None
            As in `with_size`.
        sample_weight : array-like of shape (n_samples,), default=None
            As in `with_size`.

        Returns
        -------
        estimator
            With `tolerance` set, and `n_features_to_select` None. `logits_`,
            `selection_frequency_`, `balance_` and `history_` are those of this fit.
        """
        check_is_fitted(self)
        other = clone(self).set_params(tolerance=tolerance, n_features_to_select=None)
        judgement = judgement_of(self)
        settings = settings_from(other.get_params(deep=False))
        other.notes_ = list(self.notes_)
        chosen = judgement.choose(tolerance)
        support, share = judgement.sets[chosen], float(judgement.best_share[chosen])
        path = _judged(self.path_)
        path["is_chosen"][chosen] = True
        data = (X, y, sample_weight)
        return self._resized(other, settings, support, path, share, data)

    def _resized(
        self: Any,
        other: Any,
        settings: Settings,
        support: BoolArray,
        path: Any,
        share: float,
        data: tuple[Any, Any, Any],
    ) -> Any:
        """Give `other` what this one learnt, another support, and its predictor."""
        code, prepared, seed = self._target_code, self._prepared, self._seed
        if seed is None:  # of a file of version 1
            seed = draw_seed(other.random_state)
        if data[0] is not None:
            rows = rows_of_fit(other, *data, None, seed)
            self._check_columns(rows.X, read_table(rows.X))
            prepared, target, _ = other._prepare(rows.X, rows.y, rows.sample_weight)
            code = target.code
        if prepared is None:
            raise ValueError(
                "the data of the fit are not there any more: the estimator comes from "
                "a file or a pickle, or the table was large. Pass X and y too, to "
                "train the predictor on."
            )
        with torch_defaults(), explain_out_of_memory(settings.device):
            run = train_predictor(
                prepared.problem,
                settings,
                prepared.gates_of(support),
                share,
                Unwatched(seed, other.max_time),
                is_auto=other.balance == "auto",
            )
        learned = {n: value for n, value in vars(self).items() if n in _SHARED}
        learned |= kept_attributes(support, self.order_)
        learned |= judged_features(prepared, support, self.selection_frequency_)
        vars(other).update(learned)
        other.path_, other._prepared, other._seed = path, prepared, seed
        other._keep_predictor(prepared, code, run)
        return other


def support_of_size(estimator: Any, params: Mapping[str, Any]) -> BoolArray:
    """Return the best ranked features that `n_features_to_select` of `params` wants."""
    n_features = len(estimator.support_)
    names = getattr(estimator, "feature_names_in_", estimator._labels)
    constraints = constraints_from(
        params, None if names is None else list(names), n_features
    )
    limits = count_limits_from(params, n_features)
    constraints.check_limits(limits)
    assert limits.exactly is not None
    units = constraints.units()
    gates = constraints.gates(units)
    rank = np.argsort(estimator.order_)  # 0 is the best
    best = np.array([rank[unit].min() for unit in units])
    ranked = np.lexsort((best, ~gates.is_forced))  # the last key counts first
    support = np.zeros(n_features, dtype=bool)
    for gate in fill(ranked, gates, limits.exactly):
        support[units[gate]] = True
    return support


def judgement_of(estimator: Any) -> Judgement:
    """Return what the refits of a fit showed, or say why there is nothing."""
    judgement = estimator._judgement
    if estimator.goal != "minimal":
        raise ValueError(
            "with_tolerance needs a fit with goal='minimal', got "
            f"goal={estimator.goal!r}."
        )
    if judgement is None:
        raise ValueError(
            "with_tolerance needs held-out losses of candidate sets, and this fit has "
            "none: they come with balance='auto' and n_features_to_select=None, and "
            "files of version 1 do not hold them."
        )
    assert isinstance(judgement, Judgement)
    return judgement


def _path_of_size(estimator: Any, n_kept: int) -> Any:
    """Return the judged candidates, and the size that was asked for, without a loss."""
    row = estimator.path_[estimator.path_["is_chosen"]].copy()
    row["n_kept"], row["loss"], row["loss_error"] = n_kept, np.nan, np.nan
    path = np.concatenate([_judged(estimator.path_), row])
    return path[np.argsort(path["n_kept"], kind="stable")]


def _judged(path: Any) -> Any:
    """Return the rows of a path that have a loss, none of them chosen."""
    judged = path[np.isfinite(path["loss"])]
    judged["is_chosen"] = False
    return judged
