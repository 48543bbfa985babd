"""The learned attributes of an estimator as a description and arrays, and back."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from featuresieve._file_checks import Arrays, Fields, require
from featuresieve._findings import PATH_FIELDS

# What `history_` holds: dtype, and axes by name.
_HISTORY: dict[str, tuple[type[np.generic], str]] = {
    "step": (np.int64, "records"),
    "temperature": (np.float64, "records"),
    "balance": (np.float64, "members"),
    "task_loss": (np.float64, "records members"),
    "penalty": (np.float64, "records members"),
    "n_kept": (np.int64, "records members"),
    "gates": (np.float32, "records features"),
}
# Losses of a path are NaN where nothing was held out.
_MAY_BE_NAN = ("loss", "loss_error")


def findings_state(
    attributes: Mapping[str, Any],
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Return what `findings_from_state` needs: a description for JSON, and arrays."""
    history, path = attributes["history_"], attributes["path_"]
    assert history.keys() == _HISTORY.keys(), "a new entry needs a new schema version"
    arrays = {
        name: attributes[f"{name}_"]
        for name in ("support", "logits", "selection_frequency", "ranking")
    }
    arrays |= {f"path.{name}": path[name] for name in path.dtype.names}
    for name, values in history.items():
        dtype, _ = _HISTORY[name]
        arrays[f"history.{name}"] = values.astype(dtype, casting="safe", copy=False)
    description = {
        "balance": attributes["balance_"],
        "n_path": len(path),
        "n_records": len(history["step"]),
        "n_members": len(history["balance"]),
    }
    return description, arrays


def findings_from_state(
    fields: Fields, arrays: Arrays, n_features: int
) -> dict[str, Any]:
    """Return the learned attributes by name."""
    shape = (n_features,)
    support = arrays.take("support", np.bool_, shape)
    logits = arrays.take("logits", np.float64, shape, is_finite=False)
    frequency = arrays.take("selection_frequency", np.float64, shape)
    ranking = arrays.take("ranking", np.int64, shape)
    # Infinite logits are those of features that are always, or never, kept.
    require(not np.isnan(logits).any(), "the array 'logits' holds NaN.")
    is_share = (frequency >= 0) & (frequency <= 1)
    require(bool(is_share.all()), "its selection frequencies are not in [0, 1].")
    is_ranking = np.array_equal(np.sort(ranking), np.arange(1, n_features + 1))
    require(is_ranking, f"its ranking is not one of {n_features} features.")
    require(bool(support.any()), "it keeps no feature.")
    findings = {
        "support_": support,
        "n_features_selected_": int(support.sum()),
        "logits_": logits,
        "selection_frequency_": frequency,
        "ranking_": ranking,
        "balance_": fields.number("balance"),
        "path_": _path(arrays, fields.count("n_path", least=1), n_features),
        "history_": _history(
            arrays,
            records=fields.count("n_records"),
            members=fields.count("n_members"),
            features=n_features,
        ),
    }
    fields.finish()
    return findings


def _path(arrays: Arrays, n_path: int, n_features: int) -> npt.NDArray[Any]:
    """Return the candidates, once all their fields are there."""
    values = {
        name: arrays.take(
            f"path.{name}", dtype, (n_path,), is_finite=name not in _MAY_BE_NAN
        )
        for name, dtype in PATH_FIELDS
    }
    n_kept = values["n_kept"]
    is_count = bool(((n_kept >= 0) & (n_kept <= n_features)).all())
    require(is_count, "its path keeps more features than there are.")
    require(int(values["is_chosen"].sum()) == 1, "its path does not have one choice.")
    for name in _MAY_BE_NAN:
        require(not np.isinf(values[name]).any(), f"its path has an infinite {name}.")
    path = np.empty(n_path, dtype=PATH_FIELDS)
    for name, column in values.items():
        path[name] = column
    return path


def _history(arrays: Arrays, **lengths: int) -> dict[str, npt.NDArray[Any]]:
    """Return what training recorded."""
    return {
        name: arrays.take(
            f"history.{name}", dtype, tuple(lengths[axis] for axis in axes.split())
        )
        for name, (dtype, axes) in _HISTORY.items()
    }
