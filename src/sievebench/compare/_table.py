"""Reading the user's table: CSV in its many dialects, TSV and Parquet."""

import bz2
import csv
import gzip
import lzma
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.errors import EmptyDataError, ParserError

from sievebench.compare._exceptions import CompareError
from sievebench.spelling import hint

# Beside pandas' own ("", "NA", "null", …): what statistics programs write.
_MISSING_MARKS = ["?", "-", "."]
_TEXT_ENDINGS = (".csv", ".tsv", ".tab", ".txt")
_PARQUET_ENDINGS = (".parquet", ".pq")
_COMPRESSED: dict[str, Any] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}
_SNIFFED_CHARACTERS = 64_000


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


def read_table(path: str | Path, target: str) -> Table:
    """Read a file and take the target out of it.

    Parameters
    ----------
    path : str or Path
        A CSV, TSV or Parquet file; text files may be compressed (.gz, .bz2, .xz) and
        use commas, semicolons, tabs or bars.
    target : str
        Name of the target column.

    Returns
    -------
    Table

    Raises
    ------
    CompareError
        If the file cannot be read, or does not hold what it should.
    """
    path = Path(path)
    frame, headings = _read_frame(path)
    n_alike = headings.count(target)
    if n_alike > 1:
        raise CompareError(f"{path.name} has {n_alike} columns named {target!r}.")
    frame.columns, notes = unique_names(headings)
    if not isinstance(frame.index, pd.RangeIndex):  # pandas has taken them for names
        notes.append("Row names left out: an index, or first cells without a heading.")
    return table_of(frame, target, path.name, notes)


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
    numbering = _row_numbers(frame)
    if numbering:
        notes.append(f"Row numbers left out: {', '.join(map(repr, numbering))}.")
    columns = {
        column: _plain_column(frame[column])
        for column in frame.columns
        if column != target and column not in numbering
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


def unique_names(headings: Sequence[str]) -> tuple[list[str], list[str]]:
    """Give every column a name of its own.

    Parameters
    ----------
    headings : sequence of str
        What the file calls its columns.

    Returns
    -------
    names : list of str
        The headings; a repeated one gets a number.
    notes : list of str
        What was changed, one sentence each.
    """
    taken, seen = set(headings), set[str]()
    names, notes = [], []
    for heading in headings:
        name, number = heading, 2
        while heading in seen and name in taken:
            name, number = f"{heading} ({number})", number + 1
        if name != heading:
            notes.append(f"A second column {heading!r} is called {name!r} here.")
        names.append(name)
        taken.add(name)
        seen.add(heading)
    return names, notes


def _read_frame(path: Path) -> tuple[pd.DataFrame, list[str]]:
    """Read a file by the ending of its name; return it, and its headings as written."""
    endings = [ending.lower() for ending in path.suffixes]
    if not path.is_file():
        raise CompareError(f"there is no file {str(path)!r}.")
    if endings and endings[-1] in _PARQUET_ENDINGS:
        try:
            frame = pd.read_parquet(path)
        except (OSError, ValueError) as error:
            raise CompareError(_unreadable(path, error)) from error
        return frame, [str(name).strip() for name in frame.columns]
    if not any(ending in _TEXT_ENDINGS for ending in endings[-2:]):
        raise CompareError(
            f"{path.name!r} must end in {', '.join(_TEXT_ENDINGS + _PARQUET_ENDINGS)}."
        )
    for encoding in ("utf-8-sig", "cp1252"):  # the second reads any file
        try:
            return _read_text(path, encoding)
        except UnicodeDecodeError:
            continue
        except (EmptyDataError, ParserError, OSError, ValueError) as error:
            raise CompareError(_unreadable(path, error)) from error
    raise CompareError(f"{path.name!r} is not a text file.")


def _unreadable(path: Path, error: Exception) -> str:
    """Return one line that says why a file could not be read."""
    reason = str(error).strip().splitlines()[0] if str(error).strip() else "no reason"
    return f"{path.name!r} could not be read: {reason}"


def _read_text(path: Path, encoding: str) -> tuple[pd.DataFrame, list[str]]:
    """Read delimited text, with decimal commas if that gives more numbers."""
    arguments: dict[str, Any] = {
        "sep": _separator(path, encoding),
        "encoding": encoding,
        "skipinitialspace": True,
    }
    first = pd.read_csv(
        path, header=None, nrows=1, dtype=str, keep_default_na=False, **arguments
    )
    arguments |= {"na_values": _MISSING_MARKS, "low_memory": False}
    frame = pd.read_csv(path, **arguments)  # gives columns without a name one
    headings = [
        str(heading).strip() or str(name)
        for heading, name in zip(first.iloc[0], frame.columns, strict=True)
    ]
    if arguments["sep"] == ",":
        return frame, headings
    other = pd.read_csv(path, decimal=",", **arguments)
    best = max(frame, other, key=lambda read: read.select_dtypes("number").shape[1])
    return best, headings


def _separator(path: Path, encoding: str) -> str:
    """Return the character between the fields."""
    if any(ending.lower() in (".tsv", ".tab") for ending in path.suffixes):
        return "\t"
    unpack = _COMPRESSED.get(path.suffix.lower(), open)
    with unpack(path, "rt", encoding=encoding, newline="") as file:
        sample = file.read(_SNIFFED_CHARACTERS)
    try:
        return csv.Sniffer().sniff(sample, delimiters=",;\t|").delimiter
    except csv.Error:
        return ","


def _check_target(frame: pd.DataFrame, target: str) -> None:
    """Refuse a target that is not there, and name the nearest that is."""
    names = [str(name) for name in frame.columns]
    if target in names:
        return
    shown = ", ".join(map(repr, names[:8])) + (", …" if len(names) > 8 else "")
    otherwise = f"there are {shown}."
    raise CompareError(f"there is no column {target!r}{hint(target, names, otherwise)}")


def _row_numbers(frame: pd.DataFrame) -> list[str]:
    """Return columns without a name that count the rows, as pandas writes an index."""
    return [
        name
        for name in frame.columns
        if str(name).startswith("Unnamed:")
        and pd.api.types.is_integer_dtype(frame[name])
        and (frame[name].diff().dropna() > 0).all()
    ]


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
