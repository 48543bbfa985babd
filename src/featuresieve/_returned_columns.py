"""Some columns of a table as the type that came in, and back to all of them."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import check_array

from featuresieve._column_kinds import BoolArray
from featuresieve._columns import IndexArray
from featuresieve._table import as_array, as_frame, is_labelled_array, is_tensor


def take_columns(X: Any, features: IndexArray) -> Any:
    """Return some columns of X, as the same type.

    Parameters
    ----------
    X : array-like, data frame, sparse matrix or tensor of shape (rows, features)
    features : array of int
        Positions of the columns.

    Returns
    -------
    same type as X
        Names, dtypes, device and row index are kept; lists become arrays.
    """
    positions = [int(feature) for feature in features]
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
    return taken if isinstance(X, nw.DataFrame) else _native(taken, X)


def put_columns(
    X: Any,
    support: BoolArray,
    names: Sequence[Any] | None,
    kinds: Sequence[str] = (),
) -> Any:
    """Return a table with all features, from one with some.

    The others are zero, or of a data frame missing where they were text or dates.

    Parameters
    ----------
    X : array-like, data frame, sparse matrix or tensor of shape (rows, kept features)
    support : array of shape (features,)
        Which features the columns of X are.
    names : sequence of length (features,), or None
        Names of all features, for data frames; x0, x1, … if None.
    kinds : sequence of str of length (features,), or empty
        Kinds of all features; empty if all are numbers.

    Returns
    -------
    same type as X
        Dtypes, device and row index are kept; lists and arrays with labels become
        plain arrays.
    """
    if sparse.issparse(X):
        _check_shape(X.shape, support)
        return _put_sparse(X, support)
    if is_tensor(X):
        _check_shape(X.shape, support)
        tensor = X.new_zeros((len(X), len(support)))
        tensor[:, np.flatnonzero(support).tolist()] = X
        return tensor
    frame = as_frame(X)
    if frame is not None:
        _check_shape(frame.shape, support)
        return _put_frame(X, frame, support, names, kinds)
    values = as_array(X)
    _check_shape(values.shape, support)
    array = np.zeros((len(values), len(support)), dtype=values.dtype)
    array[:, support] = values
    return array


def plain_array(X: Any) -> Any:
    """Return a table as the array scikit-learn makes of it; a sparse one stays."""
    if is_tensor(X):
        return as_array(X)
    return check_array(X, accept_sparse=True, dtype=None, ensure_all_finite=False)


def as_library(library: str, X: Any, names: npt.NDArray[Any]) -> Any:
    """Return a table as a data frame of "pandas" or "polars", for `set_output`.

    Parameters
    ----------
    library : "pandas" or "polars"
    X : array, data frame, sparse matrix or tensor
        A frame keeps its names, its index where there can be one, and its dtypes.
    names : array of shape (columns,)
        Names for what has none.
    """
    if sparse.issparse(X):
        raise ValueError(
            f"a sparse matrix does not fit into a frame of {library}: "
            "set_output(transform='default') lets it stay one."
        )
    frame = as_frame(X)
    if frame is not None:
        frame = frame.to_native() if isinstance(X, nw.DataFrame) else X
        made = nw.from_native(frame, eager_only=True)
        if made.implementation.name.lower() == library:
            return frame
        return made.to_pandas() if library == "pandas" else made.to_polars()
    values = as_array(X)
    if library == "pandas":
        import pandas as pd

        return pd.DataFrame(values, columns=list(names), copy=False)
    import polars as pl

    return pl.DataFrame(values, schema=[str(name) for name in names], orient="row")


def _native(frame: nw.DataFrame[Any], X: Any) -> Any:
    """Return a frame of narwhals as the type of X: a batch of pyarrow stays one."""
    native = frame.to_native()
    if type(X).__name__ != "RecordBatch":
        return native
    columns = [column.combine_chunks() for column in native.columns]
    return type(X).from_arrays(columns, schema=native.schema)


def _check_shape(shape: tuple[int, ...], support: BoolArray) -> None:
    """Refuse a table of another width than `transform` gives."""
    n_kept = int(support.sum())
    if tuple(shape[1:]) != (n_kept,):
        raise ValueError(
            f"X must have the {n_kept} columns that transform returns, got a different "
            f"shape, {tuple(shape)}."
        )


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
    if own is not None and list(frame.columns) != own:
        raise ValueError(
            "the columns of X must be those that transform returns, "
            f"{', '.join(map(str, own))}, got {', '.join(map(str, frame.columns))}."
        )
    if names is None or all(isinstance(name, str) for name in names):
        wide = _put_named(frame, support, names, kinds)
        return wide if isinstance(X, nw.DataFrame) else _native(wide, X)
    # Names that are no strings: of pandas, and only pandas can put them back.
    native = frame.to_native().copy(deep=False)
    columns = native.columns
    native.columns = [f"x{j}" for j in kept]
    named = nw.from_native(native, eager_only=True)
    wide = _put_named(named, support, None, kinds).to_native()
    is_levels = columns.nlevels > 1
    wide.columns = type(columns).from_tuples(names) if is_levels else list(names)
    wide.columns.names = columns.names
    return wide


def _put_named(
    frame: nw.DataFrame[Any],
    support: BoolArray,
    names: Sequence[str] | None,
    kinds: Sequence[str],
) -> nw.DataFrame[Any]:
    """Return a data frame whose names are strings with the other columns too."""
    everything = [f"x{j}" for j in range(len(support))] if names is None else names
    if names is None:
        own = [everything[j] for j in np.flatnonzero(support).tolist()]
        frame = frame.rename(dict(zip(frame.columns, own, strict=True)))
    every_kind = kinds or ["number"] * len(support)
    dropped = np.flatnonzero(~support).tolist()
    fills = [_fill(every_kind[j]).alias(everything[j]) for j in dropped]
    return frame.with_columns(*fills).select(list(everything))


def _fill(kind: str) -> nw.Expr:
    """Return what stands for the values of a column that was not kept."""
    if kind == "category":
        # Missing text: a missing value turned into text would be "None" in pandas 2.
        return nw.when(nw.lit(False)).then(nw.lit(""))
    if kind == "date":
        return nw.lit(None, dtype=nw.Datetime("us"))
    return nw.lit(0.0)
