"""Tables and fitted estimators whose models of ONNX are compared with them."""

import numpy as np
import pandas as pd

from featuresieve import AutoNFSClassifier, Training
from made_tables import class_table, value_table
from quick_selectors import built


def quick(estimator_class=AutoNFSClassifier, balance=0.01, **arguments):
    quickly = {"n_epochs": 3, "random_state": 0}
    quickly["training"] = Training(hidden_sizes=(8,))
    return built(estimator_class, balance, **(quickly | arguments))


def with_holes(values, is_hole):
    return pd.Series(values).where(~is_hole)


def mixed_table(n_rows=300, seed=0):
    """Return a frame with columns of every kind, and text labels."""
    rng = np.random.default_rng(seed)
    holes = rng.random(n_rows) < 0.15
    minutes = rng.integers(-40_000_000, 40_000_000, n_rows)  # from 1893 to 2046
    cities = np.array([f"city {k}" for k in range(40)])
    frame = pd.DataFrame(
        {
            "wave": rng.standard_normal(n_rows) ** 3,
            "holes": np.where(holes, np.nan, rng.standard_normal(n_rows)),
            "flag": rng.random(n_rows) < 0.4,
            "flag with holes": with_holes(rng.random(n_rows) < 0.5, holes),
            "word": rng.choice(["ja", "nein", "später"], n_rows),
            "word with holes": with_holes(rng.choice(["u", "v"], n_rows), holes),
            "city": pd.Categorical(cities[rng.integers(40, size=n_rows) ** 2 // 40]),
            "code": pd.Categorical(rng.choice([3, 5, 2**60], n_rows)),
            "truth": pd.Categorical(rng.choice([True, False], n_rows)),
            "share": pd.Categorical(with_holes(rng.choice([0.1, 0.2], n_rows), holes)),
            "moment": with_holes(
                np.datetime64(0, "us") + minutes * np.timedelta64(60_000_001, "us"),
                holes,
            ),
            "day": np.datetime64("2024-02-27", "D") + np.arange(n_rows) % 5,
            "nothing": np.full(n_rows, np.nan),
            "left out": rng.choice(["a", "b"], n_rows),
        }
    )
    score = frame["wave"] + (frame["word"] == "ja") + frame["flag"]
    return frame, np.where(score > 0.5, "yes", "no")


def fit_mixed(**arguments):
    frame, labels = mixed_table()
    constraints = {"n_features_to_select": 13, "never_keep": ["left out"]}
    selector = quick(max_categories=10, **constraints, **arguments)
    return selector.fit(frame, labels)


def labels_table():
    X, _ = class_table()
    return X, (X[:, [2, 5, 6]] > 0).astype(int)


def holes_table():
    X, y = class_table()
    X[::7, 2] = np.nan
    X[:, 5] = X[:, 5].round(1)
    return X, y.astype(int) * 3 - 1


def outputs_table():
    X, y = value_table()
    heavy = np.sinh(4 * X[:, 2])
    return X, np.column_stack([y, heavy])


def heavy_table():
    X, y = value_table()
    return X, np.sinh(2 * (y - 100))
