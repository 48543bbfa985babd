"""What the user passes as y becomes what the networks learn, and back."""

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from featuresieve.errors import as_float, shown
from featuresieve.problem._problem import Task
from featuresieve.tables import MISSING_NAMES, Float32Array, FloatArray, means_and_stds

# A target whose largest hundredth holds more than this share of its variance is
# compressed, so that a handful of rows does not decide which columns are kept.
_HEAVY_SHARE = 0.5
_LARGEST = 1e300
_FARTHEST = 1e30  # spreads from the mean, within float32
_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)
_MOMENTS = (datetime.date, np.datetime64)
_SPANS = (datetime.timedelta, np.timedelta64)


@dataclass(frozen=True)
class Target:
    """An encoded target."""

    # Class codes, (rows,), or labels or values, (rows, outputs).
    values: npt.NDArray[np.int64] | Float32Array
    n_outputs: int
    task: Task
    code: "ClassEncoder | ValueScaler"  # how to get back


@dataclass(frozen=True)
class ClassEncoder:
    """Labels behind class codes, or the numbers of the labels of several a row."""

    classes: npt.NDArray[Any]
    is_multilabel: bool

    def probabilities(self, outputs: FloatArray) -> FloatArray:
        """Return mean probabilities of networks, from (members, rows, outputs)."""
        if self.is_multilabel:
            halves = np.tanh(outputs / 2)
            return np.asarray((0.5 * (1 + halves)).mean(axis=0))
        exponentials = np.exp(outputs - outputs.max(axis=-1, keepdims=True))
        shares = exponentials / exponentials.sum(axis=-1, keepdims=True)
        return np.asarray(shares.mean(axis=0))

    def decode(self, probabilities: FloatArray) -> npt.NDArray[Any]:
        """Return the most probable class, or the labels more probable than not."""
        if self.is_multilabel:
            return (probabilities > 0.5).astype(np.int64)
        return np.asarray(self.classes[probabilities.argmax(axis=1)])


@dataclass(frozen=True)
class ValueScaler:
    """Scale of a regression target, one for each output.

    A value y is learnt as ``(t(y) - mean) / spread``, where t is the identity, or for
    a heavy-tailed target ``arsinh((y - centre) / width)``.
    """

    means: FloatArray
    spreads: FloatArray
    centres: FloatArray
    widths: FloatArray  # 0 where t is the identity
    is_flat: bool  # y had one dimension, and so have predictions

    @classmethod
    def fit(
        cls, y: FloatArray, weights: FloatArray | None, may_compress: bool = True
    ) -> "ValueScaler":
        """Learn the scale of every output."""
        used = np.ones(len(y)) if weights is None else weights
        block = y.reshape(len(y), -1)[used > 0].T.copy()  # (outputs, rows)
        centres, widths = np.zeros(len(block)), np.zeros(len(block))
        for k, column in enumerate(block):
            if may_compress and _is_heavy_tailed(column):
                centres[k] = np.median(column)
                low, high = np.quantile(column, [0.25, 0.75])
                distances = np.abs(column - centres[k])
                widths[k] = (high - low) or np.median(distances[distances > 0])
                block[k] = _compressed(column, centres[k], widths[k])
        means, spreads = means_and_stds(block, used[used > 0])
        return cls(means, spreads, centres, widths, y.ndim == 1)

    def encode(self, y: FloatArray) -> Float32Array:
        """Return what the networks learn, (rows, outputs)."""
        values = y.reshape(len(y), -1).astype(np.float64)
        for k in np.flatnonzero(self.widths):
            values[:, k] = _compressed(values[:, k], self.centres[k], self.widths[k])
        with np.errstate(over="ignore"):  # rows that do not count may be far out
            scaled = values / self.spreads - self.means / self.spreads
        return np.asarray(scaled.clip(-_FARTHEST, _FARTHEST).astype(np.float32))

    def decode(self, outputs: FloatArray) -> FloatArray:
        """Return predictions in the units of y from mean outputs, (rows, outputs)."""
        with np.errstate(over="ignore"):
            values = outputs * self.spreads + self.means
            for k in np.flatnonzero(self.widths):
                # Beyond 30 spreads of a compressed target nothing was ever seen.
                values[:, k] = np.sinh(np.clip(values[:, k], -300, 300))
                values[:, k] = values[:, k] * self.widths[k] + self.centres[k]
        largest = np.finfo(np.float64).max
        values = np.clip(values, -largest, largest)
        return np.asarray(values[:, 0] if self.is_flat else values)


def _as_array(y: Any) -> npt.NDArray[Any]:
    """Return y as an array, from a list, array, series, frame, tensor or sparse y."""
    if sparse.issparse(y):
        return np.asarray(y.toarray())
    if hasattr(y, "detach"):
        y = y.detach().cpu().numpy()
    native = nw.from_native(y, allow_series=True, pass_through=True)
    if isinstance(native, nw.Series | nw.DataFrame):
        if isinstance(native, nw.Series):
            _refuse_rows(native.is_null().to_numpy())
        y = native.to_numpy()
    try:
        values = np.asarray(y)
    except ValueError as error:
        raise ValueError(
            f"the rows of y must have equal lengths and hold single values: {error}"
        ) from None
    if values.dtype.kind == "U" and isinstance(y, list | tuple):
        # numpy turns the number of [1, "a"] into text.
        is_text = all(isinstance(value, str) for value in y)
        return values if is_text else np.array(y, dtype=object)
    return values


def _target_array(y: Any, n_rows: int) -> npt.NDArray[Any]:
    """Return y as an array, if it is as long as the table."""
    values = _as_array(y)
    if values.ndim == 0:
        advice = "pass a list, an array or a Series."
        if isinstance(y, str | int):
            advice = (
                "where that names a column of X, pass the column itself and the others "
                f"as X, in pandas fit(X.drop(columns={shown(y)}), X[{shown(y)}])."
            )
        raise TypeError(f"y must hold a value for each row, got {shown(y)}: {advice}")
    if len(values) != n_rows:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: X has "
            f"{n_rows} rows, y has {len(values)}."
        )
    return values


def class_target(y: Any, n_rows: int) -> Target:
    """Encode class labels, or a zero-one matrix of labels."""
    y = _target_array(y, n_rows)
    y = check_array(
        y, ensure_2d=False, dtype=None, input_name="y", ensure_all_finite="allow-nan"
    )
    _refuse_missing(y)
    y = _plain_labels(y)
    check_classification_targets(y)
    kind = type_of_target(y, input_name="y")
    if kind == "multiclass-multioutput":
        raise ValueError(
            "y must hold one class a row, or a matrix of zeros and ones with one "
            f"column a label, got several classes a row (shape {y.shape})."
        )
    if kind == "multilabel-indicator":
        if y.min() == y.max():
            raise ValueError(
                "y must have rows with and without a label, got "
                f"{int(y.max())} everywhere."
            )
        code = ClassEncoder(np.arange(y.shape[1]), True)
        return Target(y.astype(np.float32), y.shape[1], "multilabel", code)
    y = column_or_1d(y, warn=True)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y must have at least 2 classes, got 1 class: {classes.tolist()[0]!r}."
        )
    codes = codes.reshape(-1).astype(np.int64)
    return Target(codes, len(classes), "classification", ClassEncoder(classes, False))


def value_target(
    y: Any, n_rows: int, weights: FloatArray | None, *, may_compress: bool = True
) -> Target:
    """Encode one or more real values a row; heavy tails are compressed if they may."""
    values = _plain_values(_target_array(y, n_rows))
    if values.dtype.kind == "f":
        _refuse_rows(np.isnan(values))
    _refuse_huge(values)
    values = check_array(values, ensure_2d=False, dtype=np.float64, input_name="y")
    if values.ndim > 2 or values.shape[1:] == (0,):
        raise ValueError(
            f"y must have shape (rows,) or (rows, outputs), got {values.shape}."
        )
    code = ValueScaler.fit(values, weights, may_compress)
    return Target(code.encode(values), len(code.means), "regression", code)


def _compressed(values: FloatArray, centre: float, width: float) -> FloatArray:
    """Return the arsinh of values in units of their width."""
    return np.asarray(np.arcsinh(values / width - centre / width))


def _is_heavy_tailed(values: FloatArray) -> bool:
    """Tell whether a hundredth of the rows holds most of the variance."""
    n_top = len(values) // 100
    largest = float(np.abs(values).max())
    if n_top == 0 or largest == 0.0:
        return False
    scaled = values / largest
    squares = np.sort((scaled - scaled.mean()) ** 2)
    return bool(squares[-n_top:].sum() > _HEAVY_SHARE * squares.sum())


def _plain_labels(y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return labels of one kind that can be told apart, or say how to make them so."""
    if y.dtype.kind != "O":
        return y
    labels = y.reshape(-1).tolist()
    text = _first(labels, lambda label: isinstance(label, str))
    number = _first(labels, lambda label: isinstance(label, _NUMBERS))
    if text is not None and number is not None:
        raise ValueError(
            f"the labels in y must be of one kind, got the text {text!r} and the "
            f"number {number!r}: make all of them text, such as "
            "[str(label) for label in y]."
        )
    other = _first(labels, lambda label: not isinstance(label, (str, bytes, *_NUMBERS)))
    if other is not None:
        raise ValueError(
            "the labels in y must be text, numbers or truth values, got the "
            f"{type(other).__name__} {other}: if each stands for a class, make them "
            "text, such as [str(label) for label in y]."
        )
    return y if number is None else np.array(labels).reshape(y.shape)


def _plain_values(y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return values as numbers, or say how to make them so."""
    if y.dtype.kind not in "mMOSTUV":
        return y
    try:
        if y.dtype.kind not in "mM":
            return y.astype(np.float64)
    except OverflowError:
        raise ValueError(
            "Input y contains infinity or a value too large for dtype('float64')."
        ) from None
    except (TypeError, ValueError):
        pass
    values = y.reshape(-1) if y.dtype.kind in "mM" else y.reshape(-1).tolist()
    _refuse_missing(y)
    value = _first(values, lambda value: not _is_number(value))
    if isinstance(value, _SPANS):
        advice = "divide by a unit, such as y / np.timedelta64(1, 'h') for hours."
    elif type(value).__name__ == "Period":  # pandas need not be installed
        advice = "make dates of it, y.dt.to_timestamp(), and count from one of them."
    elif isinstance(value, _MOMENTS):
        advice = (
            "count from one of them, such as (y - y.min()) / np.timedelta64(1, 'D') "
            "for days."
        )
    else:
        advice = "for classes, use AutoNFSClassifier."
    shown = repr(value) if isinstance(value, str) else value
    raise ValueError(
        f"y must hold numbers, got the {type(value).__name__} {shown}: {advice}"
    )


def _refuse_huge(values: npt.NDArray[Any]) -> None:
    """Refuse finite values whose sums and differences may be infinite."""
    if values.dtype.kind != "f":
        return
    with np.errstate(over="ignore"):
        sizes = np.abs(values.astype(np.float64))
    is_huge = (sizes > _LARGEST) & np.isfinite(sizes)
    if is_huge.any():
        raise ValueError(
            f"y must hold numbers between -{_LARGEST:g} and {_LARGEST:g}, so that "
            f"predictions are finite, got {values[is_huge][0]:g}: divide y by a power "
            "of ten."
        )


def _is_number(value: Any) -> bool:
    """Tell whether a value is a number, missing, or the text of a number."""
    if isinstance(value, _SPANS + _MOMENTS):
        return False
    try:
        return value is None or bool(as_float(value) or True)
    except (TypeError, ValueError):
        return False


def _first(values: Any, is_wanted: Callable[[Any], bool]) -> Any:
    """Return the first value of which something is true, else None."""
    return next((value for value in values if is_wanted(value)), None)


def _refuse_missing(y: npt.NDArray[Any]) -> None:
    """Refuse missing labels."""
    if y.dtype.kind == "f":
        _refuse_rows(np.isnan(y))
        if np.isinf(y).any():
            raise ValueError("Input y contains infinity.")
    if y.dtype.kind == "O":
        cells = (
            value is None or type(value).__name__ in MISSING_NAMES or value != value
            for value in y.reshape(-1)
        )
        _refuse_rows(np.fromiter(cells, dtype=np.bool_, count=y.size).reshape(y.shape))


def _refuse_rows(is_missing: npt.NDArray[Any]) -> None:
    """Refuse targets of which some are missing, and say how many."""
    if is_missing.any():
        rows = np.flatnonzero(is_missing.reshape(len(is_missing), -1).any(axis=1))
        raise ValueError(
            f"Input y contains NaN or missing values in {len(rows)} of "
            f"{len(is_missing)} rows, the first is row {rows[0]}: leave these rows out "
            "of X and y."
        )
