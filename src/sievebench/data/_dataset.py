"""The record the data stage hands on: one table with its target."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sievebench.data._catalog import Metric, Scaler, Task

Matrix = npt.NDArray[np.float64]
Marks = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Dataset:
    """A table, its target, and what must be known of both later on.

    Attributes
    ----------
    name : str
        As in the catalogue.
    X : ndarray of shape (n_rows, n_columns)
        Raw values, NaN where one is missing.
    y : ndarray of shape (n_rows,)
        Class codes 0 … n_classes - 1 (int64), or raw values (float64).
    column_names : tuple of str
    is_original : ndarray of shape (n_columns,)
        Whether each column belongs to the data set, and was not added to it.
    task, metric, scaler : str
        As in the catalogue.
    n_classes : int
        0 for regression.
    is_sample : bool
        Whether the rows are only a part of the data set of that name.
    checksum : str
        md5 of the file the rows were read from; empty for what scikit-learn brings.
    """

    name: str
    X: Matrix
    y: npt.NDArray[Any]
    column_names: tuple[str, ...]
    is_original: Marks
    task: Task
    metric: Metric
    scaler: Scaler
    n_classes: int
    is_sample: bool = False
    checksum: str = ""

    def __post_init__(self) -> None:
        n_rows, n_columns = self.X.shape
        if self.y.shape != (n_rows,):
            raise ValueError(f"y must have shape ({n_rows},), got {self.y.shape}.")
        if self.is_original.shape != (n_columns,):
            raise ValueError(
                f"is_original must have shape ({n_columns},), "
                f"got {self.is_original.shape}."
            )
        if len(self.column_names) != n_columns:
            raise ValueError(
                f"column_names must have {n_columns} names, "
                f"got {len(self.column_names)}."
            )

    @property
    def n_rows(self) -> int:
        """Number of rows at hand."""
        return int(self.X.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns, added ones included."""
        return int(self.X.shape[1])

    @property
    def n_original(self) -> int:
        """Number of columns that were not added."""
        return int(self.is_original.sum())
