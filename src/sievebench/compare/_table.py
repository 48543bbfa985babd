"""The user's table, as the command featuresieve reads it, made ready to be compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from featuresieve.files import Task, read_file, read_inputs
from sievebench.compare._plan import CompareError

_TICKS_A_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@dataclass(frozen=True)
class Table:
    """The features and the target of a table, as read."""

    name: str  # name of the file
    # number columns are float64 with NaN; the others are text, as objects, with None
    features: pd.DataFrame
    target_name: str
    target: npt.NDArray[Any]  # numbers or labels, none missing
    task: Task
    notes: tuple[str, ...] = ()  # sentences: what was left out or changed on reading


def read_table(
    path: str | Path,
    target: str,
    *,
    task: str = "auto",
    drop: Sequence[str] = (),
    **reading: Any,
) -> Table:
    """Read a file and take the target out of it, as `featuresieve select` does."""
    with read_file(str(path), meanings={target: "label"}, **reading) as file:
        inputs = read_inputs(file, target, task=task, drop=drop)
        name = Path(file.source.name).name
    table = inputs.features
    _check_size(table, inputs.target.name, name)
    return Table(
        name,
        pd.DataFrame({n: _plain_column(table[n]) for n in table.column_names}),
        inputs.target.name,
        inputs.target.values,
        inputs.target.task,
        tuple(f"{note[:1].upper()}{note[1:]}" for note in inputs.notes),
    )


def _check_size(features: pa.Table, target: str, name: str) -> None:
    """Refuse a table in which there is nothing to choose or to learn."""
    n_filled = sum(column.null_count < len(column) for column in features.columns)
    if n_filled < 2:
        raise CompareError(
            f"{name} must have at least 2 columns beside {target!r} that are not "
            f"empty, got {n_filled}."
        )
    if features.num_rows < 10:
        raise CompareError(
            f"{name} must have at least 10 rows with a value of {target!r}, "
            f"got {features.num_rows}."
        )


def _plain_column(column: Any) -> pd.Series:
    """Return numbers (also of dates, times and truth values) as float64, else text."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = pc.cast(column, kind.value_type)
    elif pa.types.is_temporal(kind):
        return _seconds(column)
    elif not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return pd.Series(pc.cast(column, pa.float64(), safe=False).to_numpy())
    return pd.Series(pc.cast(column, pa.string()).to_pylist(), dtype=object)


def _seconds(column: Any) -> pd.Series:
    """Return moments as seconds since 1970, times of day since midnight."""
    if pa.types.is_date(column.type):
        column = pc.cast(column, pa.timestamp("s"))
    kind = column.type
    ticks = pc.cast(column, pa.int32() if kind.bit_width == 32 else pa.int64())
    counted = pc.cast(ticks, pa.float64(), safe=False).to_numpy()
    return pd.Series(counted / _TICKS_A_SECOND[kind.unit])
