"""The learned attributes of an estimator as a description and arrays, and back."""

from collections.abc import Mapping
from typing import Any

import numpy as np

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
_Layout = dict[str, tuple[type[np.generic], str]]
_OF_VERSION_1: _Layout = {
    "support": (np.bool_, "features"),
    "logits": (np.float64, "features"),
    "selection_frequency": (np.float64, "features"),
    "ranking": (np.int64, "features"),  # in the full order, counted from one
    **{f"path.{name}": (dtype, "path") for name, dtype in PATH_FIELDS},
    "history.step": (np.int64, "records"),
    "history.temperature": (np.float64, "records"),
    "history.balance": (np.float64, "members"),
    "history.task_loss": (np.float64, "records members"),
    "history.penalty": (np.float64, "records members"),
    "history.n_kept": (np.int64, "records members"),
    "history.gates": (np.float32, "records features"),
}
_LATER: _Layout = {
    "feature_importances": (np.float64, "features"),
    "insight.verdict": (np.uint8, "features"),
    "insight.represented_by": (np.int64, "features"),
    "insight.importance": (np.float64, "two features"),
}
_OF_JUDGEMENT: _Layout = {
    "judgement.sets": (np.bool_, "candidates features"),
    "judgement.sizes": (np.int64, "candidates"),
    "judgement.means": (np.float64, "candidates"),
    "judgement.best_share": (np.float64, "candidates"),
}
MAX_SEED = 2**31 - 1
# Logits are infinite of features that are always, or never, kept. Losses of a path are
# NaN where nothing was held out, and so are importances.
_MAY_BE_INFINITE = ("logits",)
_MAY_BE_NAN = ("path.loss", "path.loss_error", "insight.importance")


def attribute_state(attributes: Mapping[str, Any]) -> State:
    """Return what `attributes_from_state` needs: a description for JSON, and arrays."""
    history, path = attributes["history_"], attributes["path_"]
    judgement: Judgement | None = attributes["_judgement"]
    names = ("support", "logits", "selection_frequency", "feature_importances")
    arrays = {name: attributes[f"{name}_"] for name in names}
    arrays["ranking"] = np.argsort(attributes["order_"]) + 1
    arrays |= {f"path.{name}": path[name] for name in path.dtype.names}
    arrays |= {f"history.{name}": values for name, values in history.items()}
    for name in ("verdict", "represented_by", "importance"):
        arrays[f"insight.{name}"] = attributes[f"_{name}"]
    layout = _OF_VERSION_1 | _LATER
    if judgement is not None:
        layout |= _OF_JUDGEMENT
        found = vars(judgement).items()
        arrays |= {f"judgement.{n}": v for n, v in found if f"judgement.{n}" in layout}
    assert arrays.keys() == layout.keys(), "a new entry needs a new schema version"
    for name, (dtype, _) in layout.items():
        arrays[name] = arrays[name].astype(dtype, casting="safe", copy=False)
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
    lengths = {
        "features": n_features,
        "path": fields.count("n_path", least=1),
        "records": fields.count("n_records"),
        "members": fields.count("n_members"),
        "two": 2,
    }
    found = _taken(_OF_VERSION_1, arrays, lengths)
    support, logits = found["support"], found["logits"]
    _check_ranking(found["ranking"], found["selection_frequency"], support)
    learned_attributes = {
        "logits_": logits,
        "selection_frequency_": found["selection_frequency"],
        "balance_": fields.number("balance"),
        "path_": _path(found, n_features),
        "history_": _parts("history", found),
        **kept_attributes(support, np.argsort(found["ranking"])),
    }
    if schema_version == 1:
        own = _guessed(support, logits, found["selection_frequency"])
    else:
        own = _later_attributes(fields, arrays, lengths)
    fields.finish()
    return learned_attributes | own


def _taken(layout: _Layout, arrays: Arrays, lengths: Mapping[str, int]) -> NamedArrays:
    """Return arrays, if they have the dtypes and lengths that are known."""
    found = {}
    for name, (dtype, axes) in layout.items():
        shape = tuple(lengths[axis] for axis in axes.split())
        is_finite = name not in (*_MAY_BE_INFINITE, *_MAY_BE_NAN)
        array = found[name] = arrays.take(name, dtype, shape, is_finite=is_finite)
        if name in _MAY_BE_INFINITE:
            require(not np.isnan(array).any(), f"the array {name!r} holds NaN.")
        if name in _MAY_BE_NAN:
            is_sound = not np.isinf(array).any()
            require(is_sound, f"the array {name!r} holds an infinite number.")
    return found


def _parts(prefix: str, found: NamedArrays) -> NamedArrays:
    """Return the arrays whose names begin so, under the rest of their names."""
    start = f"{prefix}."
    return {n.removeprefix(start): found[n] for n in found if n.startswith(start)}


def _check_ranking(
    ranking: IndexArray, frequency: FloatArray, support: BoolArray
) -> None:
    """Refuse a ranking, votes and kept features that cannot be."""
    n_features = len(support)
    is_share = (frequency >= 0) & (frequency <= 1)
    require(is_share.all(), "its selection frequencies are not in [0, 1].")
    is_ranking = np.array_equal(np.sort(ranking), np.arange(1, n_features + 1))
    require(is_ranking, f"its ranking is not one of {n_features} features.")
    require(support.any(), "it keeps no feature.")


def _path(found: NamedArrays, n_features: int) -> Any:
    """Return the candidates as `path_` holds them."""
    values = _parts("path", found)
    n_kept = values["n_kept"]
    is_count = bool(((n_kept >= 0) & (n_kept <= n_features)).all())
    require(is_count, "its path keeps more features than there are.")
    require(int(values["is_chosen"].sum()) == 1, "its path does not have one choice.")
    path = np.empty(len(n_kept), dtype=PATH_FIELDS)
    for name, column in values.items():
        path[name] = column
    return path


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


def _guessed(
    support: BoolArray, logits: FloatArray, frequency: FloatArray
) -> dict[str, Any]:
    """Return what files of version 1 do not hold: the best that can be said."""
    openings = 1.0 / (1.0 + np.exp(-np.clip(logits, -30, 30)))
    openings[np.isneginf(logits)] = 0.0
    verdict = np.select(
        [np.isposinf(logits), support, np.isneginf(logits), frequency >= 0.02],
        [VERDICTS.index(word) for word in ("forced", "kept", "excluded", "weak")],
        VERDICTS.index("no signal"),
    )
    return {
        "feature_importances_": openings / openings.sum(),
        "_seed": None,
        "_judgement": None,
        "_verdict": verdict.astype(np.uint8),
        "_represented_by": np.full(len(support), -1, dtype=np.int64),
        "_importance": np.full((2, len(support)), np.nan),
        "_all_columns": None,
        "notes_": [],
    }


def _later_attributes(
    fields: Fields, arrays: Arrays, lengths: Mapping[str, int]
) -> dict[str, Any]:
    """Return what files of version 1 did not hold."""
    found = _taken(_LATER, arrays, lengths)
    importances, insight = found["feature_importances"], _parts("insight", found)
    require((importances >= 0).all(), "it has negative importances.")
    is_verdict = insight["verdict"] < len(VERDICTS)
    require(is_verdict.all(), "it has a verdict that is none.")
    nearest = insight["represented_by"]
    is_feature = (nearest >= -1) & (nearest < lengths["features"])
    require(is_feature.all(), "a feature is represented by none of its features.")
    described = fields.take("judgement")
    if described is not None:
        described = _judgement(Fields(described, "its judgement"), arrays, lengths)
    whole = fields.take("all_columns")
    is_gain = isinstance(whole, list) and [type(n) for n in whole] == [float] * 2
    require(
        whole is None or is_gain,
        "its gain of all columns is not a number and its error.",
    )
    notes = fields.listed("notes", dict)
    return {
        "feature_importances_": importances,
        "_seed": fields.count("seed", most=MAX_SEED),
        "_judgement": described,
        "_all_columns": whole and tuple(whole),
        "notes_": [_note(Fields(note, "a note of it")) for note in notes],
        **{f"_{name}": values for name, values in insight.items()},
    }


def _judgement(fields: Fields, arrays: Arrays, lengths: Mapping[str, int]) -> Judgement:
    """Return what the held-out rows said about the candidates."""
    n = fields.count("n", least=1)
    found = _taken(_OF_JUDGEMENT, arrays, {**lengths, "candidates": n})
    values = _parts("judgement", found)
    sizes = values["sets"].sum(axis=1)
    require(sizes.all(), "it has an empty candidate.")
    require((sizes == values["sizes"]).all(), "its candidates have other sizes.")
    elected, null_loss = fields.count("elected", most=n - 1), fields.number("null_loss")
    fewest = fields.take("fewest")
    is_index = fewest is None or (type(fewest) is int and 0 <= fewest < n)
    require(is_index, "its smallest candidate is none of its candidates.")
    fields.finish()
    return Judgement(**values, null_loss=null_loss, elected=elected, fewest=fewest)


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
