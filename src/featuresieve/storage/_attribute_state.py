"""The learned attributes of an estimator as a description and arrays, and back."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from featuresieve.problem import BoolArray, IndexArray
from featuresieve.search import Judgement
from featuresieve.storage._file_checks import (
    Arrays,
    Fields,
    NamedArrays,
    State,
    require,
)
from featuresieve.tables import FloatArray

# What `path_` holds.
PATH_FIELDS = [
    ("balance", np.float64),
    ("n_kept", np.int64),
    ("loss", np.float64),
    ("loss_error", np.float64),
    ("is_chosen", np.bool_),
]
# What became of a feature; files hold the position here.
VERDICTS = (
    *("no signal", "weak", "redundant", "duplicate", "constant", "excluded"),
    *("forced", "kept"),
)
# What arrays hold: dtype, and axes by name.
_Arrays = dict[str, tuple[type[np.generic], str]]
_PATH: _Arrays = {name: (dtype, "path") for name, dtype in PATH_FIELDS}
_HISTORY: _Arrays = {
    "step": (np.int64, "records"),
    "temperature": (np.float64, "records"),
    "balance": (np.float64, "members"),
    "task_loss": (np.float64, "records members"),
    "penalty": (np.float64, "records members"),
    "n_kept": (np.int64, "records members"),
    "gates": (np.float32, "records features"),
}
_JUDGEMENT: _Arrays = {
    "sets": (np.bool_, "candidates features"),
    "sizes": (np.int64, "candidates"),
    "means": (np.float64, "candidates"),
    "best_share": (np.float64, "candidates"),
}
# What it held besides in files of versions 2 and 3.
_OLDER_JUDGEMENT: _Arrays = {
    "excess": (np.float64, "candidates candidates"),
    "errors": (np.float64, "candidates candidates"),
    "must_gain": (np.bool_, "candidates"),
}
_INSIGHT: _Arrays = {
    "verdict": (np.uint8, "features"),
    "represented_by": (np.int64, "features"),
    "importance": (np.float64, "two features"),
}
MAX_SEED = 2**31 - 1
# Losses of a path are NaN where nothing was held out, and so are importances.
_MAY_BE_NAN = ("loss", "loss_error", "importance")


def attribute_state(attributes: Mapping[str, Any]) -> State:
    """Return what `attributes_from_state` needs: a description for JSON, and arrays."""
    history, path = attributes["history_"], attributes["path_"]
    assert history.keys() == _HISTORY.keys(), "a new entry needs a new schema version"
    names = ("support", "logits", "selection_frequency", "feature_importances")
    arrays = {name: attributes[f"{name}_"] for name in names}
    # The rank of each feature in the full order, counted from one.
    arrays["ranking"] = np.argsort(attributes["order_"]) + 1
    arrays |= {f"path.{name}": path[name] for name in path.dtype.names}
    for name, values in history.items():
        dtype, _ = _HISTORY[name]
        arrays[f"history.{name}"] = values.astype(dtype, casting="safe", copy=False)
    arrays |= {f"insight.{name}": attributes[f"_{name}"] for name in _INSIGHT}
    judgement = attributes["_judgement"]
    if judgement is not None:
        values = {name: getattr(judgement, name) for name in _JUDGEMENT}
        arrays |= {f"judgement.{name}": value for name, value in values.items()}
    description = {
        "balance": attributes["balance_"],
        "seed": attributes["_seed"] or 0,  # None of a file of version 1
        "notes": attributes["notes_"],
        "all_columns": attributes.get("_all_columns"),
        "judgement": judgement
        and {
            "n": len(judgement.means),
            "null_loss": judgement.null_loss,
            "elected": judgement.elected,
            "fewest": judgement.fewest,
        },
        "n_path": len(path),
        "n_records": len(history["step"]),
        "n_members": len(history["balance"]),
    }
    return description, arrays


def attributes_from_state(
    fields: Fields, arrays: Arrays, n_features: int, schema_version: int
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
    require(is_share.all(), "its selection frequencies are not in [0, 1].")
    is_ranking = np.array_equal(np.sort(ranking), np.arange(1, n_features + 1))
    require(is_ranking, f"its ranking is not one of {n_features} features.")
    require(support.any(), "it keeps no feature.")
    learned_attributes = {
        "logits_": logits,
        "selection_frequency_": frequency,
        "balance_": fields.number("balance"),
        "path_": _path(arrays, fields.count("n_path", least=1), n_features),
        "history_": _taken(
            *("history", _HISTORY, arrays),
            records=fields.count("n_records"),
            members=fields.count("n_members"),
            features=n_features,
        ),
    }
    learned_attributes |= kept_attributes(support, np.argsort(ranking))
    if schema_version == 1:
        learned_attributes |= _of_version_1(logits)
    else:
        learned_attributes |= _since_version_2(fields, arrays, support, schema_version)
    if schema_version < 5:
        learned_attributes |= _insight_of_older(support, logits, frequency)
    else:
        learned_attributes |= _insight(arrays, n_features)
        learned_attributes["notes_"] = [
            _note(Fields(note, "a note of it")) for note in fields.listed("notes", dict)
        ]
    learned_attributes["_all_columns"] = _all_columns(fields)
    fields.finish()
    return learned_attributes


def _all_columns(fields: Fields) -> tuple[float, float] | None:
    """Return what a refit of all columns gained, and its error, if there was one."""
    gain = fields.take("all_columns") if "all_columns" in fields else None
    if gain is None:
        return None
    is_gain = (
        isinstance(gain, list) and [type(number) for number in gain] == [float] * 2
    )
    require(is_gain, "its gain of all columns is not a number and its error.")
    return gain[0], gain[1]


def _insight(arrays: Arrays, n_features: int) -> dict[str, Any]:
    """Return what became of the features, and what each is worth."""
    values = _taken("insight", _INSIGHT, arrays, features=n_features, two=2)
    require((values["verdict"] < len(VERDICTS)).all(), "it has a verdict that is none.")
    nearest = values["represented_by"]
    is_feature = bool(((nearest >= -1) & (nearest < n_features)).all())
    require(is_feature, "a feature of it is represented by none of its features.")
    require(not np.isinf(values["importance"]).any(), "it has infinite importances.")
    return {f"_{name}": value for name, value in values.items()}


def _note(fields: Fields) -> dict[str, Any]:
    """Return a note, once all its fields are there."""
    warning = fields.take("warning")
    is_name = warning is None or isinstance(warning, str)
    require(is_name, "a note of it names no warning.")
    note = {
        "code": fields.text("code"),
        "text": fields.text("text"),
        "columns": fields.listed("columns", str),
        "warning": warning,
    }
    fields.finish()
    return note


def _insight_of_older(
    support: BoolArray, logits: FloatArray, frequency: FloatArray
) -> dict[str, Any]:
    """Return what can be said of a fit before version 5."""
    # Infinite logits are those of features that were always, or never, to be kept.
    verdict = np.select(
        [np.isposinf(logits), support, np.isneginf(logits), frequency >= 0.02],
        [VERDICTS.index(word) for word in ("forced", "kept", "excluded", "weak")],
        VERDICTS.index("no signal"),
    )
    return {
        "_verdict": verdict.astype(np.uint8),
        "_represented_by": np.full(len(support), -1, dtype=np.int64),
        "_importance": np.full((2, len(support)), np.nan),
        "notes_": [],
    }


def kept_attributes(support: BoolArray, order: IndexArray) -> dict[str, Any]:
    """Return the learned attributes that follow from what is kept, and the order."""
    ranking = np.ones(len(support), dtype=np.int64)
    left_out = order[~support[order]]
    ranking[left_out] = np.arange(2, len(left_out) + 2)
    return {
        "support_": support,
        "n_features_selected_": int(support.sum()),
        "ranking_": ranking,
        "order_": order,
    }


def _of_version_1(logits: FloatArray) -> dict[str, Any]:
    """Return what files of version 1 do not hold: the best that can be said."""
    openings = 1.0 / (1.0 + np.exp(-np.clip(logits, -30, 30)))
    openings[np.isneginf(logits)] = 0.0
    importances = openings / openings.sum()
    return {"feature_importances_": importances, "_seed": None, "_judgement": None}


def _since_version_2(
    fields: Fields, arrays: Arrays, support: BoolArray, schema_version: int
) -> dict[str, Any]:
    """Return what files hold since version 2."""
    importances = arrays.take("feature_importances", np.float64, support.shape)
    require((importances >= 0).all(), "it has negative importances.")
    described = fields.take("judgement")
    judgement = None
    if described is not None:
        described = Fields(described, "its judgement")
        judgement = _judgement(described, arrays, support, schema_version)
    return {
        "feature_importances_": importances,
        "_seed": fields.count("seed", most=MAX_SEED),
        "_judgement": judgement,
    }


def _judgement(
    fields: Fields, arrays: Arrays, support: BoolArray, schema_version: int
) -> Judgement:
    """Return what the held-out rows said about the candidates."""
    n = fields.count("n", least=1)
    lengths = {"candidates": n, "features": len(support)}
    values = _taken("judgement", _JUDGEMENT, arrays, **lengths)
    require(values["sets"].any(axis=1).all(), "it has an empty candidate.")
    sizes = values["sets"].sum(axis=1)
    require((sizes == values["sizes"]).all(), "its candidates have other sizes.")
    fewest = fields.take("fewest")
    if schema_version < 4:
        _taken("judgement", _OLDER_JUDGEMENT, arrays, **lengths)
        # The one that was chosen, or the largest if the size was changed since.
        is_kept = (values["sets"] == support).all(axis=1)
        elected = int(is_kept.argmax()) if is_kept.any() else n - 1
    else:
        elected = fields.count("elected", most=n - 1)
    is_index = fewest is None or (type(fewest) is int and 0 <= fewest < n)
    require(is_index, "its smallest candidate is none of its candidates.")
    null_loss = fields.number("null_loss")
    fields.finish()
    return Judgement(**values, null_loss=null_loss, elected=elected, fewest=fewest)


def _path(arrays: Arrays, n_path: int, n_features: int) -> npt.NDArray[Any]:
    """Return the candidates, once all their fields are there."""
    values = _taken("path", _PATH, arrays, path=n_path)
    n_kept = values["n_kept"]
    is_count = bool(((n_kept >= 0) & (n_kept <= n_features)).all())
    require(is_count, "its path keeps more features than there are.")
    require(int(values["is_chosen"].sum()) == 1, "its path does not have one choice.")
    for name in ("loss", "loss_error"):
        require(not np.isinf(values[name]).any(), f"its path has an infinite {name}.")
    path = np.empty(n_path, dtype=PATH_FIELDS)
    for name, column in values.items():
        path[name] = column
    return path


def _taken(prefix: str, known: _Arrays, arrays: Arrays, **lengths: int) -> NamedArrays:
    """Return arrays, if they have the dtypes and lengths that are known."""
    return {
        name: arrays.take(
            *(f"{prefix}.{name}", dtype, tuple(lengths[axis] for axis in axes.split())),
            is_finite=name not in _MAY_BE_NAN,
        )
        for name, (dtype, axes) in known.items()
    }
