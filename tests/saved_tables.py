"""The tables behind the files in tests/data, made without random numbers.

``python tests/saved_tables.py`` writes the files of the present schema version, and
refuses to replace any: a file that was released must load for ever.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from featuresieve import AutoNFSClassifier, AutoNFSRegressor, Training
from featuresieve.storage import unpack

DATA = Path(__file__).parent / "data"


def mixed_rows(n_rows=48):
    """Return a frame with columns of every kind, and labels that three of them make."""
    row = np.arange(n_rows)
    wave = np.sin(row * 1.7) * 2
    frame = pd.DataFrame(
        {
            "wave": wave,
            "word": np.array(["ja", "nein", "später"])[row * 7 % 3],
            "day": np.datetime64("2024-01-01", "s") + row * np.timedelta64(86_400, "s"),
            "holes": np.where(row % 5 == 0, np.nan, np.cos(row * 0.9)),
            "flag": row % 2 == 0,
            "noise": np.sin(row * row * 0.37),
        }
    )
    return frame, np.where(wave + (row * 7 % 3 == 0) > 0.3, "yes", "no")


def number_rows(n_rows=48):
    """Return an array, and values that two of its columns make."""
    X = np.sin(np.outer(np.arange(1, n_rows + 1), [0.7, 1.3, 2.1, 2.9]))
    return X, 10 + 3 * X[:, 0] - 2 * X[:, 2]


def fit_classifier():
    selector = AutoNFSClassifier(
        0.005,
        min_features_to_select=5,
        training=Training(n_epochs=12, n_members=2, hidden_sizes=(4,)),
        always_keep=["word", "day", "holes", "flag"],
        never_keep=("noise",),
        feature_costs={"wave": 0.5},
        random_state=0,
    )
    return selector.fit(*mixed_rows())


def fit_regressor():
    selector = AutoNFSRegressor(
        training=Training(n_epochs=60, n_members=2, scaling="none", hidden_sizes=()),
        random_state=0,
    )
    return selector.fit(*number_rows())


def expected_of(selector, X):
    """Return what a file promises, for JSON."""
    predictions = selector.predict(X)
    if hasattr(selector, "predict_proba"):
        predictions = selector.predict_proba(X)
    return {
        "support": selector.support_.tolist(),
        "ranking": (np.argsort(selector.order_) + 1).tolist(),
        "predictions": predictions.tolist(),
    }


if __name__ == "__main__":
    for name, selector, X in (
        ("classifier", fit_classifier(), mixed_rows(8)[0]),
        ("regressor", fit_regressor(), number_rows(8)[0]),
    ):
        selector.save(DATA / "draft")
        version = unpack(DATA / "draft")[0]["schema_version"]
        path = DATA / f"{name}-{version}.safetensors"
        if path.exists():
            (DATA / "draft").unlink()
            raise SystemExit(f"{path} is there already, and stays as it is.")
        (DATA / "draft").rename(path)
        text = json.dumps(expected_of(selector, X), indent=1)
        path.with_suffix(".json").write_text(f"{text}\n", encoding="utf-8")
