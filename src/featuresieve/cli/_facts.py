"""What is known before the selection, of a table and of the user's wishes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from featuresieve.cli._options import SelectOptions
from featuresieve.errors import listed
from featuresieve.files import (
    Inputs,
    TableFile,
    TableFileError,
    TargetColumn,
    check_not_special,
    find_columns,
)
from featuresieve.process import printable

_MOST_CLASSES_NAMED = 6


def facts(file: TableFile, inputs: Inputs, options: SelectOptions) -> list[str]:
    """Return what is known before the selection, a line each."""
    target, features = inputs.target, inputs.features
    other = "regression" if target.task == "classification" else "classification"
    is_open = options.task == "auto" and target.values.dtype != object
    override = f"; --task {other} overrides" if is_open else ""
    name = printable(Path(file.source.name).name or file.source.name)
    return [
        f"{name}: {file.n_rows} rows, {features.num_columns} columns to select "
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


def known_arguments(options: SelectOptions, inputs: Inputs) -> dict[str, Any]:
    """Return what is known of columns and classes, as arguments of an estimator."""

    def find(option: str, wanted: Sequence[str]) -> list[str]:
        """Return columns that are not dropped, and refuse the name of one that is."""
        check_not_special(option, wanted, {"--target": inputs.target.name})
        found = find_columns(option, wanted, inputs.names)
        named = found if option == "--keep" else wanted  # patterns may leave some out
        for name in inputs.dropped:
            if name in named:
                raise TableFileError(
                    f"{option} and --drop contradict each other: both name {name!r}."
                )
        return [name for name in found if name not in inputs.dropped]

    costs = {
        name: price
        for wanted, price in options.cost.items()
        for name in find("--cost", [wanted])
    }
    groups = [find("--group", members) for members in options.group]
    return {
        "always_keep": find("--keep", options.keep) or None,
        "feature_groups": [group for group in groups if group] or None,
        "feature_costs": costs or None,
        "class_weight": _class_weight(options, inputs.target),
    }


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
