"""What the classifier and the regressor share: search, selector, predictor."""

import time
import warnings
from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, is_classifier
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from featuresieve._arguments import bounds_from, draw_seed, settings_from
from featuresieve._balance_path import (
    BalanceSearch,
    Bounds,
    SearchResult,
    fit_at_balance,
    single_balance,
)
from featuresieve._columns import (
    ColumnScaler,
    Float32Array,
    IndexArray,
    canonical_order,
)
from featuresieve._exceptions import (
    SelectionCollapseWarning,
    TimeBudgetWarning,
    UninformativeTargetWarning,
)
from featuresieve._predictor import Predictor
from featuresieve._problem import Problem
from featuresieve._refit import REFIT_SHARE
from featuresieve._settings import Settings
from featuresieve._stacks import PlainRun, train_plain
from featuresieve._surroundings import own_surroundings

# Networks whose predictions are averaged.
_N_PREDICTORS = 2
# Their learning rate where `task_learning_rate` was set for a search of the user's own.
_PREDICTOR_RATE = 2e-3


class AutoNFS(SelectorMixin, BaseEstimator):
    """The common part of the two estimators; see `AutoNFSClassifier`."""

    def __init__(
        self,
        balance: float | str = "auto",
        *,
        n_features_to_select: int | None = None,
        min_features_to_select: int = 1,
        max_features: int | None = None,
        tolerance: float = 0.01,
        n_members: int = 4,
        gate_rows: str = "held_out",
        n_epochs: int | None = None,
        batch_size: int | None = None,
        hidden_sizes: tuple[int, ...] = (32, 32),
        embedding_size: int = 32,
        task_network: Any = None,
        penalty: str = "fraction",
        target_count: float = 2.0,
        penalty_ramp: float = 0.3,
        noise: str = "gumbel",
        reduction: str = "mean",
        decision: str = "threshold",
        start_temperature: float = 2.0,
        temperature_decay: float | None = None,
        mask_learning_rate: float = 4e-3,
        task_learning_rate: float = 2e-3,
        mask_init: str = "zeros",
        train_embedding: bool = True,
        scaling: str = "normal_scores",
        max_time: float | None = None,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.balance = balance
        self.n_features_to_select = n_features_to_select
        self.min_features_to_select = min_features_to_select
        self.max_features = max_features
        self.tolerance = tolerance
        self.n_members = n_members
        self.gate_rows = gate_rows
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.hidden_sizes = hidden_sizes
        self.embedding_size = embedding_size
        self.task_network = task_network
        self.penalty = penalty
        self.target_count = target_count
        self.penalty_ramp = penalty_ramp
        self.noise = noise
        self.reduction = reduction
        self.decision = decision
        self.start_temperature = start_temperature
        self.temperature_decay = temperature_decay
        self.mask_learning_rate = mask_learning_rate
        self.task_learning_rate = task_learning_rate
        self.mask_init = mask_init
        self.train_embedding = train_embedding
        self.scaling = scaling
        self.max_time = max_time
        self.device = device
        self.random_state = random_state

    @classmethod
    def as_published(cls, **overrides: Any) -> Self:
        """Build the estimator with the paper's literal setting.

        λ = 1 on the kept fraction, one network, the same rows for gates and task
        network, no penalty ramp, learning rates 4e-3 and 3e-4, temperature 2.0 × 0.997
        per epoch, standardised columns. Epochs and batch size, which the paper tunes,
        are 150 and 32.

        Parameters
        ----------
        **overrides
            Arguments of the constructor that replace these.

        Returns
        -------
        estimator
        """
        published: dict[str, Any] = {
            "balance": 1.0,
            "n_members": 1,
            "gate_rows": "shared",
            "penalty_ramp": 0.0,
            "task_learning_rate": 3e-4,
            "temperature_decay": 0.997,
            "n_epochs": 150,
            "batch_size": 32,
            "scaling": "standard",
        }
        return cls(**(published | overrides))

    def fit(self, X: Any, y: Any) -> Self:
        """Select features and train the predictor on them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers.
        y : array-like of shape (n_samples,)
            Class labels or real values.

        Returns
        -------
        self
        """
        started = time.monotonic()
        settings = settings_from(self.get_params(deep=False))
        X, y = self._validate(X, y)
        bounds = bounds_from(self.get_params(deep=False), X.shape[1])
        seed = draw_seed(self.random_state)
        scaler = ColumnScaler.fit(X, self.scaling)  # type: ignore[arg-type]
        encoded = scaler.transform(X)
        order = canonical_order(encoded)
        targets, n_outputs, learned = self._encode_target(y)
        features = np.take(encoded, order, axis=1)  # by rows, as batches are read
        problem = Problem(features, targets, n_outputs, is_classifier(self))
        del encoded
        deadline = None if self.max_time is None else started + self.max_time
        with own_surroundings():
            result = self._search(problem, settings, bounds, seed, started)
            run = self._train_predictor(problem, settings, result, seed, deadline)
        is_cut_short = result.is_cut_short or run.is_cut_short
        for name, value in learned.items():
            setattr(self, name, value)
        self._store(result, order)
        kept = order[result.support]  # in the order the predictor knows them
        self._kept_columns, self._scaler = kept, scaler.take(kept)
        self._predictor = Predictor.of(run.task, n_outputs)
        self._task_network = self.task_network
        self._warn(result, is_cut_short)
        return self

    def _validate(self, X: Any, y: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return X and y as arrays, or say what is wrong with them."""
        X, y = validate_data(
            self,
            X,
            y,
            dtype=(np.float64, np.float32),
            ensure_min_samples=2,
            y_numeric=not is_classifier(self),
        )
        return X, y

    @abstractmethod
    def _encode_target(
        self, y: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[np.int64] | Float32Array, int, dict[str, Any]]:
        """Return the target the networks learn, its outputs, and what was learnt of it.

        The last are attributes to set once the fit has succeeded.
        """

    def _search(
        self,
        problem: Problem,
        settings: Settings,
        bounds: Bounds,
        seed: int,
        started: float,
    ) -> SearchResult:
        """Run the search that `balance` asks for."""
        if isinstance(self.balance, str) and self.balance == "auto":
            return BalanceSearch(
                problem,
                settings,
                bounds,
                tolerance=self.tolerance,
                seed=seed,
                started=started,
                max_time=self.max_time,
            ).run()
        if isinstance(self.balance, str):
            balance = single_balance(problem, settings)
        else:
            balance = float(self.balance)
        deadline = None
        if self.max_time is not None:
            deadline = started + 0.8 * self.max_time
        return fit_at_balance(
            problem, settings, balance, bounds, seed=seed, deadline=deadline
        )

    def _train_predictor(
        self,
        problem: Problem,
        settings: Settings,
        result: SearchResult,
        seed: int,
        deadline: float | None,
    ) -> PlainRun:
        """Refit the networks on the kept columns and all rows.

        As long as was best for the chosen candidate; without candidates, half as long
        as an automatic search, whatever `n_epochs` says of the gates.
        """
        if self.balance != "auto":
            settings = replace(
                settings, n_epochs=None, task_learning_rate=_PREDICTOR_RATE
            )
        narrow = problem.take(np.flatnonzero(result.support))
        share = REFIT_SHARE * result.predictor_share
        return train_plain(
            narrow,
            settings,
            [np.arange(narrow.n_columns)] * _N_PREDICTORS,
            settings.schedule(narrow.n_rows, narrow.n_columns, _N_PREDICTORS, share),
            seed=seed + 2,
            deadline=deadline,
        )

    def _store(self, result: SearchResult, order: IndexArray) -> None:
        """Set the learned attributes, in the user's order of columns."""
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        at_balance = result.balance_index
        votes = result.votes
        self.support_ = result.support[back]
        self.n_features_selected_ = int(self.support_.sum())
        self.logits_ = votes.logits[at_balance].mean(axis=0, dtype=np.float64)[back]
        self.selection_frequency_ = votes.frequency()[at_balance][back]
        ranking = np.empty(len(order), dtype=np.int64)
        ranking[order[votes.ranked()]] = np.arange(1, len(order) + 1)
        self.ranking_ = ranking
        self.balance_ = float(result.balances[at_balance])
        self.path_ = np.array(
            [
                (row.balance, row.n_kept, row.loss, row.loss_error, row.is_chosen)
                for row in result.path
            ],
            dtype=[
                ("balance", np.float64),
                ("n_kept", np.int64),
                ("loss", np.float64),
                ("loss_error", np.float64),
                ("is_chosen", np.bool_),
            ],
        )
        self.history_ = self._history_of(result, back)

    @staticmethod
    def _history_of(
        result: SearchResult, back: IndexArray
    ) -> dict[str, npt.NDArray[Any]]:
        """Return what training recorded, by name."""
        history, n_balances = result.history, len(result.balances)
        n_members = len(history.task_loss[0]) // n_balances
        own = slice(
            result.balance_index * n_members, (result.balance_index + 1) * n_members
        )
        gates = [1.0 / (1.0 + np.exp(-logits[own])) for logits in history.logits]
        return {
            "step": np.array(history.step),
            "temperature": np.array(history.temperature),
            "balance": np.repeat(result.balances, n_members),
            "task_loss": np.array(history.task_loss),
            "penalty": np.array(history.penalty),
            "n_kept": np.array([(logits > 0).sum(axis=1) for logits in history.logits]),
            "gates": np.array([gate.mean(axis=0)[back] for gate in gates]),
        }

    def _warn(self, result: SearchResult, is_cut_short: bool) -> None:
        """Tell the user what is doubtful about the answer."""
        n_kept = self.n_features_selected_
        if result.is_uninformative:
            warnings.warn(
                "no set of columns predicted held-out targets better than a constant: "
                f"the {n_kept} best ranked of {len(self.support_)} columns were kept, "
                "but there is no evidence that they are related to y.",
                UninformativeTargetWarning,
                stacklevel=3,
            )
        elif result.is_collapsed and self.n_features_to_select is None:
            advice = "" if self.balance == "auto" else " Lower balance, or use 'auto'."
            warnings.warn(
                f"no column cleared the threshold at balance={self.balance_:g}: the "
                f"{n_kept} best ranked were kept.{advice}",
                SelectionCollapseWarning,
                stacklevel=3,
            )
        if is_cut_short:
            warnings.warn(
                f"max_time={self.max_time!r} seconds shortened the training.",
                TimeBudgetWarning,
                stacklevel=3,
            )

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        """Return the mask `SelectorMixin` works with."""
        check_is_fitted(self)
        return self.support_

    def _network_outputs(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the outputs of the predictor networks, (members, rows, outputs)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=(np.float64, np.float32), reset=False)
        encoded = self._scaler.transform(X[:, self._kept_columns])
        return self._predictor.outputs(encoded, self._task_network)

    def feature_table(self) -> Any:
        """Return one row per feature, best ranked first.

        Returns
        -------
        pandas.DataFrame
            With columns name, kept, logit, frequency, rank. Without pandas, a numpy
            structured array with these fields.
        """
        check_is_fitted(self)
        n_features = len(self.support_)
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = np.array([f"x{j}" for j in range(n_features)])
        columns = {
            "name": np.asarray(names, dtype=str),
            "kept": self.support_,
            "logit": self.logits_,
            "frequency": self.selection_frequency_,
            "rank": self.ranking_,
        }
        fields = [(name, values.dtype) for name, values in columns.items()]
        table = np.empty(n_features, dtype=fields)
        for name, values in columns.items():
            table[name] = values
        table = table[np.argsort(self.ranking_)]
        try:
            import pandas as pd
        except ImportError:
            return table
        return pd.DataFrame(table)

    def __sklearn_tags__(self) -> Tags:
        """Say what input the estimator takes."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
