"""From a table file to what is selected from: target, weights, features, notes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from featuresieve.errors import listed
from featuresieve.files._errors import TableFileError
from featuresieve.files._inspection import column_notes
from featuresieve.files._naming import find_column, find_columns
from featuresieve.files._reading import TableFile
from featuresieve.files._target import TargetColumn, target_of


@dataclass(frozen=True)
class Inputs:
    """What a table file gives to a selection."""

    features: pa.Table  # the columns to select from, in rows that have a target
    target: TargetColumn
    weights: npt.NDArray[np.float64] | None  # (n_rows,)
    names: tuple[str, ...]  # all but target, weight, row names; also the dropped ones
    dropped: tuple[str, ...]  # left out on request
    notes: tuple[str, ...]  # what the user should know, one sentence each
    n_rows_left_out: int  # rows without a target


def read_inputs(
    file: TableFile,
    target: str,
    *,
    task: str = "auto",
    drop: Sequence[str] = (),
    weight: str | None = None,
) -> Inputs:
    """Take target, weights and features out of a table.

    Left out are rows without a target, and a first column without a name that names or
    counts the rows, as R and pandas write them: a saved index, often a leak.

    Parameters
    ----------
    file : TableFile
        The user's table.
    target : str
        The column to predict.
    task : {"auto", "classification", "regression"}, default="auto"
        What the user says of it.
    drop : sequence of str, default=()
        Columns to leave out, by name or pattern.
    weight : str or None, default=None
        The column that holds the weights of the rows.

    Returns
    -------
    Inputs

    Raises
    ------
    TableFileError
        If a column is not there, or nothing is left to select from.
    """
    table = file.table
    target_name = find_column("--target", target, file)
    special = [target_name]
    if weight is not None:
        special.append(find_column("--weight", weight, file))
    others = [name for name in table.column_names if name not in special]
    dropped = find_columns("--drop", drop, others)
    row_names = [n for n in _row_names(file) if n in others and n not in dropped]
    others = [name for name in others if name not in row_names]
    names = [name for name in others if name not in dropped]
    if not names:
        raise TableFileError(
            f"there is no column left to predict {target_name!r} from."
        )
    file.check_columns([*special, *names])
    is_known = _is_known(table.column(target_name))
    n_left_out = table.num_rows - (pc.sum(is_known).as_py() or 0)
    if n_left_out == table.num_rows:
        raise TableFileError(f"--target: {target_name!r} is missing in every row.")
    table = table.filter(is_known) if n_left_out else table
    features = table.select(names)
    notes = [*file.notes, *column_notes(features)]
    if n_left_out:
        notes.append(f"{n_left_out} rows without a value of {target_name!r} left out.")
    if row_names:
        notes.append(f"names of rows left out: {listed(row_names)}.")
    if dropped:
        notes.append(f"left out on request: {listed(dropped)}.")
    return Inputs(
        features,
        target_of(target_name, table.column(target_name), task),
        None if weight is None else _weights(table, special[1]),
        tuple(others),
        tuple(dropped),
        tuple(notes),
        n_left_out,
    )


def _row_names(file: TableFile) -> list[str]:
    """Return columns that name or count the rows, as R and pandas write them."""
    names = file.table.column_names
    if file.dialect is not None and file.dialect.has_row_names:
        return [names[0]]
    return [
        name
        for name, heading in zip(names, file.headings, strict=True)
        if (not heading or heading.startswith(("Unnamed:", "__index_level_")))
        and _is_counting(file.table.column(name))
    ]


def _is_counting(column: Any) -> bool:
    """Tell whether a column holds ever larger whole numbers."""
    if not pa.types.is_integer(column.type) or column.null_count:
        return False
    values = column.to_numpy()
    return bool((values[1:] > values[:-1]).all())


def _is_known(column: Any) -> Any:
    """Return which values are there; NaN is not."""
    is_known = pc.is_valid(column)
    if pa.types.is_floating(column.type):
        is_known = pc.and_(is_known, pc.fill_null(pc.invert(pc.is_nan(column)), False))
    return is_known


def _weights(table: pa.Table, name: str) -> npt.NDArray[np.float64]:
    """Return the weights of the rows."""
    column = table.column(name)
    kind = column.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if not is_number or not pc.all(_is_known(column)).as_py():
        raise TableFileError(f"--weight: {name!r} must hold a number in every row.")
    return np.asarray(column.to_numpy(), dtype=np.float64)
