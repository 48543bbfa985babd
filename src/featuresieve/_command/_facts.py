"""What is known of a table before the selection."""

from pathlib import Path

import numpy as np

from featuresieve._command._problem import Problem
from featuresieve._command_options import SelectOptions
from featuresieve._tablefile import TableFile
from featuresieve.process import printable

_MOST_CLASSES_NAMED = 6


def facts(file: TableFile, problem: Problem, options: SelectOptions) -> list[str]:
    """Return what is known before the selection, a line each.

    Parameters
    ----------
    file : TableFile
        The user's table.
    problem : Problem
        What became of it.
    options : SelectOptions
        What the user asks for.

    Returns
    -------
    list of str
    """
    target, features = problem.target, problem.features
    other = "regression" if target.task == "classification" else "classification"
    is_open = options.task == "auto" and target.values.dtype != object
    override = f"; --task {other} overrides" if is_open else ""
    name = printable(Path(file.source.name).name)
    return [
        f"{name}: {file.table.num_rows} rows, {features.num_columns} columns to select "
        f"from, target {target.name!r}",
        f"task: {target.task} ({target.reason}{override})",
        *_classes(problem),
        *(f"note: {note}" for note in problem.notes),
    ]


def _classes(problem: Problem) -> list[str]:
    """Return the line that counts the classes."""
    if problem.target.task == "regression":
        return []
    labels, counts = np.unique(problem.target.values, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:_MOST_CLASSES_NAMED]
    shown = ", ".join(f"{printable(str(labels[k]))} {counts[k]}" for k in order)
    more = ", …" if len(labels) > len(order) else ""
    return [f"classes: {shown}{more}"]
