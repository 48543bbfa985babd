"""Some columns of a table as the type that came in, back to all of them, and names."""

from collections.abc import Callable, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import sklearn
from scipy import sparse
from sklearn.utils import check_array

from featuresieve.errors import check_choice
from featuresieve.tables._array_reading import as_array, is_tensor
from featuresieve.tables._column import BoolArray
from featuresieve.tables._scaling import IndexArray
from featuresieve.tables._table import as_frame, is_labelled_array

_OUTPUTS = ("default", "pandas", "polars")
_PANIC = "PanicException"  # of polars; no Exception
# From 1.9 on, scikit-learn reads data frames as we do, with narwhals.
_READS_EVERY_FRAME = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9)


def take_columns(X: Any, features: IndexArray) -> Any:
    """Return some columns of X, by position, as the same type.

    Names, dtypes, device and row index are kept; lists become arrays.
    """
    positions = features.tolist()
    if is_tensor(X) or is_labelled_array(X):
        return X[:, positions]
    if sparse.issparse(X):
        if X.format in ("csr", "csc", "lil", "dok"):
            return X[:, positions]
        return X.tocsc()[:, positions].asformat(X.format)
    frame = as_frame(X)
    if frame is None:
        values = X if isinstance(X, np.ndarray) else as_array(X)
        return values[:, positions]
    taken = frame[:, positions]  # by position: names need not be strings
    names = [frame.columns[j] for j in positions]
    if frame.implementation.is_polars() and taken.columns != names:
        taken = _renamed(taken, names)  # polars gives an empty name another
    return taken if isinstance(X, nw.DataFrame) else _native(taken, X)


def _renamed(frame: nw.DataFrame[Any], names: Sequence[Any]) -> nw.DataFrame[Any]:
    """Return a frame with other names, whatever they are; the values are shared."""
    native = frame.to_native()
    if frame.implementation.is_pyarrow():
        native = native.rename_columns(names)
    else:
        is_polars = frame.implementation.is_polars()
        native = native.clone() if is_polars else native.copy(deep=False)
        native.columns = names
    return nw.from_native(native, eager_only=True)


def put_columns(
    X: Any,
    support: BoolArray,
    names: Sequence[Any] | None,
    kinds: Sequence[str] = (),
) -> Any:
    """Return a table with all features, from one with those in `support`.

    The others are zero, or of a data frame missing where their kind is text or dates
    (no kinds: all are numbers). Its columns are named as `names` says, else x0, x1, ...
    Dtypes, device and row index are kept; lists and arrays with labels become plain
    arrays.
    """
    is_native = sparse.issparse(X) or is_tensor(X)
    frame = None if is_native else as_frame(X)
    values: Any = X if frame is None else frame
    if not is_native and frame is None and type(X) is not np.ndarray:
        values = as_array(X)  # a plain one stays what it is, also one of longdouble
    n_kept = int(support.sum())
    if tuple(values.shape[1:]) != (n_kept,):
        raise ValueError(
            f"X must have the {n_kept} columns that transform returns, got a different "
            f"shape, {tuple(values.shape)}."
        )
    if sparse.issparse(X):
        return _put_sparse(X, support)
    if frame is not None:
        return _put_frame(X, frame, support, names, kinds)
    shape = (len(values), len(support))
    if not is_tensor(X):
        array = np.zeros(shape, dtype=values.dtype)
        array[:, support] = values
        return array
    tensor = X.new_zeros(shape)
    for k, j in enumerate(np.flatnonzero(support).tolist()):
        tensor[:, j] = X[:, k]  # one by one: torch has no more for uint16
    return tensor


def plain_array(X: Any) -> Any:
    """Return a table as the array scikit-learn makes of it; a sparse one stays."""
    if is_tensor(X):
        return as_array(X)
    frame = as_frame(X)
    if frame is not None and not _is_numeric(frame):
        if frame.implementation.is_pandas_like():
            return np.asarray(frame.to_native())
        return np.array([column.to_list() for column in frame.iter_columns()], object).T
    try:
        return check_array(X, accept_sparse=True, dtype=None, ensure_all_finite=False)
    except TypeError:  # holes in whole numbers of Arrow, with pandas 2.2
        if frame is None or not frame.implementation.is_pandas_like():
            raise
        return frame.to_native().to_numpy(dtype=np.float64, na_value=np.nan)


def _is_numeric(frame: nw.DataFrame[Any]) -> bool:
    """Tell whether numpy has the dtypes of all columns, numbers and truth values."""
    return all(
        (dtype.is_numeric() and dtype not in (nw.Decimal, nw.Int128, nw.UInt128))
        or dtype == nw.Boolean
        for dtype in frame.schema.values()
    )


def as_library(library: str, X: Any, names: npt.NDArray[Any]) -> Any:
    """Return a table as a data frame of "pandas" or "polars", for `set_output`.

    A frame keeps its names, its index where there can be one, and its dtypes; what has
    no names gets `names`.
    """
    check_choice("the transform of set_output", library, _OUTPUTS)
    if sparse.issparse(X):
        raise ValueError(
            f"a sparse matrix does not fit into a frame of {library}: "
            "set_output(transform='default') lets it stay one."
        )
    frame = as_frame(X)
    if frame is not None:
        if frame.implementation.name.lower() == library:
            return frame.to_native()
        return _converted(library, frame, names)
    values = as_array(X)
    if library == "pandas":
        import pandas as pd

        return pd.DataFrame(values, columns=list(names), copy=False)
    import polars as pl

    texts = [str(name) for name in names]
    return _made(library, lambda: pl.DataFrame(values, schema=texts, orient="row"))


def _converted(library: str, frame: nw.DataFrame[Any], names: npt.NDArray[Any]) -> Any:
    """Return a frame of another library with the same names."""
    # Not every name survives: polars panics at a zero, and renames an empty one.
    frame = _renamed(frame, [f"x{k}" for k in range(len(names))])
    convert = frame.to_pandas if library == "pandas" else frame.to_polars
    made = _made(library, convert)
    made.columns = list(map(str, names)) if library == "polars" else list(names)
    return made


def _made(library: str, make: Callable[[], Any]) -> Any:
    """Return the frame of a library, or say that it has no columns for the values."""
    try:
        return make()
    except BaseException as error:  # each library has its own, polars panics
        if not isinstance(error, Exception) and type(error).__name__ != _PANIC:
            raise
        raise ValueError(
            f"the kept columns do not fit into a frame of {library}: {error} "
            "set_output(transform='default') gives an array."
        ) from error


def _native(frame: nw.DataFrame[Any], X: Any) -> Any:
    """Return a frame of narwhals as the type of X: a batch of pyarrow stays one."""
    native = frame.to_native()
    if type(X).__name__ != "RecordBatch":
        return native
    columns = [column.combine_chunks() for column in native.columns]
    return type(X).from_arrays(columns, schema=native.schema)


def _put_sparse(X: Any, support: BoolArray) -> Any:
    """Return a sparse matrix of the same format with empty columns in between."""
    by_columns = X.tocsc()
    counts = np.zeros(len(support), dtype=by_columns.indptr.dtype)
    counts[support] = np.diff(by_columns.indptr)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(counts.dtype)
    wide = type(by_columns)(
        (by_columns.data, by_columns.indices, starts), (X.shape[0], len(support))
    )
    return wide.asformat(X.format)


def _put_frame(
    X: Any,
    frame: nw.DataFrame[Any],
    support: BoolArray,
    names: Sequence[Any] | None,
    kinds: Sequence[str],
) -> Any:
    """Return a data frame with columns of zeros or missing values in between."""
    kept = np.flatnonzero(support).tolist()
    own = None if names is None else [names[j] for j in kept]
    if own is not None and not are_same_labels(own, frame.columns):
        raise ValueError(
            "the columns of X must be those that transform returns, "
            f"{', '.join(map(str, own))}, got {', '.join(map(str, frame.columns))}."
        )
    # Names may be no strings, or patterns to polars: they are put back at the end.
    plain = [f"x{j}" for j in range(len(support))]
    every_kind = kinds or ["number"] * len(support)
    dropped = np.flatnonzero(~support).tolist()
    fills = [_fill(every_kind[j]).alias(plain[j]) for j in dropped]
    wide = _renamed(frame, [plain[j] for j in kept]).with_columns(*fills).select(plain)
    if names is not None:
        wide = _renamed(wide, _names_like(frame, names))
    return wide if isinstance(X, nw.DataFrame) else _native(wide, X)


def _names_like(frame: nw.DataFrame[Any], names: Sequence[Any]) -> Any:
    """Return names as the columns of a frame have them, in pandas with their levels."""
    if not frame.implementation.is_pandas_like():
        return list(names)
    columns = frame.to_native().columns
    if columns.nlevels > 1:
        return type(columns).from_tuples(names, names=columns.names)
    plain = type(columns[:0].astype(object))  # pandas.Index
    whole = plain(names, dtype=object, name=columns.name, tupleize_cols=False)
    return whole.astype(columns.dtype)


def _fill(kind: str) -> nw.Expr:
    """Return what stands for the values of a column that was not kept."""
    if kind == "category":
        # Missing text: a missing value turned into text would be "None" in pandas 2.
        return nw.when(nw.lit(False)).then(nw.lit(""))
    if kind == "date":
        return nw.lit(None, dtype=nw.Datetime("us"))
    return nw.lit(0.0)


class _Header:
    """Names of columns, told by the protocol of interchange; there are no values."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self.shape = frame.shape
        self._names = frame.columns

    def __dataframe__(self) -> "_Header":
        return self

    def column_names(self) -> list[str]:
        """Return the names, in the order of the columns."""
        return self._names


def with_known_names(X: Any) -> Any:
    """Return X, or its header where scikit-learn would not see the names.

    It does not look into frames of narwhals, nor into those of libraries that only
    speak a protocol. Before 1.9 it asks all but pandas by the protocol of interchange,
    which polars has given up in version 2.
    """
    if isinstance(X, nw.DataFrame) or not nw.dependencies.is_into_dataframe(X):
        frame = as_frame(X)
        if frame is None:
            return X
        X = frame.to_native()
    if _READS_EVERY_FRAME or hasattr(X, "__dataframe__"):
        return X
    return _Header(nw.from_native(X, eager_only=True))


def are_same_labels(first: Sequence[Any] | None, second: Sequence[Any] | None) -> bool:
    """Tell whether labels are equal, NaN too; those of one table may be unknown."""
    if first is None or second is None:
        return True
    pairs = zip(first, second, strict=True)
    return all(repr(one) == repr(other) or one == other for one, other in pairs)
