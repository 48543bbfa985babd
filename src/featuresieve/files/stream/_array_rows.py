"""The rows of an array on disk that a fit learns from; no pyarrow."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from featuresieve.errors import infinity_error
from featuresieve.files.stream._costs import array_row_cost, check_memory
from featuresieve.files.stream._row_choice import (
    MOST_ROWS,
    affordable_rows,
    class_weights,
    row_hashes,
)
from featuresieve.files.stream._stream import Stream

_BLOCK_BYTES = 1 << 24


@dataclass(frozen=True)
class ArrayRows:
    """Which rows of an array are kept, and what each stands for."""

    features: npt.NDArray[Any]
    rows: npt.NDArray[np.intp] | None  # None: all of them
    weights: npt.NDArray[np.float64] | None
    n_rows: int  # of the whole array

    def of_rows(self, values: Any) -> Any:
        """Return what belongs to the kept rows, of one value for each row."""
        if self.rows is None or values is None or np.ndim(values) == 0:
            return values
        if len(values) != self.n_rows:
            raise ValueError(
                "Found input variables with inconsistent numbers of samples: X has "
                f"{self.n_rows} rows, got {len(values)}."
            )
        is_plain = isinstance(values, list | tuple)
        values = values.iloc if hasattr(values, "iloc") else values
        return (np.asarray(values) if is_plain else values)[self.rows]


def take_array_rows(stream: Stream, labels: Any, seed: int) -> ArrayRows:
    """Read an array once, and keep as many of its rows as the memory allows.

    With `labels`, one for each row, as many of each class.
    """
    X = stream.source
    if X.ndim != 2:
        return ArrayRows(X, None, None, len(X))  # refused later
    cost = array_row_cost(X)
    check_memory(stream.n_bytes, cost)
    if len(X) * cost <= stream.n_bytes and len(X) <= MOST_ROWS:
        return ArrayRows(X, None, None, len(X))
    codes = np.zeros(len(X), dtype=np.int64)
    if labels is not None and np.shape(labels) == (len(X),):
        codes = np.unique(np.asarray(labels), return_inverse=True)[1]
    hashes = row_hashes(seed, np.arange(len(X)))
    costs = np.full(len(X), cost)
    is_kept = affordable_rows(hashes, codes, costs, stream.n_bytes, MOST_ROWS)
    rows = np.flatnonzero(is_kept)
    weights = class_weights(codes[rows], np.bincount(codes))
    return ArrayRows(_rows_of(X, is_kept), rows, weights, len(X))


def _rows_of(X: Any, is_kept: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
    """Return some rows, read block by block; infinite numbers anywhere are an error."""
    n_block = max(1, _BLOCK_BYTES // max(1, X.itemsize * X.shape[1]))
    blocks = []
    for start in range(0, len(X), n_block):
        block = np.asarray(X[start : start + n_block])
        if block.dtype.kind == "f" and np.isinf(block).any():
            row, column = np.argwhere(np.isinf(block))[0]
            found = block[row, column]
            raise infinity_error(f"column {column}", start + row, found)
        blocks.append(block[is_kept[start : start + n_block]])
    return np.concatenate(blocks)
