"""How well a quick predictor does on held-out rows, with all and with the kept columns.

The rows are set apart before the selection, which never sees them; otherwise the kept
columns would look better than they are.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.metrics import balanced_accuracy_score, r2_score
from sklearn.model_selection import GroupShuffleSplit, train_test_split
from sklearn.utils.class_weight import compute_sample_weight

from featuresieve.files import Inputs, TargetColumn, Task

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.intp]

# Below so many rows a score says nothing, and the selection needs them all.
LEAST_ROWS = 50
_MOST_TEST_ROWS = 20_000
# What the predictor is trained on at most, so that scoring is quick.
_MOST_ROWS = 50_000
_MOST_CELLS = 10_000_000
_MOST_TREES = 600
_MOST_ITERATIONS = 100
# Levels that the trees of scikit-learn treat as such.
_MOST_LEVELS = 254
_N_RESAMPLES = 100
# Folds of ever later rows.
_N_LATER = 5


@dataclass(frozen=True)
class Score:
    """Scores on held-out rows."""

    metric: str  # 1 is the best
    all_columns: float
    all_error: float  # the standard error over resampled rows
    kept_columns: float
    kept_error: float
    n_train: int
    n_test: int


def split_rows(
    target: TargetColumn,
    test_fraction: float,
    seed: int,
    row_groups: IndexArray | None = None,
    times: IndexArray | None = None,
) -> tuple[IndexArray, IndexArray]:
    """Set rows apart for the score, the classes in proportion: train and test.

    A class with a single row is for training. Rows of a group stay together; then the
    classes are in proportion by chance only. With times, the last rows are set apart.
    """
    n_rows = len(target.values)
    n_test = min(round(test_fraction * n_rows), _MOST_TEST_ROWS)
    rows = np.arange(n_rows)
    if n_test == 0 or n_rows < LEAST_ROWS:
        return rows, rows[:0]
    if times is not None:
        is_test = times > _cut(times, n_test)
        return np.flatnonzero(~is_test), np.flatnonzero(is_test)
    if row_groups is not None:
        splitter = GroupShuffleSplit(1, test_size=n_test / n_rows, random_state=seed)
        train, test = next(splitter.split(rows, groups=row_groups))
        return train, test[:_MOST_TEST_ROWS]
    labels = None
    if target.task == "classification":
        _, codes, counts = np.unique(
            target.values, return_inverse=True, return_counts=True
        )
        is_frequent = counts[codes] > 1
        rows, labels = rows[is_frequent], codes[is_frequent]
        n_classes = int((counts > 1).sum())
        if not n_classes <= n_test <= len(rows) - n_classes:
            labels = None
    if n_test >= len(rows):
        return np.arange(n_rows), rows[:0]
    _, test = train_test_split(
        rows, test_size=n_test, stratify=labels, random_state=seed
    )
    is_test = np.zeros(n_rows, dtype=bool)
    is_test[test] = True
    return np.flatnonzero(~is_test), np.flatnonzero(is_test)


def _cut(times: IndexArray, n_after: float) -> int:
    """Return the moment, not the last, after which there are about so many rows."""
    moments, counts = np.unique(times, return_counts=True)
    n_left = len(times) - np.cumsum(counts)[:-1]
    return int(moments[np.abs(n_left - n_after).argmin()])


def later_folds(times: IndexArray) -> list[tuple[IndexArray, IndexArray]] | None:
    """Return folds that learn from all rows before those they are judged on.

    Five, each judged on a sixth of the rows; fewer if there are few times, None if
    there is one.
    """
    if len(np.unique(times)) == 1:
        return None
    shares = 1 - np.arange(1, _N_LATER + 1) / (_N_LATER + 1)
    cuts = sorted({_cut(times, len(times) * share) for share in shares})
    number = np.searchsorted(cuts, times)  # of the part that a row is in
    return [
        (np.flatnonzero(number < part), np.flatnonzero(number == part))
        for part in range(1, len(cuts) + 1)
    ]


def score(
    inputs: Inputs,
    kept: Sequence[int],
    rows: tuple[IndexArray, IndexArray],
    class_weight: Any,
    seed: int,
) -> Score | None:
    """Train a predictor twice and judge it on the rows that `split_rows` set apart.

    None if there are none, or if all that are learnt from have one class.
    """
    (train, test), table, target = rows, inputs.features, inputs.target
    if len(test) == 0:
        return None
    train = _fewer(train, table.num_columns, seed)
    weights = inputs.weights
    if weights is not None:
        train = train[weights[train] > 0]
    known = target.values[train]
    if target.task == "classification" and len(np.unique(known)) < 2:
        return None
    matrix, is_category = _matrix(table, np.r_[train, test])
    # Trees of scikit-learn refuse a column in which nothing is known.
    matrix[:, np.isnan(matrix[: len(train)]).all(axis=0)] = 0.0
    own = _weights_of(known, class_weight, None if weights is None else weights[train])
    judged = []
    for columns in (np.arange(table.num_columns), np.asarray(kept)):
        predictor = _predictor(target, is_category[columns], seed)
        with warnings.catch_warnings():  # also of a class that was drawn out
            warnings.simplefilter("ignore")
            predictor.fit(matrix[: len(train), columns], known, sample_weight=own)
            guesses = np.asarray(predictor.predict(matrix[len(train) :, columns]))
            judged.append(_judged(inputs, test, guesses, seed))
    metric = "balanced accuracy" if target.task == "classification" else "R²"
    return Score(metric, *judged[0], *judged[1], len(train), len(test))


def _fewer(rows: IndexArray, n_columns: int, seed: int) -> IndexArray:
    """Return no more rows than can be learnt from quickly."""
    most = min(_MOST_ROWS, max(1000, _MOST_CELLS // max(1, n_columns)))
    if len(rows) <= most:
        return rows
    chosen = np.random.default_rng(seed).choice(len(rows), most, replace=False)
    return rows[np.sort(chosen)]


def _weights_of(
    labels: Array, class_weight: Any, weights: FloatArray | None
) -> FloatArray | None:
    """Return what the rows weigh, by themselves and by their class."""
    if class_weight is None:
        return weights
    by_class = np.asarray(compute_sample_weight(class_weight, labels))
    return by_class if weights is None else weights * by_class


def _matrix(table: pa.Table, rows: IndexArray) -> tuple[Array, Array]:
    """Return some rows as numbers, NaN where missing, and which are categories."""
    matrix = np.empty((len(rows), table.num_columns), dtype=np.float32)
    is_category = np.zeros(table.num_columns, dtype=bool)
    for j, column in enumerate(table.columns):
        column = column.take(rows)
        kind = column.type
        if pa.types.is_dictionary(kind):
            column = column.cast(kind.value_type)
            kind = column.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            levels = pc.unique(column).drop_null().sort()
            is_category[j] = len(levels) <= _MOST_LEVELS
            column = pc.index_in(column, value_set=levels)
        matrix[:, j] = _numbers(column)
    return matrix, is_category


def _numbers(column: Any) -> FloatArray:
    """Return numbers, truth values, dates or times as float64, centred if large."""
    if pa.types.is_temporal(column.type):
        width = pa.int32() if column.type.bit_width == 32 else pa.int64()
        column = pc.cast(column, width)
    column = pc.cast(column, pa.float64(), safe=False)
    values = np.asarray(pc.fill_null(column, float("nan")).to_numpy(), np.float64)
    largest = np.nanmax(np.abs(values), initial=0.0)
    if largest > 2**24:  # beyond what float32 tells apart
        values = values - np.nanmean(values)
        values = values / max(1.0, float(np.nanmax(np.abs(values), initial=0.0)))
    return values


def _predictor(target: TargetColumn, is_category: Array, seed: int) -> Any:
    """Return an untrained predictor that does not take long."""
    settings: dict[str, Any] = {
        "random_state": seed,
        "early_stopping": False,
        "categorical_features": is_category if is_category.any() else None,
    }
    if target.task == "regression":
        return HistGradientBoostingRegressor(max_iter=_MOST_ITERATIONS, **settings)
    n_classes = len(np.unique(target.values))
    n_trees = 1 if n_classes == 2 else n_classes
    n_iterations = max(10, min(_MOST_ITERATIONS, _MOST_TREES // n_trees))
    return HistGradientBoostingClassifier(max_iter=n_iterations, **settings)


def _judged(
    inputs: Inputs, test: IndexArray, guesses: Array, seed: int
) -> tuple[float, float]:
    """Return the score of the rows, and its standard error over draws of as many."""
    truth, weights = inputs.target.values[test], inputs.weights
    own = np.ones(len(test)) if weights is None else weights[test]
    rng = np.random.default_rng(seed)
    draws = [rng.integers(len(test), size=len(test)) for _ in range(_N_RESAMPLES)]
    value, *drawn = (
        _metric(inputs.target.task, truth[rows], guesses[rows], own[rows])
        for rows in (np.arange(len(test)), *draws)
    )
    return value, float(np.nanstd(drawn))


def _metric(task: Task, truth: Array, guesses: Array, weights: FloatArray) -> float:
    """Return the score of guesses; NaN if no row has a weight."""
    if not weights.any():
        return float("nan")
    score = balanced_accuracy_score if task == "classification" else r2_score
    return float(score(truth, guesses, sample_weight=weights))
