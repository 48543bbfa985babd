"""From a table file to what is selected from: target, weights, features, notes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from featuresieve.errors import TableFileError, listed
from featuresieve.files._reading import TableFile, find_column, find_columns
from featuresieve.files._row_labels import LEAST_ROWS, is_counting, numbers_rows
from featuresieve.files._task import MOST_CLASSES, Task, infer_task
from featuresieve.files._typed_columns import decoded, is_number, is_text


@dataclass(frozen=True)
class TargetColumn:
    """The target of the rows that have one."""

    name: str
    values: npt.NDArray[Any]  # labels or numbers, (n_rows,)
    task: Task
    reason: str  # why it is that


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
    row_groups: npt.NDArray[np.int64] | None = None  # (n_rows,), which belong together
    times: npt.NDArray[np.int64] | None = None  # (n_rows,), 0 for the first of all


def read_inputs(
    file: TableFile,
    target: str,
    *,
    task: str = "auto",
    drop: Sequence[str] = (),
    weight: str | None = None,
    row_group: str | None = None,
    time: str | None = None,
) -> Inputs:
    """Take target, weights and features out of a table.

    Left out are rows without a target, and a first column without a name that names or
    counts the rows, as R and pandas write them: a saved index, often a leak. A column
    that is not there is a `TableFileError`. Columns to `drop` are names or patterns;
    `row_group` says which rows belong together, `time`, numbers or dates, which are
    later.
    """
    table = file.table
    asked = {"--weight": weight, "--row-group": row_group, "--time": time}
    named = {
        option: find_column(option, name, file)
        for option, name in ({"--target": target} | asked).items()
        if name is not None
    }
    target_name, special = named["--target"], [*named.values()]
    check_not_special("--drop", drop, named)
    others = [name for name in table.column_names if name not in special]
    dropped = find_columns("--drop", drop, others)
    row_names = [n for n in _row_names(file) if n in others and n not in dropped]
    others = [name for name in others if name not in row_names]
    names = [name for name in others if name not in dropped]
    if not names:
        message = f"there is no column left to predict {target_name!r} from."
        raise TableFileError(message)
    file.check_columns([*special, *names])
    is_known = _is_known(table.column(target_name))
    n_left_out = table.num_rows - (pc.sum(is_known).as_py() or 0)
    stands_for = None if file.whole is None else file.whole.row_weights
    if stands_for is not None:
        stands_for = stands_for[is_known.to_numpy()]
    if n_left_out == table.num_rows:
        raise TableFileError(f"--target: {target_name!r} is missing in every row.")
    table = table.filter(is_known) if n_left_out else table
    n_left_out += 0 if file.whole is None else file.whole.n_without_target
    features = table.select(names)
    target_column = _target(target_name, table.column(target_name), task)
    notes = [*file.notes, *_column_notes(features)]
    notes += _row_notes(target_column, n_left_out)
    for what, left_out in (
        ("names of rows left out", row_names),
        ("left out on request", dropped),
    ):
        notes += [f"{what}: {listed(left_out)}."] if left_out else []
    return Inputs(
        features,
        target_column,
        _weights(table, weight, stands_for),
        tuple(others),
        tuple(dropped),
        tuple(notes),
        n_left_out,
        None if row_group is None else _row_groups(table, row_group),
        None if time is None else _times(table, time),
    )


def check_not_special(
    option: str, wanted: Iterable[str], special: Mapping[str, str]
) -> None:
    """Refuse columns that are not selected from, such as the target."""
    for other, name in special.items():
        if name in wanted:
            raise TableFileError(f"{option}: {name!r} is the column of {other}.")


def _row_notes(target: TargetColumn, n_left_out: int) -> list[str]:
    """Say which rows have no target, or the header's, as in files put together."""
    notes = []
    if n_left_out:
        rows = "row" if n_left_out == 1 else "rows"
        text = f"{n_left_out} {rows} without a value of {target.name!r} left out."
        notes.append(text)
    n_headers = int(np.count_nonzero(target.values == target.name))
    if target.values.dtype == object and n_headers:
        rows = "1 row has" if n_headers == 1 else f"{n_headers} rows have"
        notes.append(f"{rows} the target {target.name!r}: the header, again?")
    return notes


def _row_names(file: TableFile) -> list[str]:
    """Return columns that name or count the rows, as R and pandas write them."""
    names = file.table.column_names
    if file.dialect is not None and file.dialect.has_row_names:
        return [names[0]]
    return [
        name
        for name, heading in zip(names, file.headings, strict=True)
        if (not heading or heading.startswith(("Unnamed:", "__index_level_")))
        and _are_whole(file.table.column(name))
        and is_counting(file.table.column(name).to_numpy())
    ]


def _are_whole(column: Any) -> bool:
    """Tell whether a column holds whole numbers, none missing."""
    return bool(pa.types.is_integer(column.type) and not column.null_count)


def _is_known(column: Any) -> Any:
    """Return which values are there; NaN is not."""
    is_known = pc.is_valid(column)
    if pa.types.is_floating(column.type):
        is_known = pc.and_(is_known, pc.fill_null(pc.invert(pc.is_nan(column)), False))
    return is_known


def _complete(option: str, table: pa.Table, name: str, what: str = "value") -> Any:
    """Return a column that has a value, or a number, in every row."""
    column = table.column(name)
    is_kind = what == "value" or is_number(column.type)
    if not is_kind or not pc.all(_is_known(column)).as_py():
        raise TableFileError(f"{option}: {name!r} must hold a {what} in every row.")
    return column


def _weights(
    table: pa.Table, name: str | None, stands_for: npt.NDArray[np.float64] | None
) -> npt.NDArray[np.float64] | None:
    """Return the weights of the rows, times what each row of a sample stands for."""
    if name is None:
        return stands_for
    column = _complete("--weight", table, name, "number")
    weights = np.asarray(column.to_numpy(), dtype=np.float64)
    if stands_for is None:
        return weights
    weights = weights * stands_for
    return weights / (weights.mean() or 1.0)  # whole ones would stand for copies


def _row_groups(table: pa.Table, name: str) -> npt.NDArray[np.int64]:
    """Return a number for each row that is the same for rows that belong together."""
    column = decoded(_complete("--row-group", table, name))
    codes = pc.index_in(column, value_set=pc.unique(column))
    numbers = np.asarray(codes.to_numpy(), dtype=np.int64)
    if not numbers.any():
        raise TableFileError(f"--row-group: {name!r} has one value in all rows.")
    return numbers


def _times(table: pa.Table, name: str) -> npt.NDArray[np.int64]:
    """Return a number for each row, larger for later ones, equal for equal times."""
    column = decoded(_complete("--time", table, name))
    if not (is_number(column.type) or pa.types.is_temporal(column.type)):
        raise TableFileError(
            f"--time: {name!r} must hold numbers or dates, got values such as "
            f"{column[0].as_py()!r}; --type {quote(name)}=date reads dates."
        )
    ordered = pc.unique(column).sort()
    if len(ordered) == 1:
        raise TableFileError(f"--time: {name!r} has one value in all rows.")
    return np.asarray(pc.index_in(column, value_set=ordered).to_numpy(), np.int64)


def _target(name: str, column: Any, task: str) -> TargetColumn:
    """Decide what a target stands for, by `infer_task` unless the user says it."""
    values = _target_values(name, column)
    distinct = np.unique(values)
    if len(distinct) < 2:
        raise TableFileError(
            f"--target: {name!r} is {distinct.tolist()[0]!r} in every row; there is "
            "nothing to predict."
        )
    if task == "auto":
        found, reason = infer_task(values)
    else:
        found, reason = task, "as --task says"  # type: ignore[assignment]
    if found == "regression":
        if values.dtype == object:
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


def _target_values(name: str, column: Any) -> npt.NDArray[Any]:
    """Return the target as labels or numbers."""
    column = decoded(column)
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


def _column_notes(table: pa.Table) -> list[str]:
    """Name the columns that hold nothing, the same throughout, or row numbers."""
    empty, constant, identifying = [], [], []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if column.null_count == len(column):
            empty.append(name)
        elif not column.null_count and _is_constant(column):
            constant.append(name)
        elif len(column) >= LEAST_ROWS and _is_identifier(column):
            identifying.append(name)
    notes = []
    if empty:
        notes.append(f"empty: {listed(empty)}.")
    if constant:
        notes.append(f"the same value in every row: {listed(constant)}.")
    if identifying:
        word = "looks" if len(identifying) == 1 else "look"
        hint = " ".join(quote(name) for name in identifying[:8])
        notes.append(
            f"{listed(identifying)} {word} like a number or name of each row, which "
            f"says nothing about other rows; to leave out: --drop {hint}"
        )
    return notes


def _is_constant(column: Any) -> bool:
    """Tell whether a column without gaps has one value."""
    if pa.types.is_dictionary(column.type):
        return len(pc.unique(column)) == 1
    return bool(pc.all(pc.equal(column, column[0])).as_py())


def _is_identifier(column: Any) -> bool:
    """Tell whether a column numbers the rows, or has another text in each."""
    if is_text(column.type):
        return bool(pc.count_distinct(column, mode="all").as_py() == len(column))
    return _are_whole(column) and numbers_rows(column.to_numpy())
