"""The arguments of an estimator as JSON, and back, also those of older files."""

from dataclasses import fields
from typing import Any

import numpy as np

from featuresieve.engine import Training
from featuresieve.errors import FileFormatError
from featuresieve.storage._file_checks import Fields, require
from featuresieve.storage._json_values import from_json_value, to_json_value

# Arguments that belong to one machine. A file from elsewhere must not name a path that
# the next fit writes to, and deletes.
_LEFT_OUT = ("checkpoint",)
# Arguments that may be objects, which a file does not hold: what is written instead,
# and the types that are written as they are.
OBJECT_ARGUMENTS = {
    "random_state": (None, int | np.integer | None),
    "cv": (None, int | np.integer | None),
    "judge": ("networks", str),
}
_IN_TRAINING = {field.name for field in fields(Training)}


def argument_state(params: dict[str, Any]) -> dict[str, Any]:
    """Return arguments for JSON, plain ones in place of objects."""
    params = dict(params)
    for name, (default, plain) in OBJECT_ARGUMENTS.items():
        if not isinstance(params[name], plain):
            params[name] = default
    training = params.pop("training")
    state = {
        name: to_json_value(value, name)
        for name, value in params.items()
        if name not in _LEFT_OUT
    }
    if not isinstance(training, Training):
        return state | {"training": to_json_value(training, "training")}
    entries = training.get_params(deep=False).items()
    state["training"] = {
        name: to_json_value(value, f"training.{name}") for name, value in entries
    }
    return state


def arguments_from_state(state: Fields, schema_version: int) -> dict[str, Any]:
    """Return the arguments that `argument_state` was made from."""
    given = state.left()
    for name in _LEFT_OUT:
        require(name not in given, f"it has an argument {name!r}, a path.")
    if schema_version == 1:
        given = _renamed(given)
    training = given.pop("training", None)
    arguments = {
        name: from_json_value(value, f"its parameter {name[:80]!r}")
        for name, value in given.items()
    }
    arguments["training"] = None if training is None else _training(training)
    return arguments


def _renamed(given: dict[str, Any]) -> dict[str, Any]:
    """Return arguments of version 1 under the names they have now.

    There were no `training`, whose entries were arguments, and no `feature_groups`,
    which were called `groups`.
    """
    for name in ("training", "feature_groups"):
        require(name not in given, f"{name!r} is no argument of its schema version.")
    if "groups" in given:
        given["feature_groups"] = given.pop("groups")
    inner = {name: given.pop(name) for name in _IN_TRAINING & given.keys()}
    return given | {"training": inner or None}


def _training(state: Any) -> Training:
    """Return the object that `training` was."""
    values = {
        name: from_json_value(value, f"its parameter 'training.{name[:80]}'")
        for name, value in Fields(state, "its training").left().items()
    }
    for name in values.keys() - _IN_TRAINING:
        raise FileFormatError(f"{name[:80]!r} is no argument of Training.")
    return Training(**values)
