"""Record the answers of fits, and compare those of a later state of the code with them.

For changes that shall not change any answer: `same_answers.py FILE` writes supports,
logits and predictions of three seeds on five tables (both tasks, CPU) to FILE, or, if
FILE is there, compares with it to the bit. Both runs must be on the same machine.
"""

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine

from featuresieve import AutoNFSClassifier, AutoNFSRegressor, FeatureSieveWarning

SEEDS = (0, 1, 2)


def mixed_table() -> tuple[pd.DataFrame, pd.Series]:
    """Return a table with numbers, text, dates and missing values, and its target."""
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(rng.normal(size=(300, 6))).add_prefix("number ")
    frame["text"] = rng.choice(["a", "b", "c"], size=300)
    frame["date"] = pd.date_range("2024-01-01", periods=300)
    frame = frame.mask(rng.random(frame.shape) < 0.05)
    signal = frame["number 1"].fillna(0) + (frame["text"] == "a")
    return frame, (signal > 0.3).map({True: "yes", False: "no"})


def tables() -> Iterator[tuple[str, type, Any, Any]]:
    """Yield (name, estimator class, X, y)."""
    for load in (load_breast_cancer, load_wine):
        yield load.__name__, AutoNFSClassifier, *load(return_X_y=True, as_frame=True)
    X, y = load_digits(return_X_y=True)
    yield "load_digits", AutoNFSClassifier, X[:400], y[:400]
    yield "load_diabetes", AutoNFSRegressor, *load_diabetes(return_X_y=True)
    yield "mixed", AutoNFSClassifier, *mixed_table()


def answers() -> dict[str, np.ndarray]:
    """Return one array per table, seed and attribute."""
    found = {}
    for name, estimator, X, y in tables():
        for seed in SEEDS:
            fitted = estimator(random_state=seed, device="cpu").fit(X, y)
            values = {a: getattr(fitted, a) for a in ("support_", "order_", "logits_")}
            is_regression = estimator is AutoNFSRegressor
            predict = fitted.predict if is_regression else fitted.predict_proba
            for attribute, value in (values | {"predictions": predict(X)}).items():
                found[f"{name} {seed} {attribute}"] = np.asarray(value)
    return found


def main(path: Path) -> str:
    """Write the answers to a file, or compare with those in it."""
    warnings.simplefilter("ignore", FeatureSieveWarning)
    found = answers()
    if not path.exists():
        np.savez_compressed(path, **found)
        return f"{len(found)} arrays written to {path}"
    with np.load(path) as known:
        other = [n for n in found if not np.array_equal(found[n], known[n])]
    return f"{len(found) - len(other)} of {len(found)} arrays are the same" + "".join(
        f"\n  other: {name}" for name in other
    )


if __name__ == "__main__":
    print(main(Path(sys.argv[1])))
