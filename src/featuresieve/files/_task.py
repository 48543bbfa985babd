"""Which task a target stands for: the one rule of both commands."""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Task = Literal["classification", "regression"]

# Whole numbers are classes if there are no more of them than this, and if there are
# several rows for each (two numbers are classes always).
MOST_CLASSES = 20
_LEAST_ROWS_PER_CLASS = 3


def infer_task(values: npt.NDArray[Any]) -> tuple[Task, str]:
    """Return the task that values usually stand for, and why, as the end of a sentence.

    Text and truth values are classes. Numbers with a fraction are values. Whole
    numbers are classes if there are at most 20 different ones and at least three rows
    for each, or only two; else they are values. There are no missing ones.
    """
    if values.dtype == np.bool_:
        return "classification", "it holds truth values"
    if values.dtype.kind not in "iuf":
        return "classification", "it holds text"
    distinct = np.unique(values)
    if np.any(distinct != np.trunc(distinct)):
        return "regression", "it holds numbers with a fraction"
    n_distinct = len(distinct)
    counted = f"whole numbers, {n_distinct} different ones in {len(values)} rows"
    has_rows = len(values) >= _LEAST_ROWS_PER_CLASS * n_distinct
    if n_distinct == 2 or (n_distinct <= MOST_CLASSES and has_rows):
        return "classification", counted
    return "regression", counted
