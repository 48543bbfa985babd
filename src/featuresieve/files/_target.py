"""The target column: which task it stands for, and its values."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from featuresieve.files._errors import TableFileError
from featuresieve.files._task import MOST_CLASSES, Task, infer_task


@dataclass(frozen=True)
class TargetColumn:
    """The target of the rows that have one."""

    name: str
    values: npt.NDArray[Any]  # labels or numbers, (n_rows,)
    task: Task
    reason: str  # why it is that


def target_of(name: str, column: Any, task: str) -> TargetColumn:
    """Decide what a target stands for, by `infer_task` unless the user says it."""
    values = _values(name, column)
    distinct = np.unique(values)
    if len(distinct) < 2:
        raise TableFileError(
            f"--target: {name!r} is {distinct.tolist()[0]!r} in every row; there is "
            "nothing to predict."
        )
    is_text = values.dtype == object
    if task == "auto":
        found, reason = infer_task(values)
    else:
        found, reason = task, "as --task says"  # type: ignore[assignment]
    if found == "regression":
        if is_text:
            raise TableFileError(
                f"--task regression: {name!r} holds text such as {distinct[0]!r}."
            )
        return TargetColumn(name, values.astype(np.float64), found, reason)
    if len(distinct) > len(values) / 2 and len(distinct) > MOST_CLASSES:
        raise TableFileError(
            f"--target: {name!r} has {len(distinct)} different values in {len(values)} "
            "rows, which are no classes."
        )
    return TargetColumn(name, values, found, reason)


def _values(name: str, column: Any) -> npt.NDArray[Any]:
    """Return the target as labels or numbers."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if pa.types.is_temporal(kind):
        raise TableFileError(
            f"--target: {name!r} holds {kind}; only numbers, text and truth values can "
            "be predicted."
        )
    if pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
    values = np.asarray(column.to_numpy())
    if values.dtype.kind in "biuf":
        return values
    return np.array(pc.cast(column, pa.string()).to_pylist(), dtype=object)
