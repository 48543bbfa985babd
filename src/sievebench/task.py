"""Which task a target stands for."""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Task = Literal["classification", "regression"]
TASKS: tuple[Task, ...] = ("classification", "regression")

# Up to so many distinct values, whole numbers are taken for classes.
_MOST_OBVIOUS_CLASSES = 20
# Integers beyond that are classes only while each has this many rows on average.
_ROWS_PER_CLASS = 10


def task_of(y: npt.NDArray[Any]) -> Task:
    """Return the task that a target of this kind usually stands for.

    Labels (strings, booleans, objects) are classes. Numbers with a fractional part are
    values. Whole numbers are classes if there are at most 20 of them; beyond that they
    are values if they are stored as floats, or if there are fewer than ten rows for
    each distinct number.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        The target, without missing values.

    Returns
    -------
    {"classification", "regression"}
    """
    if y.dtype.kind not in "iuf":
        return "classification"
    is_float = y.dtype.kind == "f"
    if is_float and np.any(y != np.trunc(y)):
        return "regression"
    n_distinct = len(np.unique(y))
    if n_distinct <= _MOST_OBVIOUS_CLASSES:
        return "classification"
    if is_float or n_distinct * _ROWS_PER_CLASS > len(y):
        return "regression"
    return "classification"
