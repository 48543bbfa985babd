"""Data files as they lie in the data folder: Parquet, or npz for wide tables."""

import hashlib
import zipfile
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from featuresieve.errors import one_line
from featuresieve.files import AtomicFiles
from sievebench.data._catalog import CorruptDataError

TARGET = "target"
_NUMBERS = "iufb"  # kinds of dtypes
# What the readers raise for files that are cut, changed or something else.
_DAMAGED = (
    *(OSError, ValueError, KeyError, TypeError, EOFError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error),
)


class RawTable(NamedTuple):
    """Features, target and names of the features, as a file or a source has them."""

    X: npt.NDArray[Any]
    y: npt.NDArray[Any]
    names: tuple[str, ...]


def read_table(path: Path) -> RawTable:
    """Read ``.npz`` with arrays X and target, or ``.parquet`` with a column target."""
    try:
        return _read_arrays(path) if path.suffix == ".npz" else _read_parquet(path)
    except _DAMAGED as error:
        raise CorruptDataError(f"{path} cannot be read: {one_line(error)}") from error


def _read_arrays(path: Path) -> RawTable:
    with path.open("rb") as stream, np.load(stream) as arrays:
        missing = {"X", TARGET} - set(arrays)
        if missing:
            raise ValueError(f"it has no array {min(missing)!r}.")
        X, y = arrays["X"], arrays[TARGET]
    if X.ndim != 2 or X.dtype.kind not in _NUMBERS or y.shape != X.shape[:1]:
        raise ValueError(
            "X must be a matrix of numbers, and target one value a row, got "
            f"{X.dtype} {X.shape} and {y.shape}."
        )
    return RawTable(X, y, numbered_names(X.shape[1]))


def _read_parquet(path: Path) -> RawTable:
    frame = pd.read_parquet(path)
    if TARGET not in frame.columns:
        raise ValueError(f"it has no column {TARGET!r}.")
    features = frame.drop(columns=TARGET)
    for name, dtype in features.dtypes.items():
        if isinstance(dtype, pd.CategoricalDtype):
            features[name] = _codes(features[name])
        elif dtype.kind not in _NUMBERS:
            raise ValueError(
                f"column {name!r} holds {dtype}, and must hold numbers or categories."
            )
    names = tuple(str(name) for name in features.columns)
    X = features.to_numpy(dtype=np.float64)
    return RawTable(X, frame[TARGET].to_numpy(), names)


def _codes(column: pd.Series) -> npt.NDArray[np.float64]:
    """Return the indices of categories in their sorted order, NaN where missing."""
    ordered = column.cat.set_categories(sorted(column.cat.categories))
    codes = ordered.cat.codes.to_numpy(dtype=np.float64)
    return np.where(codes < 0, np.nan, codes)


def write_table(table: RawTable, path: Path) -> None:
    """Write a data file, whole or not at all; its suffix decides the format."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with AtomicFiles() as files:
        draft = files.path(str(path))
        if path.suffix == ".npz":
            np.savez_compressed(draft, X=table.X, target=table.y)
        else:
            frame = pd.DataFrame(table.X, columns=list(table.names))
            frame[TARGET] = table.y
            frame.to_parquet(draft, index=False)


def file_md5(path: Path) -> str:
    """Return the md5 of a file as hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "md5").hexdigest()


def numbered_names(n_columns: int) -> tuple[str, ...]:
    """Return names for columns that have none."""
    return tuple(f"x{number}" for number in range(n_columns))
