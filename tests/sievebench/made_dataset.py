"""Small data sets for the tests of the laboratory."""

import json

import numpy as np

from sievebench.data import Dataset


def catalog_row(name, **changes):
    """Return a row of a catalogue: forty rows, three columns, three classes."""
    facts = {
        **{"title": "Toy", "group": "tabular", "file": f"{name}.parquet"},
        **{"task": "classification", "metric": "accuracy", "scaler": "standard"},
        **{"n_rows": 40, "n_columns": 3, "n_classes": 3},
        **changes,
    }
    lines = [f"{key} = {json.dumps(value)}" for key, value in facts.items()]
    source = 'kind = "manual", url = "https://example.org", why = "it is made up"'
    return "\n".join(["", f"[{name}]", *lines, f"source = {{ {source} }}", ""])


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
