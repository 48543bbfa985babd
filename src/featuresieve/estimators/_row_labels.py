"""Columns that name or number the rows, of free text, and of numbers as text."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from featuresieve.files import LEAST_ROWS, numbers_rows
from featuresieve.tables import (
    CategoryEncoder,
    IndexArray,
    Level,
    Table,
    TableEncoder,
    blocks_of,
)

# Free text: words of the middle row, and different values for each row, at least.
_LEAST_WORDS, _LEAST_DISTINCT = 4, 0.5
# Codes have leading zeros.
_NUMBER = re.compile(
    r"\s*[+-]?(0|[1-9]\d*|(?=\.\d))(\.\d*)?([eE][+-]?\d+)?\s*", re.ASCII
)


class RowLabels(NamedTuple):
    """Columns of which their values, taken as they are, say little."""

    names: list[int]  # that name or number the rows
    texts: list[int]  # of several words
    numbers: list[int]  # written as text


def row_labels(table: Table, encoder: TableEncoder) -> RowLabels:
    """Return the columns of which their values, taken as they are, say little."""
    found = RowLabels([], [], [])
    if table.n_rows < LEAST_ROWS or encoder.is_sparse:
        return found
    kinds = table.number_kinds()
    for columns in blocks_of(np.flatnonzero(kinds == "number"), LEAST_ROWS):
        found.names.extend(_counting(table, columns))
    for j in np.flatnonzero(kinds == "").tolist():
        column = table.column(j)
        if encoder.features[j].kind == "number" and column.is_missing is None:
            if _numbers_rows(column.values):
                found.names.append(j)
        elif isinstance(own := encoder.features[j].encoder, CategoryEncoder):
            used = np.unique(column.values[column.values >= 0])
            levels = [column.levels[code] for code in used[:1000]]
            share = len(used) / table.n_rows
            if _are_texts(levels) and share >= _LEAST_DISTINCT:
                found.texts.append(j)
            elif own.has_other and _are_numbers(levels, share == 1):
                found.numbers.append(j)
            elif share == 1:
                found.names.append(j)
    found.names.sort()
    return found


def _are_texts(levels: Sequence[Level]) -> bool:
    """Tell whether levels are of several words."""
    words = [str(level).count(" ") + 1 for level in levels]
    return bool(words) and bool(np.median(words) >= _LEAST_WORDS)


def _are_numbers(levels: Sequence[Level], is_unique: bool) -> bool:
    """Tell whether texts are numbers; whole ones that never repeat name the rows."""
    texts = [level for level in levels if isinstance(level, str)]
    if is_unique and all(text.strip().isdecimal() for text in texts):
        return False
    return len(texts) == len(levels) and all(map(_NUMBER.fullmatch, texts))


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
