"""What the classifier and the regressor share: search, selector, predictor."""

import time
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, is_classifier
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from featuresieve.engine import (
    Predictor,
    Ranks,
    Training,
    explain_out_of_memory,
    joined_ranks,
    resolve_threads,
    torch_defaults,
)
from featuresieve.errors import as_called, draw_seed
from featuresieve.estimators._arguments import (
    IN_TRAINING,
    TRAINING_ARGUMENTS,
    check_judge,
    checked_training,
    count_limits_from,
    named,
    settings_from,
)
from featuresieve.estimators._attributes import learned_attributes
from featuresieve.estimators._folds import digest_of, folds_of
from featuresieve.estimators._kept_columns import KeptColumns
from featuresieve.estimators._notes import notes_about, warn_about
from featuresieve.estimators._other_sizes import OtherSizes
from featuresieve.estimators._persistence import Persistence
from featuresieve.estimators._shown import Shown
from featuresieve.estimators._streams import rows_of_fit
from featuresieve.monitoring import CallbackSupportMixin, FitRun, with_callbacks
from featuresieve.problem import (
    ClassEncoder,
    CountLimits,
    EncodedProblem,
    SampleWeights,
    Target,
    ValueScaler,
    class_target,
    constraints_from,
    encode_problem,
    row_group_codes,
    row_weights,
    value_target,
)
from featuresieve.search import FixedMaskRun, find_support, train_predictor
from featuresieve.tables import read_table, with_known_names

# Encoded tables up to this size stay with a fitted estimator, for `with_size`.
_MOST_BYTES_KEPT = 2**28


class AutoNFS(
    CallbackSupportMixin,
    KeptColumns,
    OtherSizes,
    Persistence,
    Shown,
    SelectorMixin,
    BaseEstimator,
):
    """The common part of the two estimators; see `AutoNFSClassifier`."""

    @as_called(IN_TRAINING)
    def __init__(
        self,
        balance: float | str = "auto",
        *,
        n_features_to_select: int | float | None = None,
        min_features_to_select: int = 1,
        max_features: int | float | None = None,
        feature_groups: Any = None,
        always_keep: Any = None,
        never_keep: Any = None,
        feature_costs: Any = None,
        class_weight: Any = None,
        goal: str = "minimal",
        judge: Any = "networks",
        cv: Any = None,
        tolerance: float = 0.0,
        max_time: float | None = None,
        checkpoint: Any = None,
        verbose: bool | int = 0,
        device: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        training: Training | None = None,
    ) -> None:
        self.balance = balance
        self.n_features_to_select = n_features_to_select
        self.min_features_to_select = min_features_to_select
        self.max_features = max_features
        self.feature_groups = feature_groups
        self.always_keep = always_keep
        self.never_keep = never_keep
        self.feature_costs = feature_costs
        self.class_weight = class_weight
        self.goal = goal
        self.judge = judge
        self.cv = cv
        self.tolerance = tolerance
        self.max_time = max_time
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.training = training

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
            Arguments of the constructor, or of `Training`, that replace these.

        Returns
        -------
        estimator
        """
        published: dict[str, Any] = {
            "balance": 1.0,
            "training": Training(
                n_members=1,
                n_epochs=150,
                scaling="standard",
                batch_size=32,
                gate_rows="shared",
                penalty_ramp=0.0,
                task_learning_rate=3e-4,
                temperature_decay=0.997,
            ),
        }
        inner = {n: overrides.pop(n) for n in TRAINING_ARGUMENTS if n in overrides}
        arguments = published | overrides
        if inner:
            training = arguments["training"] or Training()
            arguments["training"] = replace(training, **inner)
        return cls(**arguments)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the arguments of the constructor.

        Parameters
        ----------
        deep : bool, default=True
            Whether to add those of `training`, as ``training__noise`` and so on; None
            has the defaults of `Training`.

        Returns
        -------
        dict
        """
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep and self.training is None:
            defaults = Training().get_params()
            params |= {f"training__{name}": value for name, value in defaults.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set arguments of the constructor, and of `training`.

        Parameters
        ----------
        **params
            New values; ``training__noise`` is `noise` of `training`, which becomes a
            `Training` if it is None.

        Returns
        -------
        self
        """
        for name in params.keys() & {*TRAINING_ARGUMENTS}:
            raise ValueError(
                f"Invalid parameter {name!r} for estimator {self}; did you mean "
                f"'training__{name}'?"
            )
        is_inner = any(name.startswith("training__") for name in params)
        if is_inner and params.get("training", self.training) is None:
            params = {**params, "training": Training()}
        return super().set_params(**params)  # type: ignore[no-any-return]

    @as_called(IN_TRAINING)
    def fit(
        self, X: Any, y: Any, *, sample_weight: Any = None, groups: Any = None
    ) -> Self:
        """Select features and train the predictor on them.

        Parameters
        ----------
        X : table of shape (n_samples, n_features) or stream
            A data frame of pandas, polars or pyarrow, an array, a scipy sparse matrix
            or a tensor. Numbers, booleans, dates, categories and strings; missing
            values are allowed, infinite ones are not. What does not fit into memory:
            a `Stream`, or what makes one, such as the path of Parquet files.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), or str
            Class labels, or a matrix of zeros and ones with one column a label; real
            values, in one column or several. Of a stream, the name of the column, and
            so for the next two.
        sample_weight : array-like of shape (n_samples,), default=None
            How many rows a row stands for.
        groups : array-like of shape (n_samples,), default=None
            Labels of rows that belong together, as scikit-learn's splitters take them:
            several of one patient, near-copies of one sample. They stay on one side of
            every split, and count as one where errors and prices are computed.

        Returns
        -------
        self
        """
        before = vars(self).copy()
        try:
            with joined_ranks() as ranks:
                work = self._fit(ranks, X, y, sample_weight, groups)
            if ranks.is_first:
                warn_about(self.notes_)
        except BaseException:  # also an interrupt: what was there before stays
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        work.remove_checkpoint()
        return self

    @with_callbacks  # type: ignore[untyped-decorator]
    def _fit(
        self, ranks: Ranks, X: Any, y: Any, sample_weight: Any, groups: Any
    ) -> FitRun:
        """Do what `fit` says; attributes are set at the end."""
        started = time.monotonic()
        params = self.get_params(deep=False)
        settings = replace(settings_from(params), ranks=ranks)
        check_judge(self.judge, needs_probabilities=is_classifier(self))
        seed = draw_seed(self.random_state)  # refuse a wrong one before the work
        taken = rows_of_fit(self, X, y, sample_weight, groups, seed, ranks)
        X, y, sample_weight, groups, notes = taken
        table = read_table(X)
        prepared, target, limits = self._prepare(X, y, sample_weight, groups, table)
        codes = row_group_codes(groups, len(target.values))
        splits = folds_of(self.cv, prepared, target, codes)
        work = FitRun(
            self,
            # The judge's own arguments, too, may be others: it has no part before.
            params | {"cv": digest_of(splits), "judge": named(self.judge)},
            prepared.problem,
            device=settings.device,
            limits=limits,
            seed=seed,
            started=started,
            data={"X": X, "y": y, "sample_weight": sample_weight, "groups": groups},
            ranks=ranks,
        )
        with torch_defaults(), explain_out_of_memory(settings.device):
            result = find_support(
                prepared.problem,
                settings,
                limits,
                work,
                balance=self.balance,
                tolerance=self.tolerance,
                goal=self.goal,  # type: ignore[arg-type]
                judge=self.judge,
                splits=splits,
            )
            run = train_predictor(
                prepared.problem,
                settings,
                np.flatnonzero(result.support),
                result.predictor_share,
                work,
                is_auto=self.balance == "auto",
            )
        self.__dict__.update(learned_attributes(result, prepared, settings.n_threads))
        self._keep_predictor(prepared, target.code, run)
        self._seed = work.seed
        is_small = prepared.problem.n_bytes <= _MOST_BYTES_KEPT
        self._prepared = prepared if is_small else None
        is_cut_short = result.is_cut_short or run.is_cut_short
        self.notes_ = notes_about(self, result, prepared, table, is_cut_short)
        self.notes_ += notes
        self._all_columns = None if result.evidence is None else result.evidence.whole
        work.end_fit()
        return work

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, groups: Any = None, table: Any = None
    ) -> tuple[EncodedProblem, Target, CountLimits]:
        """Check the data and encode them; sets the attributes that name columns."""
        params = self.get_params(deep=False)
        table = read_table(X) if table is None else table
        validate_data(self, with_known_names(X), y, skip_check_array=True)
        self._labels = table.labels
        if table.n_rows < 2:
            raise ValueError(
                "Found array with 1 sample(s) while a minimum of 2 is required."
            )
        constraints = constraints_from(
            params, table.names or table.labels, table.n_features
        )
        limits = count_limits_from(params, table.n_features)
        constraints.check_limits(limits)
        table.leave_out_(np.flatnonzero(constraints.is_dropped))
        training = checked_training(self.training)
        # Ranks of columns and a compressed target go together: standard is plain.
        may_compress = training.scaling == "normal_scores"
        weights, target = self._read_target(
            y, sample_weight, table.n_rows, may_compress
        )
        prepared = encode_problem(
            table,
            target,
            weights,
            constraints,
            scaling=training.scaling,
            max_categories=training.max_categories,
            row_groups=row_group_codes(groups, table.n_rows),
            # A balance that is given is the published search; all that carries
            # information is also what a copy carries.
            has_constants=not isinstance(self.balance, str),
            has_copies=not isinstance(self.balance, str) or self.goal != "minimal",
            n_threads=resolve_threads(self.n_jobs),
        )
        return prepared, target, limits

    def _keep_predictor(
        self,
        prepared: EncodedProblem,
        code: ClassEncoder | ValueScaler,
        run: FixedMaskRun,
    ) -> None:
        """Set the attributes that predictions are made from."""
        self._target_code = code
        if isinstance(code, ClassEncoder):
            self.classes_ = code.classes
        kept = prepared.units.take(prepared.gates_of(self.support_))
        self._encoder = prepared.encoder.take(kept.features)
        self._predictor = Predictor.of(run.task, prepared.problem.n_outputs)
        self._task_network = getattr(self.training, "task_network", None)

    def _read_target(
        self, y: Any, sample_weight: Any, n_rows: int, may_compress: bool
    ) -> tuple[SampleWeights, Target]:
        """Return the encoded target and the weights of the rows."""
        if is_classifier(self):
            target = class_target(y, n_rows)
            labels = target.values
            if target.task == "classification":
                assert isinstance(target.code, ClassEncoder)
                labels = target.code.classes[target.values]
            weights = row_weights(sample_weight, self.class_weight, labels, n_rows)
            if len(np.unique(target.values[weights.rows])) < 2:
                raise ValueError(
                    "sample_weight and class_weight must leave at least 2 classes."
                )
            return weights, target
        weights = row_weights(sample_weight, self.class_weight, None, n_rows)
        target = value_target(y, n_rows, weights.by_row, may_compress=may_compress)
        return weights, target

    def _network_outputs(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the outputs of the predictor networks, (members, rows, outputs)."""
        table = self._read(X)
        encoded = self._encoder.transform(table)
        return self._predictor.outputs(encoded, self._task_network)

    def __sklearn_tags__(self) -> Tags:
        """Say what input the estimator takes."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
