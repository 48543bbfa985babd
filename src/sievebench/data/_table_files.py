"""Data files as they lie in the data folder: Parquet, or npz for wide tables."""

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

TARGET = "target"


class RawTable(NamedTuple):
    """Features, target and names of the features, as a file or a source has them."""

    X: npt.NDArray[Any]
    y: npt.NDArray[Any]
    names: tuple[str, ...]


def read_table(path: Path) -> RawTable:
    """Read a data file.

    Parameters
    ----------
    path : Path
        ``.parquet`` with a column "target", or ``.npz`` with arrays X and target.

    Returns
    -------
    RawTable
    """
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            X, y = arrays["X"], arrays["target"]
        return RawTable(X, y, _numbered(X.shape[1]))
    frame = pd.read_parquet(path)
    features = frame.drop(columns=TARGET)
    names = tuple(str(name) for name in features.columns)
    X = features.to_numpy(dtype=np.float64)
    return RawTable(X, frame[TARGET].to_numpy(), names)


def write_table(table: RawTable, path: Path) -> None:
    """Write a data file, whole or not at all.

    Parameters
    ----------
    table : RawTable
    path : Path
        Its suffix decides the format; its folder is made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"part-{path.name}")
    if path.suffix == ".npz":
        np.savez_compressed(part, X=table.X, target=table.y)
    else:
        frame = pd.DataFrame(table.X, columns=list(table.names))
        frame[TARGET] = table.y
        frame.to_parquet(part, index=False)
    part.replace(path)


def file_md5(path: Path) -> str:
    """Return the md5 of a file as hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "md5").hexdigest()


def _numbered(n_columns: int) -> tuple[str, ...]:
    """Return names for columns that have none."""
    return tuple(f"x{number}" for number in range(n_columns))
