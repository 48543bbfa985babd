"""Select features of a real table, print what was found, save a picture of it.

Run by ``make demo``. The table is scikit-learn's breast cancer data, 569 tumours with
30 measurements each, to which 30 columns of noise are added.
"""

import time
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline

from featuresieve import AutoNFSClassifier
from featuresieve.plotting import BalancePathDisplay, StabilityDisplay

PICTURE = Path("autonfs_demo.png")


def table_with_noise() -> tuple[pd.DataFrame, pd.Series]:
    """Return the tumours with thirty more columns that mean nothing."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    noise = np.random.default_rng(0).standard_normal((len(X), 30))
    names = [f"noise {number}" for number in range(30)]
    return pd.concat([X, pd.DataFrame(noise, columns=names)], axis=1), y


def split(X: pd.DataFrame, y: pd.Series) -> list[Any]:
    """Return rows to select from and rows to judge by."""
    return train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)


def draw(selector: AutoNFSClassifier, path: Path) -> None:
    """Save the candidates with their losses, and the votes for each feature."""
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(11, 5.2), width_ratios=(1, 1.25), layout="constrained"
    )
    BalancePathDisplay.from_estimator(selector, ax=left)
    StabilityDisplay.from_estimator(selector, ax=right, max_features=24)
    left.set_title("How many? A check on held-out rows")
    right.set_title("Which? The votes of 100 networks")
    figure.savefig(path, dpi=130)
    plt.close(figure)


def main() -> None:
    X, y = table_with_noise()
    X_train, X_test, y_train, y_test = split(X, y)
    print(f"{X.shape[0]} rows, {X.shape[1]} columns, 30 of them noise\n")
    started = time.perf_counter()
    selector = AutoNFSClassifier(random_state=0).fit(X_train, y_train)
    seconds = time.perf_counter() - started
    table = selector.feature_table()
    shown = ["name", "rank", "frequency", "importance", "importance_error"]
    print(table.loc[table.kept, shown].to_string(index=False, float_format="%.2f"))
    n_noise = sum(name.startswith("noise") for name in selector.get_feature_names_out())
    print(
        f"\nkept {selector.n_features_selected_} of {X.shape[1]} columns, "
        f"{n_noise} of them noise, in {seconds:.1f} s"
    )
    print(f"its own network on unseen rows: {selector.score(X_test, y_test):.3f}")
    forest = RandomForestClassifier(random_state=0)
    print(f"forest, all columns:  {cross_val_score(forest, X, y).mean():.3f}")
    pipeline = make_pipeline(AutoNFSClassifier(random_state=0), forest)
    print(f"forest, kept columns: {cross_val_score(pipeline, X, y).mean():.3f}")
    draw(selector, PICTURE)
    print(f"picture saved to {PICTURE}")


if __name__ == "__main__":
    main()
