"""What two fits must have in common for one to go on where the other stopped."""

import hashlib
import json
from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np
import torch
from scipy.sparse import issparse

from featuresieve import __version__
from featuresieve.engine import Training
from featuresieve.problem import Problem

# Arguments, also entries of `training`, that the problem holds already, that may
# differ, or that are compared otherwise (the device by its kind, the random state by
# the seed drawn from it, `training` by its entries).
_LEFT_OUT = {
    *("feature_groups", "always_keep", "never_keep", "feature_costs"),
    *("class_weight", "training"),
    *("scaling", "max_categories", "max_time", "verbose", "checkpoint"),
    *("device", "n_jobs", "random_state"),
}


def fingerprint(
    params: Mapping[str, Any], problem: Problem, device: torch.device
) -> dict[str, Any]:
    """Return what identifies a fit, as JSON would give it back; the device by kind."""
    training = (params["training"] or Training()).get_params(deep=False)
    found = {
        f"{part}{name}": _plain(value)
        for part, given in (("", params), ("training.", training))
        for name, value in given.items()
        if name not in _LEFT_OUT
    }
    found["device"] = device.type
    found["featuresieve"], found["torch"] = __version__, str(torch.__version__)
    found["data"] = problem_digest(problem)
    return dict(json.loads(json.dumps(found)))


def _plain(value: Any) -> Any:
    """Return an argument as JSON can hold it, and alike in every process."""
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if value is None or isinstance(value, str | bool):
        return value
    if callable(value):  # a network of the user's own is known by its name
        named = value if hasattr(value, "__qualname__") else type(value)
        return f"{named.__module__}.{named.__qualname__}"
    return int(value) if isinstance(value, Integral) else float(value)


def problem_digest(problem: Problem) -> str:
    """Return a hash of everything in a problem."""
    digest = hashlib.blake2b(digest_size=16)
    features, gates = problem.features, problem.gates
    parts = [features]
    if issparse(features):
        parts = [features.data, features.indices, features.indptr]
    parts += [problem.targets, problem.row_weights]
    parts += [gates.gate_of_column, gates.n_features, gates.costs, gates.is_forced]
    if problem.row_groups is not None:
        parts.append(problem.row_groups)
    digest.update(f"{problem.task} {problem.n_outputs} {features.shape}".encode())
    for part in parts:
        array = np.ascontiguousarray([] if part is None else part)
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
