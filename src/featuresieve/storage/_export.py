"""A selection for other programs, as JSON."""

import json
import math
from typing import Any

import numpy as np

from featuresieve import __version__
from featuresieve.problem import ClassEncoder
from featuresieve.storage._attribute_state import VERDICTS

SCHEMA = "featuresieve-selection"
SCHEMA_VERSION = 1


def selection(estimator: Any, class_name: str) -> dict[str, Any]:
    """Return what ``schemas/selection-1.json`` describes."""
    names, labels = feature_names(estimator), estimator._labels
    rank = np.argsort(estimator.order_) + 1
    code = estimator._target_code
    task = "classification" if isinstance(code, ClassEncoder) else "regression"
    importance, error = np.where(
        estimator.support_, estimator._importance, np.nan
    ).tolist()
    nearest = estimator._represented_by.tolist()
    features = [
        {
            "position": j,
            "name": names[j] if labels is None else _label(labels[j]),
            "kept": bool(estimator.support_[j]),
            "rank": int(rank[j]),
            "frequency": float(estimator.selection_frequency_[j]),
            "verdict": VERDICTS[estimator._verdict[j]],
            "importance": _finite(importance[j]),
            "importance_error": _finite(error[j]),
            "represented_by": names[nearest[j]] if nearest[j] >= 0 else None,
            "logit": _finite(float(estimator.logits_[j])),
        }
        for j in range(len(names))
    ]
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "featuresieve_version": __version__,
        "estimator": class_name,
        "task": "multilabel" if getattr(code, "is_multilabel", False) else task,
        "balance": float(estimator.balance_),
        "n_features_in": len(names),
        "n_features_selected": int(estimator.n_features_selected_),
        "features": features,
        "notes": estimator.notes_,
        "path": [
            {name: _finite(row[name].item()) for name in row.dtype.names}
            for row in estimator.path_
        ],
    }


def selection_text(estimator: Any, class_name: str) -> str:
    """Return a selection as JSON text, one that UTF-8 can hold."""
    found = selection(estimator, class_name)
    text = json.dumps(found, allow_nan=False, ensure_ascii=False, indent=2)
    try:
        text.encode()
    except UnicodeEncodeError:  # a column name with half a character
        text = json.dumps(found, allow_nan=False, indent=2)
    return text


def feature_names(estimator: Any) -> list[str]:
    """Return the names of all columns, x0, x1, ... if they have none."""
    names = getattr(estimator, "feature_names_in_", estimator._labels)
    if names is None:
        return [f"x{j}" for j in range(len(estimator.support_))]
    return [str(name) for name in names]


def _label(label: Any) -> int | str:
    """Return a column label for JSON: a whole number as one, all else as text."""
    is_whole = isinstance(label, int | np.integer) and not isinstance(label, bool)
    return int(label) if is_whole else str(label)


def _finite(value: float) -> float | None:
    """Return a number for JSON, which has no infinities."""
    return value if math.isfinite(value) else None
