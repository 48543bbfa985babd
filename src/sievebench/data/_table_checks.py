"""Whether a table is the one of the catalogue, and one that can be learnt from."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sievebench.data._catalog import CatalogEntry
from sievebench.data._exceptions import CorruptDataError
from sievebench.data._table_files import RawTable


def check_table(entry: CatalogEntry, table: RawTable, n_rows: int) -> None:
    """Refuse a table that the catalogue does not describe, or nobody can learn.

    Parameters
    ----------
    entry : CatalogEntry
    table : RawTable
    n_rows : int
        How many there should be.

    Raises
    ------
    CorruptDataError
    """
    expected = (n_rows, entry.n_columns)
    if table.X.shape != expected:
        raise CorruptDataError(
            f"{entry.name} has {table.X.shape[0]} rows × {table.X.shape[1]} columns, "
            f"and the catalogue says {expected[0]} × {expected[1]}."
        )
    infinite = np.isinf(table.X).any(axis=0)
    if infinite.any():
        raise CorruptDataError(
            f"{entry.name} has infinite values in column "
            f"{table.names[infinite.argmax()]!r}; missing ones must be NaN."
        )
    n_missing = int(pd.isna(table.y).sum())
    if n_missing:
        raise CorruptDataError(
            f"{entry.name} has no target in {n_missing} of {n_rows} rows; leave them "
            "out."
        )
    if entry.task == "regression":
        _check_values(entry, table.y)
        return
    n_classes = len(np.unique(table.y))
    if n_classes != entry.n_classes:
        raise CorruptDataError(
            f"{entry.name} has {n_classes} classes, and the catalogue says "
            f"{entry.n_classes}."
        )


def check_classes(entry: CatalogEntry, y: npt.NDArray[Any]) -> None:
    """Refuse classes that no split can have in its train part and elsewhere.

    Parameters
    ----------
    entry : CatalogEntry
    y : ndarray of shape (n_rows,)
        The target of the rows to use.

    Raises
    ------
    CorruptDataError
    """
    classes, counts = np.unique(y, return_counts=True)
    if counts.min() == 1:
        raise CorruptDataError(
            f"{entry.name} has a single row of class "
            f"{str(classes[counts.argmin()])!r}, and must have two of each."
        )


def _check_values(entry: CatalogEntry, y: npt.NDArray[Any]) -> None:
    """Refuse a target of a regression that does not hold numbers."""
    if y.dtype.kind not in "iufb":
        raise CorruptDataError(
            f"{entry.name} has a target such as {y[0]!r}, and a regression needs "
            "numbers."
        )
    if np.isinf(y).any():
        raise CorruptDataError(f"{entry.name} has infinite values in its target.")
