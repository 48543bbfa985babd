"""Tables that are read batch by batch: the rows of a fit, and answers for all rows."""

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from featuresieve import files  # the parts that need pyarrow, when they are used
from featuresieve.engine import Ranks, Training
from featuresieve.errors import as_called, listed, shown
from featuresieve.estimators._notes import Note, as_note
from featuresieve.files import Stream, as_stream, take_array_rows
from featuresieve.problem import ClassEncoder
from featuresieve.process import show_status
from featuresieve.tables import plain_array, read_table

Predict = Callable[[Any, Any], npt.NDArray[Any]]

_BLOCK_ROWS = 1 << 16


class FitRows(NamedTuple):
    """The rows that a fit learns from, as `fit` takes them, and notes on them."""

    X: Any
    y: Any
    sample_weight: Any = None
    groups: Any = None
    notes: Sequence[Note] = ()


def rows_of_fit(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    groups: Any,
    seed: int,
    ranks: Ranks | None = None,
) -> FitRows:
    """Return what was passed to `fit`; of a stream a sample, if it is too large.

    Ranks read parts of Parquet files, and have the same sample then.
    """
    stream = as_stream(X, is_named=isinstance(y, str))
    if stream is None:
        return FitRows(X, y, sample_weight, groups)
    # A checkpoint is of the same rows, also where each fit has another seed.
    seed = 0 if estimator.random_state is None else seed
    if stream.is_array:
        return _array_rows(estimator, stream, y, sample_weight, groups, seed)
    special = {"y": y, "sample_weight": sample_weight, "groups": groups}
    for argument, name in special.items():
        if not isinstance(name, str) and (name is not None or argument == "y"):
            raise TypeError(
                f"{argument} must be the name of a column where X is a stream, got "
                f"{shown(name)}; where it holds values, X must be in memory."
            )
    is_told = estimator.verbose and (ranks is None or ranks.is_first)
    taken = files.take_rows(
        stream.open(),
        y,
        memory=stream.n_bytes,
        weight=sample_weight,
        groups=groups,
        seed=seed,
        has_classes=is_classifier(estimator),
        max_categories=(estimator.training or Training()).max_categories,
        readers=ranks if ranks and ranks.size > 1 else None,
        say=(lambda n: show_status(f"featuresieve: reading, {n:,} rows"))
        if is_told
        else None,
    )
    if is_told:
        show_status("")
    notes: list[Note] = []
    if not taken.sample.is_whole:
        _check_cv(estimator.cv)
        notes = _notes(len(taken.sample.rows), taken.sample.n_rows, taken.hidden)
    return FitRows(taken.features, taken.target, taken.weights, taken.groups, notes)


def _array_rows(
    estimator: Any, stream: Stream, y: Any, sample_weight: Any, groups: Any, seed: int
) -> FitRows:
    """Return the rows of an array, and what belongs to them."""
    labels = y if is_classifier(estimator) else None
    taken = take_array_rows(stream, labels, seed)
    if taken.rows is None:
        return FitRows(taken.features, y, sample_weight, groups)
    _check_cv(estimator.cv)
    weights = taken.weights
    if sample_weight is not None:
        own = np.asarray(taken.of_rows(sample_weight), dtype=np.float64)
        weights = own if weights is None else own * weights
    if weights is not None and np.isfinite(weights).all() and weights.any():
        weights = weights / weights.mean()  # whole numbers would stand for copies
    notes = _notes(len(taken.rows), taken.n_rows, [])
    y, groups = taken.of_rows(y), taken.of_rows(groups)
    return FitRows(taken.features, y, weights, groups, notes)


def _check_cv(cv: Any) -> None:
    """Refuse numbers of rows where only some rows are there."""
    if cv is not None and not isinstance(cv, int) and not hasattr(cv, "split"):
        raise ValueError(
            "cv must be None, a number of folds or a splitter where the stream is "
            "larger than its memory: numbers of rows are those of the whole stream, "
            "and only a sample of it is kept."
        )


def _notes(n_kept: int, n_rows: int, hidden: list[str]) -> list[Note]:
    """Return what should be said of a sample."""
    notes = [
        as_note(
            "sample",
            f"of the {n_rows:,} rows of the stream, a random sample of {n_kept:,} was "
            "learnt from, which is what fits into its memory: Stream(X, memory=...).",
        )
    ]
    if hidden:
        text = (
            f"{listed(hidden)}: one value in the rows of the sample, and others "
            "elsewhere. A larger memory would show more of them."
        )
        notes.append(as_note("rare", text, hidden))
    return notes


def by_batches(predict: Predict) -> Predict:
    """Let a method that predicts also answer for a stream, batch by batch."""

    @wraps(predict)
    def called(self: Any, X: Any) -> npt.NDArray[Any]:
        stream = _stream_to_read(self, X)
        if stream is None:
            return predict(self, X)
        parts = [predict(self, part) for part in _kept_parts(self, stream)]
        if not parts:
            raise ValueError(f"{stream!r} has no rows.")
        return np.concatenate(parts)

    return called


def _stream_to_read(estimator: Any, X: Any) -> Stream | None:
    """Return X as a stream, or None where it is a table or an array in memory."""
    check_is_fitted(estimator)
    stream = as_stream(X, is_named=True)
    if stream is None or not stream.is_array or stream is X or len(X) > _BLOCK_ROWS:
        return stream
    return None


def _kept_parts(estimator: Any, stream: Stream) -> Iterator[Any]:
    """Yield tables of the kept columns of a stream, or blocks of an array."""
    if stream.is_array:
        X = stream.source
        estimator._check_columns(X[:1], read_table(X[:1]))
        for start in range(0, len(X), _BLOCK_ROWS):
            yield X[start : start + _BLOCK_ROWS]
        return
    _, batches = files.kept_batches(stream, _kept_names(estimator))
    for batch in batches:
        if batch.num_rows:
            yield _as_table(batch)


def _kept_names(estimator: Any) -> list[str]:
    """Return the names of the kept columns, by which they are found in a stream."""
    if not hasattr(estimator, "feature_names_in_"):
        raise ValueError(
            "the columns of a stream are found by their names, and this estimator was "
            "fitted on a table without names."
        )
    return [str(name) for name in estimator.get_feature_names_out()]


def kept_columns(estimator: Any, X: Any) -> Any:
    """Return the kept columns of a stream as another, or None if X is none.

    A `pyarrow.RecordBatchReader`, or for an array in a `Stream` a generator of arrays.
    """
    stream = _stream_to_read(estimator, X)
    if stream is None or (stream.is_array and stream is not X):
        return None
    if stream.is_array:
        parts = _kept_parts(estimator, stream)
        return (plain_array(part[:, estimator.support_]) for part in parts)
    import pyarrow as pa

    schema, batches = files.kept_batches(stream, _kept_names(estimator))
    return pa.RecordBatchReader.from_batches(schema, batches)


class Predicts:
    """What an estimator inherits, before scikit-learn's mixin, to predict and score."""

    @by_batches
    def predict(self: Any, X: Any) -> npt.NDArray[Any]:
        """Return the predicted values, or classes.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            As for `transform`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Of a classifier the most probable class, or the labels more probable than
            not.
        """
        outputs, code = self._network_outputs(X), self._target_code
        if isinstance(code, ClassEncoder):
            return code.decode(code.probabilities(outputs))
        return np.asarray(code.decode(outputs.mean(axis=0)))

    @as_called()
    def score(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of a classifier, or R² of a regressor.

        Parameters
        ----------
        X : table of shape (n_samples, n_features) or stream
            As for `predict`.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), or str
            The true labels or values; of a stream, the name of their column.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            How much each row counts.

        Returns
        -------
        float
        """
        stream = as_stream(X, is_named=True) if isinstance(y, str) else None
        if stream is None:
            own = super().score  # type: ignore[misc]
            return float(own(X, y, sample_weight))
        check_is_fitted(self)
        metric = accuracy_score if is_classifier(self) else r2_score
        kept, others = _kept_names(self), [y, *filter(None, [sample_weight])]
        _, batches = files.kept_batches(stream, [*kept, *others])
        guesses, known = [], []
        for batch in batches:
            if batch.num_rows == 0:
                continue
            guesses.append(self.predict(_as_table(batch.select(kept))))
            known.append(batch.select(others))
        table = _as_table(*known)
        weights = None if sample_weight is None else table[sample_weight].to_numpy()
        if table[y].null_count:
            raise ValueError(f"Input y contains missing values: some of {y!r}.")
        truth = np.asarray(table[y].to_pylist())
        return float(metric(truth, np.concatenate(guesses), sample_weight=weights))


def _as_table(*batches: Any) -> Any:
    """Return batches of pyarrow as a table."""
    import pyarrow as pa

    return pa.Table.from_batches(batches)
