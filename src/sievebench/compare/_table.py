"""What is compared: the user's table, read as featuresieve reads it, and the plan."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OrdinalEncoder

from featuresieve.files import Task, read_file, read_inputs

Matrix = npt.NDArray[np.float64]

METRICS = {
    "classification": ("balanced_accuracy", "accuracy", "roc_auc", "neg_log_loss"),
    "regression": ("r2", "neg_root_mean_squared_error", "neg_mean_absolute_error"),
}
_TICKS_A_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_MISSING_CODE, _UNKNOWN_CODE = -1, -2


class CompareError(ValueError):
    """A file, a column or an argument that a comparison cannot work with."""


@dataclass(frozen=True)
class Plan:
    """What to compare, and how."""

    selectors: tuple[str, ...]  # short names of the selectors
    task: Literal["auto", "classification", "regression"] = "auto"
    # columns to keep: a count or a fraction; "auto" leaves the number to selectors that
    # find it, and keeps half with the others
    keep: int | float | Literal["auto"] = "auto"
    n_folds: int = 5
    predictor: Literal["boosting", "linear"] = "boosting"  # trained on what is kept
    metric: str | None = None  # a scikit-learn score; None: balanced accuracy, or R²
    time_limit_seconds: float | None = 600.0  # most seconds of one fit of a selector
    seed: int = 0  # decides folds, selectors and predictors


@dataclass(frozen=True)
class FoldScore:
    """What one fold gave."""

    score: float  # of the predictor on the rows held out
    support: tuple[bool, ...]  # which columns were kept
    seconds: float  # of the selector's fit


@dataclass(frozen=True)
class Table:
    """The features and the target of a table, as read."""

    name: str  # name of the file
    # number columns are float64 with NaN; the others are text, as objects, with None
    features: pd.DataFrame
    target_name: str
    target: npt.NDArray[Any]  # numbers or labels, none missing
    task: Task
    notes: tuple[str, ...] = ()  # sentences: what was left out or changed on reading


def read_table(
    path: str | Path,
    target: str,
    *,
    task: str = "auto",
    drop: Sequence[str] = (),
    **reading: Any,
) -> Table:
    """Read a file and take the target out of it, as `featuresieve select` does."""
    with read_file(str(path), meanings={target: "label"}, **reading) as file:
        inputs = read_inputs(file, target, task=task, drop=drop)
        name = Path(file.source.name).name
    table = inputs.features
    _check_size(table, inputs.target.name, name)
    return Table(
        name,
        pd.DataFrame({n: _plain_column(table[n]) for n in table.column_names}),
        inputs.target.name,
        inputs.target.values,
        inputs.target.task,
        tuple(f"{note[:1].upper()}{note[1:]}" for note in inputs.notes),
    )


def _check_size(features: pa.Table, target: str, name: str) -> None:
    """Refuse a table in which there is nothing to choose or to learn."""
    n_filled = sum(column.null_count < len(column) for column in features.columns)
    if n_filled < 2:
        raise CompareError(
            f"{name} must have at least 2 columns beside {target!r} that are not "
            f"empty, got {n_filled}."
        )
    if features.num_rows < 10:
        raise CompareError(
            f"{name} must have at least 10 rows with a value of {target!r}, "
            f"got {features.num_rows}."
        )


def _plain_column(column: Any) -> pd.Series:
    """Return numbers (also of dates, times and truth values) as float64, else text."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = pc.cast(column, kind.value_type)
    elif pa.types.is_temporal(kind):
        return _seconds(column)
    elif not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return pd.Series(pc.cast(column, pa.float64(), safe=False).to_numpy())
    return pd.Series(pc.cast(column, pa.string()).to_pylist(), dtype=object)


def _seconds(column: Any) -> pd.Series:
    """Return moments as seconds since 1970, times of day since midnight."""
    if pa.types.is_date(column.type):
        column = pc.cast(column, pa.timestamp("s"))
    kind = column.type
    ticks = pc.cast(column, pa.int32() if kind.bit_width == 32 else pa.int64())
    counted = pc.cast(ticks, pa.float64(), safe=False).to_numpy()
    return pd.Series(counted / _TICKS_A_SECOND[kind.unit])


def encoder_of(features: pd.DataFrame) -> Callable[[pd.DataFrame], Matrix]:
    """Return what turns the columns of such a table into numbers, one for one.

    Text becomes the number of its label, in alphabetical order; missing text is -1, and
    labels not seen here are -2. Missing numbers become the median of the column. A
    column of the table stays one column, so that keeping it means something.
    """
    is_text = np.array([dtype.kind == "O" for dtype in features.dtypes])
    coder = OrdinalEncoder(
        handle_unknown="use_encoded_value",
        unknown_value=_UNKNOWN_CODE,
        encoded_missing_value=_MISSING_CODE,
    )
    imputer = SimpleImputer(strategy="median", keep_empty_features=True)
    parts = [(imputer, ~is_text, np.float64), (coder, is_text, object)]

    def cells(table: pd.DataFrame, marked: Any, dtype: Any) -> Any:
        values = table.loc[:, marked].to_numpy(dtype=dtype)
        return np.where(pd.isna(values), np.nan, values)  # not None: no label

    fitted = [
        (kind.fit(cells(features, marked, dtype)), marked, dtype)
        for kind, marked, dtype in parts
        if marked.any()
    ]

    def encode(table: pd.DataFrame) -> Matrix:
        encoded = np.empty(table.shape)
        for kind, marked, dtype in fitted:
            encoded[:, marked] = kind.transform(cells(table, marked, dtype))
        return encoded

    return encode
