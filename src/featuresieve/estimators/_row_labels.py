"""Columns that name or number the rows, and columns of free text."""

from typing import Any

import numpy as np
import numpy.typing as npt

from featuresieve.files import LEAST_ROWS, numbers_rows
from featuresieve.tables import IndexArray, Table, TableEncoder, blocks_of

# Free text: words of the middle row, and different values for each row, at least.
_LEAST_WORDS, _LEAST_DISTINCT = 4, 0.5


def row_labels(table: Table, encoder: TableEncoder) -> tuple[list[int], list[int]]:
    """Return the columns that name or number the rows, and those of free text."""
    labels: list[int] = []
    texts: list[int] = []
    if table.n_rows < LEAST_ROWS or encoder.is_sparse:
        return labels, texts
    kinds = table.number_kinds()
    for columns in blocks_of(np.flatnonzero(kinds == "number"), LEAST_ROWS):
        labels += _counting(table, columns)
    for j in np.flatnonzero(kinds == "").tolist():
        column = table.column(j)
        if encoder.features[j].kind == "number" and column.is_missing is None:
            if _numbers_rows(column.values):
                labels.append(j)
        elif encoder.features[j].kind == "category":
            used = np.unique(column.values[column.values >= 0])
            words = [str(column.levels[code]).count(" ") + 1 for code in used[:1000]]
            if len(used) >= _LEAST_DISTINCT * table.n_rows and (
                np.median(words) >= _LEAST_WORDS
            ):
                texts.append(j)
            elif len(used) == table.n_rows:
                labels.append(j)
    return sorted(labels), texts


def _counting(table: Table, columns: IndexArray) -> list[int]:
    """Return which of some columns of numbers number the rows."""
    first = np.sort(table.numbers(columns, slice(LEAST_ROWS)), axis=1)
    may_count = (first == np.rint(first)).all(axis=1)  # all whole, none twice
    may_count &= (first[:, 1:] > first[:, :-1]).all(axis=1)
    found = columns[may_count]
    return [int(j) for j in found if _numbers_rows(table.numbers(np.array([j]))[0])]


def _numbers_rows(values: npt.NDArray[Any]) -> bool:
    """Tell whether a column holds whole numbers that number the rows."""
    return bool((values == np.rint(values)).all()) and numbers_rows(values)
