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
    """A table, its target, and what must be known of both later on."""

    name: str  # as in the catalogue
    X: Matrix  # raw values, NaN where one is missing
    # Class codes 0 … n_classes - 1 (int64), or raw values (float64).
    y: npt.NDArray[Any]
    column_names: tuple[str, ...]
    # Whether each column belongs to the data set, and was not added to it.
    is_original: Marks
    # As in the catalogue.
    task: Task
    metric: Metric
    scaler: Scaler
    n_classes: int  # 0 for regression
    # Whether the rows are only a part of the data set of that name.
    is_sample: bool = False
    # md5 of the file the rows were read from; empty for what scikit-learn brings.
    checksum: str = ""
    # Columns whose values together name the group of a row, such as its query.
    group_columns: tuple[int, ...] = ()

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

    def groups(self) -> npt.NDArray[np.int64] | None:
        """Return the number of the group of each row; None if rows have none."""
        if not self.group_columns:
            return None
        named = self.X[:, list(self.group_columns)]
        _, numbers = np.unique(named, axis=0, return_inverse=True)
        return np.asarray(numbers, dtype=np.int64).reshape(-1)
