"""The user's table, as the command featuresieve reads it, made ready to be compared."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from featuresieve.files import (
    TableFile,
    TableFileError,
    find_column,
    find_columns,
    read_file,
)
from sievebench.compare._exceptions import CompareError
from sievebench.spelling import hint


@dataclass(frozen=True)
class Table:
    """The features and the target of a table, as read.

    Attributes
    ----------
    name : str
        Name of the file.
    features : DataFrame of shape (n_rows, n_columns)
        Number columns are float64 with NaN; the others are text, as objects, with None.
    target_name : str
        Name of the target column.
    target : ndarray of shape (n_rows,)
        Numbers or labels, none missing.
    notes : tuple of str
        What was left out or changed on reading, one sentence each.
    """

    name: str
    features: pd.DataFrame
    target_name: str
    target: npt.NDArray[Any]
    notes: tuple[str, ...] = field(default=())


def read_table(
    path: str | Path, target: str, *, drop: Sequence[str] = (), **reading: Any
) -> Table:
    """Read a file and take the target out of it.

    Parameters
    ----------
    path : str or Path
        Any file that `featuresieve select` reads.
    target : str
        Name of the target column.
    drop : sequence of str, default=()
        Columns to leave out: names, or patterns with ``*``.
    **reading
        How the file is written: `encoding`, `delimiter`, `missing`, `types`, `skip`.

    Returns
    -------
    Table

    Raises
    ------
    CompareError
        If the file cannot be read, or does not hold what it should.
    """
    try:
        with read_file(str(path), meanings={target: "label"}, **reading) as file:
            target = find_column("--target", target, file)
            names = [name for name in file.table.column_names if name != target]
            dropped = find_columns("--drop", drop, names)
            counting = [n for n in _row_names(file) if n in names and n not in dropped]
            file.check_columns(n for n in file.table.column_names if n not in dropped)
    except TableFileError as error:
        raise CompareError(str(error)) from error
    notes = [f"{note[:1].upper()}{note[1:]}" for note in file.notes]
    for what, left_out in (("On request", dropped), ("Row names", counting)):
        if left_out:
            notes.append(f"{what} left out: {', '.join(map(repr, left_out))}.")
    table = file.table.drop_columns([*dropped, *counting])
    frame = pd.DataFrame({name: _pandas(table[name]) for name in table.column_names})
    return table_of(frame, target, Path(file.source.name).name, notes)


def table_of(
    frame: pd.DataFrame, target: str, name: str = "table", notes: Sequence[str] = ()
) -> Table:
    """Take the target out of a data frame, and bring its columns into two kinds.

    Parameters
    ----------
    frame : DataFrame
        Features and target.
    target : str
        Name of the target column.
    name : str, default="table"
        What to call the table.
    notes : sequence of str, default=()
        What was changed on reading.

    Returns
    -------
    Table

    Raises
    ------
    CompareError
        If there is no such column, or too little is left.
    """
    _check_target(frame, target)
    notes = list(notes)
    values = _plain_column(frame[target])
    is_known = values.notna().to_numpy()
    if not is_known.any():
        raise CompareError(f"{target!r} has no value in any row of {name}.")
    if not is_known.all():
        count = int((~is_known).sum())
        notes.append(f"Rows left out for want of a value of {target!r}: {count}.")
        frame, values = frame[is_known], values[is_known]
    columns = {
        column: _plain_column(frame[column])
        for column in frame.columns
        if column != target
    }
    empty = [column for column, values in columns.items() if values.isna().all()]
    if empty:
        notes.append(f"Empty columns left out: {', '.join(map(repr, empty))}.")
    features = pd.DataFrame(
        {column: values for column, values in columns.items() if column not in empty}
    )
    labels = [c for c in features if features[c].dtype == object]
    unique = [c for c in labels if features[c].nunique() == len(features)]
    if unique:
        shown = ", ".join(map(repr, unique))
        notes.append(f"Text that differs in every row says little: {shown}.")
    _check_size(features, target, name)
    labels_or_numbers = values.to_numpy()
    if values.dtype == np.float64 and pd.api.types.is_integer_dtype(frame[target]):
        labels_or_numbers = labels_or_numbers.astype(np.int64)  # may be classes
    features = features.reset_index(drop=True)
    return Table(name, features, target, labels_or_numbers, tuple(notes))


def _check_size(features: pd.DataFrame, target: str, name: str) -> None:
    """Refuse a table in which there is nothing to choose or to learn."""
    n_rows, n_columns = features.shape
    if n_columns < 2:
        raise CompareError(
            f"{name} must have at least 2 columns beside {target!r} that are not "
            f"empty, got {n_columns}."
        )
    if n_rows < 10:
        raise CompareError(
            f"{name} must have at least 10 rows with a value of {target!r}, "
            f"got {n_rows}."
        )


def _check_target(frame: pd.DataFrame, target: str) -> None:
    """Refuse a target that is not there, and name the nearest that is."""
    names = [str(name) for name in frame.columns]
    if target in names:
        return
    shown = ", ".join(map(repr, names[:8])) + (", …" if len(names) > 8 else "")
    otherwise = f"there are {shown}."
    raise CompareError(f"there is no column {target!r}{hint(target, names, otherwise)}")


def _row_names(file: TableFile) -> list[str]:
    """Return columns that name or count the rows, as R and pandas write them."""
    if file.dialect is not None and file.dialect.has_row_names:
        return [str(file.table.column_names[0])]
    return [
        name
        for name, heading in zip(file.table.column_names, file.headings, strict=True)
        if (not heading or heading.startswith(("Unnamed:", "__index_level_")))
        and _is_counting(file.table[name])
    ]


def _is_counting(column: Any) -> bool:
    """Tell whether a column holds ever larger whole numbers."""
    if not pa.types.is_integer(column.type) or column.null_count:
        return False
    return bool((np.diff(column.to_numpy()) > 0).all())


def _pandas(column: Any) -> pd.Series:
    """Return a column of pandas, times of day as numbers."""
    kind = column.type
    if pa.types.is_date(kind):
        column = pc.cast(column, pa.timestamp("s"))
    elif pa.types.is_time(kind):
        column = pc.cast(column, pa.int32() if kind.bit_width == 32 else pa.int64())
    elif pa.types.is_decimal(kind):
        column = pc.cast(column, pa.float64())
    return column.to_pandas()


def _plain_column(column: pd.Series) -> pd.Series:
    """Return numbers (also of dates and truth values) as float64, else text."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return (column - pd.Timestamp(0, tz=column.dt.tz)).dt.total_seconds()
    if pd.api.types.is_timedelta64_dtype(column.dtype):
        return column.dt.total_seconds()
    if pd.api.types.is_numeric_dtype(column.dtype):
        numbers = column.astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
        return pd.Series(np.where(np.isinf(numbers), np.nan, numbers), column.index)
    text = [None if pd.isna(value) else str(value).strip() for value in column]
    return pd.Series(text, column.index, dtype=object)
