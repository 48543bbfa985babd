"""What the options say of columns and classes, as arguments of an estimator."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from featuresieve.cli._options import SelectOptions
from featuresieve.errors import listed
from featuresieve.files import (
    Inputs,
    TableFileError,
    TargetColumn,
    find_columns,
)


def known_arguments(options: SelectOptions, inputs: Inputs) -> dict[str, Any]:
    """Return what is known of columns and classes, as arguments of an estimator."""

    def find(option: str, wanted: Sequence[str]) -> list[str]:
        """Return columns that are not dropped, and refuse the name of one that is."""
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
