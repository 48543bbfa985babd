"""From a table file to what is selected from: target, weights, features, notes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from featuresieve._command._inspection import column_notes
from featuresieve._command._target import TargetColumn, target_of
from featuresieve._command_options import SelectOptions
from featuresieve._tablefile import (
    TableFile,
    TableFileError,
    find_column,
    find_columns,
    listed,
)


@dataclass(frozen=True)
class Problem:
    """A table made ready for a selection.

    Attributes
    ----------
    features : pyarrow.Table
        The columns to select from, in the rows that have a target.
    target : TargetColumn
    weights : array of shape (n_rows,) or None
    class_weight : dict, "balanced" or None
    wishes : dict
        What the user knows of the columns, as arguments of an estimator.
    notes : tuple of str
        What the user should know, one sentence each.
    n_rows_left_out : int
        Rows without a target.
    """

    features: pa.Table
    target: TargetColumn
    weights: npt.NDArray[np.float64] | None
    class_weight: Any
    wishes: dict[str, Any]
    notes: tuple[str, ...]
    n_rows_left_out: int


def prepare(file: TableFile, options: SelectOptions) -> Problem:
    """Take target, weights and features out of a table.

    Parameters
    ----------
    file : TableFile
        The user's table.
    options : SelectOptions
        What the user asks for.

    Returns
    -------
    Problem

    Raises
    ------
    TableFileError
        If a column is not there, or nothing is left to select from.
    """
    table = file.table
    target_name = find_column("--target", options.target, file)
    special = [target_name]
    if options.weight is not None:
        special.append(find_column("--weight", options.weight, file))
    others = [name for name in table.column_names if name not in special]
    dropped = find_columns("--drop", options.drop, others)
    names = [name for name in others if name not in dropped]
    wishes = _wishes(options, others, dropped)
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
    target = target_of(target_name, table.column(target_name), options.task)
    features = table.select(names)
    notes = [*file.notes, *column_notes(features)]
    if n_left_out:
        notes.append(f"{n_left_out} rows without a value of {target_name!r} left out.")
    if dropped:
        notes.append(f"left out on request: {listed(dropped)}.")
    weights = None
    if options.weight is not None:
        weights = _weights(table, special[1])
    return Problem(
        features,
        target,
        weights,
        _class_weight(options, target),
        wishes,
        tuple(notes),
        n_left_out,
    )


def _wishes(
    options: SelectOptions, others: list[str], dropped: list[str]
) -> dict[str, Any]:
    """Return what the user knows of the columns, by their names."""

    def find(option: str, wanted: Sequence[str]) -> list[str]:
        """Return columns that are not dropped, and refuse the name of one that is."""
        found = find_columns(option, wanted, others)
        named = found if option == "--keep" else wanted  # patterns may leave some out
        for name in dropped:
            if name in named:
                raise TableFileError(
                    f"{option} and --drop contradict each other: both name {name!r}."
                )
        return [name for name in found if name not in dropped]

    costs = {
        name: price
        for wanted, price in options.cost.items()
        for name in find("--cost", [wanted])
    }
    groups = [find("--group", members) for members in options.group]
    return {
        "always_keep": find("--keep", options.keep) or None,
        "groups": [group for group in groups if group] or None,
        "feature_costs": costs or None,
    }


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


def _class_weight(options: SelectOptions, target: TargetColumn) -> Any:
    """Return the weights of the classes, by the labels as they are."""
    if not options.class_weight:
        return None
    if target.task == "regression":
        raise TableFileError("--class-weight is for classification.")
    if list(options.class_weight) == ["balanced"]:
        return "balanced"
    labels = {str(label): label for label in np.unique(target.values).tolist()}
    unknown = [label for label in options.class_weight if label not in labels]
    if unknown:
        raise TableFileError(
            f"--class-weight: {target.name!r} has no class {unknown[0]!r}; there are "
            f"{listed(list(labels))}."
        )
    return {labels[label]: weight for label, weight in options.class_weight.items()}
