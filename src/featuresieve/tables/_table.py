"""What the user passes as X: arrays, lists, data frames, sparse matrices, tensors.

`read_table` gives one view of all of them.
"""

import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from narwhals.exceptions import DuplicateError
from scipy import sparse

from featuresieve.errors import infinity_error
from featuresieve.tables._array_reading import as_array
from featuresieve.tables._column import (
    BoolArray,
    Column,
    column_of_array,
    column_of_floats,
    column_of_series,
    complex_error,
    missing_columns,
)
from featuresieve.tables._refused_forms import (
    form_error,
    refuse_other_forms,
)
from featuresieve.tables._scaling import FloatArray, IndexArray

_NUMBERS = {
    *(nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.Float32, nw.Float64),
    *(nw.UInt8, nw.UInt16, nw.UInt32, nw.UInt64),
}
_NUMPY_KINDS: dict[Any, str] = dict.fromkeys(map(np.dtype, "bhilqBHILQefd"), "number")
_NUMPY_KINDS[np.dtype("?")] = "boolean"
_ALL = slice(None)


class Table(ABC):
    """A view of the user's table, which it neither changes nor copies."""

    is_numeric_matrix = False  # one numeric array of numpy, torch or nested lists
    is_sparse = False

    def __init__(
        self, n_rows: int, n_features: int, names: Sequence[Any] | None
    ) -> None:
        self.n_rows, self.n_features = n_rows, n_features
        is_named = all(isinstance(name, str) for name in names or ())
        self.names: list[str] | None = list(names) if names and is_named else None
        # Names that are not all strings: numbers, tuples, dates.
        self.labels: list[Any] | None = list(names) if names and not is_named else None
        # Codes of categories cost more to find than to keep.
        self._categories: dict[int, Column] = {}
        self._unused: frozenset[int] = frozenset()

    def label(self, j: int) -> str:
        """Return how errors name column j."""
        names = self.names or self.labels
        return f"column {j}" if names is None else f"column {names[j]!r}"

    def column(self, j: int) -> Column:
        """Return column j; infinite values and cells of no known kind are errors."""
        if j in self._categories:
            return self._categories[j]
        try:
            column = self._read_column(int(j))
        except (TypeError, ValueError):
            if j not in self._unused:
                raise
            column = column_of_floats(np.full(self.n_rows, np.nan), self.label(j))
        if column.kind == "category":
            self._categories[j] = column
        return column

    def number_kinds(self) -> npt.NDArray[np.str_]:
        """Return the kinds of the columns that `numbers` reads, "" for all others."""
        return np.full(self.n_features, "", dtype="U7")

    def numbers(self, columns: IndexArray, rows: slice = _ALL) -> FloatArray:  # noqa: ARG002
        """Return a copy of some of them, (columns, rows), NaN where missing."""
        raise TypeError(f"columns {columns.tolist()} are not all of numbers.")

    def may_miss(self) -> BoolArray:
        """Tell which of them may have missing values, by what is known unread."""
        return np.ones(self.n_features, dtype=np.bool_)

    def leave_out_(self, features: Iterable[int]) -> None:
        """Let some columns hold anything; what cannot be read there is missing."""
        self._unused = frozenset(map(int, features))

    def matrix(self) -> Any:
        """Return a numeric matrix as float32 or float64, a sparse one as CSR array."""
        raise TypeError("only a numeric array can be seen as one matrix.")

    @abstractmethod
    def _read_column(self, j: int) -> Column:
        """Read column j."""


class _ArrayTable(Table):
    """A two-dimensional numpy array, numeric or not."""

    def __init__(self, values: npt.NDArray[Any]) -> None:
        super().__init__(values.shape[0], values.shape[1], None)
        self._values = values
        self.is_numeric_matrix = values.dtype.kind in "biuf"
        self._has_missing = missing_columns(values)

    def _read_column(self, j: int) -> Column:
        values = self._values[:, j]
        if values.dtype.kind == "f":
            is_missing = np.isnan(values) if self._has_missing[j] else None
            return Column("number", values, is_missing)
        return column_of_array(values, self.label(j))

    def number_kinds(self) -> npt.NDArray[np.str_]:
        kind = {"b": "boolean", "i": "number", "u": "number", "f": "number"}
        found = kind.get(self._values.dtype.kind, "")
        return np.full(self.n_features, found, dtype="U7")

    def numbers(self, columns: IndexArray, rows: slice = _ALL) -> FloatArray:
        some = self._values[rows, _as_slice(columns)]
        if not some.flags.f_contiguous:
            # Whole lines of the cache first: columns of a wide table share a few of it.
            some = np.ascontiguousarray(some)
        return np.array(some.T, dtype=np.float64, order="C")

    def may_miss(self) -> BoolArray:
        return self._has_missing

    def matrix(self) -> npt.NDArray[Any]:
        if not self.is_numeric_matrix:
            return np.asarray(super().matrix())
        return self._values.astype(_float_of(self._values.dtype), copy=False)


class _FrameTable(Table):
    """A data frame that narwhals knows."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        super().__init__(frame.shape[0], frame.shape[1], frame.columns)
        self._frame = frame

    def _read_column(self, j: int) -> Column:
        return column_of_series(self._series(j), self.label(j))

    def _series(self, j: int) -> nw.Series[Any]:
        """Return a column by its position; narwhals looks at all names for one."""
        native = self._frame.to_native()
        if self._frame.implementation.is_pandas_like():
            return nw.from_native(native.iloc[:, j], series_only=True)
        if self._frame.implementation.is_polars():
            return nw.from_native(native.to_series(j), series_only=True)
        return nw.from_native(native.column(j), series_only=True)

    def number_kinds(self) -> npt.NDArray[np.str_]:
        # Of numbers and booleans of numpy, at most as long as float64.
        if self._frame.implementation.is_pandas_like():  # it has others of those names
            dtypes = self._frame.to_native().dtypes
            kinds = [_NUMPY_KINDS.get(dtype, "") for dtype in dtypes]
        else:
            dtypes = self._frame.schema.values()
            kinds = ["number" if dtype in _NUMBERS else "" for dtype in dtypes]
        return np.array(kinds, dtype="U7")

    def numbers(self, columns: IndexArray, rows: slice = _ALL) -> FloatArray:
        native = self._frame.to_native()
        if self._frame.implementation.is_pandas_like():
            some = native.iloc[rows, _as_slice(columns)].to_numpy(dtype=np.float64)
            block = np.array(some.T, order="C")
        else:
            is_polars = self._frame.implementation.is_polars()
            read = native.to_series if is_polars else native.column
            block = np.empty((len(columns), len(range(self.n_rows)[rows])))
            for values, j in zip(block, columns.tolist(), strict=True):
                values[:] = read(j)[rows].to_numpy()
        self._refuse_infinity(block, columns)
        return block

    def _refuse_infinity(self, block: FloatArray, columns: IndexArray) -> None:
        """Raise if a value is infinite; one that nobody uses becomes a missing one."""
        is_infinite = np.isinf(block)
        if not is_infinite.any():
            return
        for k in np.flatnonzero(is_infinite.any(axis=1)).tolist():
            row, j = int(is_infinite[k].argmax()), int(columns[k])
            if j not in self._unused:
                raise infinity_error(self.label(j), row, block[k, row])
            block[k] = np.nan


def _as_slice(columns: IndexArray) -> IndexArray | slice:
    """Return positions as a slice, many times as fast, if they are one."""
    if (np.diff(columns) == 1).all():
        return slice(int(columns[0]), int(columns[-1]) + 1)
    return columns


class _SparseTable(Table):
    """A sparse matrix: what is not stored is zero, not missing."""

    is_sparse = True

    def __init__(self, values: Any) -> None:
        super().__init__(values.shape[0], values.shape[1], None)
        self._values = values
        self._by_columns: Any = None

    def _read_column(self, j: int) -> Column:
        if self._by_columns is None:
            self._by_columns = self._values.tocsc()
        return Column("number", self._by_columns[:, [j]].toarray()[:, 0])

    def matrix(self) -> Any:
        return self._values


class PartialTable(Table):
    """A table of some columns, seen as the wider one that they are from."""

    def __init__(self, table: Table, features: IndexArray, n_features: int) -> None:
        super().__init__(table.n_rows, n_features, None)
        self._table = table
        self._index_of = {int(j): index for index, j in enumerate(features)}

    def label(self, j: int) -> str:
        return self._table.label(self._index_of[j])

    def number_kinds(self) -> npt.NDArray[np.str_]:
        kinds = np.full(self.n_features, "", dtype="U7")
        kinds[[*self._index_of]] = self._table.number_kinds()
        return kinds

    def numbers(self, columns: IndexArray, rows: slice = _ALL) -> FloatArray:
        indices = [self._index_of[j] for j in columns.tolist()]
        return self._table.numbers(np.array(indices, dtype=np.intp), rows)

    def _read_column(self, j: int) -> Column:
        return self._table.column(self._index_of[j])


def read_table(X: Any) -> Table:
    """Return a view of X, or say why it cannot be read.

    A ValueError if X is not two-dimensional, has no rows or columns, repeats a column
    name, or holds complex or (in an array) infinite numbers; a TypeError if it is lazy,
    can be read only once, or is of a type that holds no table.
    """
    refuse_other_forms(X)
    frame = as_frame(X)
    if frame is not None:
        _check_shape(frame.shape)
        return _FrameTable(frame)
    if sparse.issparse(X):
        return _SparseTable(_as_csr(X))
    return _ArrayTable(as_array(X))


def as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """Return X as a data frame of narwhals, or None if it is no data frame."""
    frame = _from_native(X)
    if isinstance(frame, nw.DataFrame):
        return frame
    if isinstance(frame, nw.LazyFrame):
        raise form_error(X, "the data frame that it stands for")
    is_foreign = hasattr(X, "__arrow_c_stream__") or hasattr(X, "__dataframe__")
    return _through_arrow(X) if is_foreign and not is_labelled_array(X) else None


def _from_native(X: Any) -> Any:
    """Return a frame of narwhals, or X itself; names that repeat are an error."""
    try:
        return nw.from_native(X, pass_through=True)
    except DuplicateError:
        names = getattr(X, "column_names", None) or list(X.columns)
        repeated = sorted(str(name) for name, n in Counter(names).items() if n > 1)
        raise ValueError(
            f"the column names of X must differ, got {', '.join(repeated)} more than "
            "once."
        ) from None


def _through_arrow(X: Any) -> nw.DataFrame[Any] | None:
    """Read a table of another library by way of pyarrow; None for single columns."""
    if isinstance(X, nw.Series) or nw.dependencies.is_into_series(X):
        return None
    try:
        import pyarrow as pa
        import pyarrow.interchange as interchange
    except ImportError:
        raise form_error(X, "a numpy array, or install pyarrow to read it") from None
    if isinstance(X, pa.RecordBatch):
        read = pa.Table.from_batches([X])  # a stream ends a name at a NUL
    elif hasattr(X, "__arrow_c_stream__"):
        read = pa.table(X)
    else:
        read = interchange.from_dataframe(X)
    frame: nw.DataFrame[Any] = _from_native(read)
    return frame


def is_labelled_array(X: Any) -> bool:
    """Tell whether X is an array of xarray, without importing it."""
    xarray = sys.modules.get("xarray")
    return xarray is not None and isinstance(X, xarray.DataArray)


def _as_csr(X: Any) -> Any:
    """Return a sparse matrix as CSR array with each cell stored once."""
    _check_shape(X.shape)
    values = sparse.csr_array(X)
    if values.dtype.kind == "c":
        raise complex_error("the sparse matrix")
    if not values.has_canonical_format:
        values = values.copy()
        values.sum_duplicates()
    if not np.isfinite(values.data).all():
        cell = int((~np.isfinite(values.data)).argmax())
        row = int(np.searchsorted(values.indptr, cell, side="right")) - 1
        value, label = values.data[cell], f"column {values.indices[cell]}"
        if np.isinf(value):
            raise infinity_error(label, row, value)
        raise ValueError(
            f"{label} of X holds NaN in row {row}: a sparse matrix may not contain "
            "missing values. Pass a dense table instead."
        )
    return values.astype(_float_of(values.dtype), copy=False)


def _check_shape(shape: tuple[int, ...]) -> None:
    """Raise scikit-learn's errors for tables without rows or columns."""
    if len(shape) != 2:
        raise ValueError(f"Expected 2D array, got {len(shape)}D array instead.")
    for size, word in zip(shape, ("sample", "feature"), strict=True):
        if size == 0:
            raise ValueError(
                f"Found array with 0 {word}(s) (shape={shape}) while a minimum of 1 "
                "is required."
            )


def _float_of(dtype: np.dtype[Any]) -> type[np.floating[Any]]:
    """Return float32 if it holds every value of the dtype exactly, else float64."""
    return np.float32 if np.can_cast(dtype, np.float32) else np.float64
