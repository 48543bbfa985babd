"""Some columns of a table as the type that came in, and back to all of them."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
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
    keys = frame.columns
    taken = frame.select([keys[position] for position in positions])
    return taken if isinstance(X, nw.DataFrame) else taken.to_native()


def put_columns(
    X: Any,
    support: BoolArray,
    names: Sequence[str] | None,
    kinds: Sequence[str] = (),
) -> Any:
    """Return a table with all features, from one with some.

    The others are zero, or of a data frame missing where they were text or dates.

    Parameters
    ----------
    X : array-like, data frame, sparse matrix or tensor of shape (rows, kept features)
    support : array of shape (features,)
        Which features the columns of X are.
    names : sequence of str of length (features,), or None
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
    names: Sequence[str] | None,
    kinds: Sequence[str],
) -> Any:
    """Return a data frame with columns of zeros or missing values in between."""
    everything = [f"x{j}" for j in range(len(support))] if names is None else names
    own = [name for name, is_own in zip(everything, support, strict=True) if is_own]
    if names is None:
        frame = frame.rename(dict(zip(frame.columns, own, strict=True)))
    elif frame.columns != own:
        raise ValueError(
            "the columns of X must be those that transform returns, "
            f"{', '.join(own)}, got {', '.join(map(str, frame.columns))}."
        )
    fills = [
        _fill(kind).alias(name)
        for name, kind, is_own in zip(
            everything, kinds or ["number"] * len(support), support, strict=True
        )
        if not is_own
    ]
    wide = frame.with_columns(*fills).select(list(everything))
    return wide if isinstance(X, nw.DataFrame) else wide.to_native()


def _fill(kind: str) -> nw.Expr:
    """Return what stands for the values of a column that was not kept."""
    if kind == "category":
        return nw.lit(None, dtype=nw.String)
    if kind == "date":
        return nw.lit(None, dtype=nw.Datetime("us"))
    return nw.lit(0.0)
