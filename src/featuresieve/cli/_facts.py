"""What is known of a table before the selection."""

from pathlib import Path

import numpy as np

from featuresieve.cli._options import SelectOptions
from featuresieve.files import Inputs, TableFile
from featuresieve.process import printable

_MOST_CLASSES_NAMED = 6


def facts(file: TableFile, inputs: Inputs, options: SelectOptions) -> list[str]:
    """Return what is known before the selection, a line each."""
    target, features = inputs.target, inputs.features
    other = "regression" if target.task == "classification" else "classification"
    is_open = options.task == "auto" and target.values.dtype != object
    override = f"; --task {other} overrides" if is_open else ""
    name = printable(Path(file.source.name).name)
    return [
        f"{name}: {file.table.num_rows} rows, {features.num_columns} columns to select "
        f"from, target {target.name!r}",
        f"task: {target.task} ({target.reason}{override})",
        *_classes(inputs),
        *(f"note: {note}" for note in inputs.notes),
    ]


def _classes(inputs: Inputs) -> list[str]:
    """Return the line that counts the classes."""
    if inputs.target.task == "regression":
        return []
    labels, counts = np.unique(inputs.target.values, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:_MOST_CLASSES_NAMED]
    shown = ", ".join(f"{printable(str(labels[k]))} {counts[k]}" for k in order)
    more = ", …" if len(labels) > len(order) else ""
    return [f"classes: {shown}{more}"]
