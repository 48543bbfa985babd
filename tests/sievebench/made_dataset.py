"""Small data sets for the tests of the laboratory."""

import numpy as np

from sievebench.data import Dataset


def made_dataset(
    task="classification", n_rows=300, n_columns=6, n_classes=3, scaler="standard"
):
    """Return a table whose first two columns decide the target."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_rows, n_columns)) * np.arange(1, n_columns + 1)
    signal = X[:, :2] @ [1, -0.5][: min(n_columns, 2)]
    y = signal + 0.1 * generator.normal(size=n_rows)
    metric = "negative_rmse"
    if task == "classification":
        edges = np.quantile(signal, np.linspace(0, 1, n_classes + 1)[1:-1])
        y = np.searchsorted(edges, signal)
        metric = "accuracy" if n_classes > 2 else "roc_auc"
    return Dataset(
        name="made",
        X=X,
        y=y,
        column_names=tuple(f"x{number}" for number in range(n_columns)),
        is_original=np.ones(n_columns, dtype=bool),
        task=task,
        metric=metric,
        scaler=scaler,
        n_classes=n_classes if task == "classification" else 0,
    )
