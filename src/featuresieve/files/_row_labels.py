"""Columns that name or number the rows, by their values alone."""

from typing import Any

import numpy as np
import numpy.typing as npt

# Fewer rows than this differ by chance.
LEAST_ROWS = 20


def is_counting(values: npt.NDArray[Any]) -> bool:
    """Tell whether numbers are ever larger."""
    return bool((values[1:] > values[:-1]).all())


def numbers_rows(values: npt.NDArray[Any]) -> bool:
    """Tell whether whole numbers, none missing, look like numbers of the rows.

    Each occurs once, and they are ever larger or leave none out.
    """
    if is_counting(values):
        return True
    spread = float(values.max()) - float(values.min())
    return spread == len(values) - 1 and len(np.unique(values)) == len(values)
