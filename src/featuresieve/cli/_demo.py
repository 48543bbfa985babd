"""The table of `featuresieve demo`."""

import csv
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer

_N_NOISE = 30


@contextmanager
def demo_file() -> Iterator[Path]:
    """Write scikit-learn's breast cancer data with 30 noise columns to a CSV file."""
    tumours = load_breast_cancer()
    noise = np.random.default_rng(0).standard_normal((len(tumours.data), _N_NOISE))
    names = [*tumours.feature_names, *(f"noise {number}" for number in range(_N_NOISE))]
    with tempfile.TemporaryDirectory(prefix="featuresieve-") as folder:
        path = Path(folder) / "tumours.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["diagnosis", *names])
            labels = tumours.target_names[tumours.target]
            for label, row, extra in zip(labels, tumours.data, noise, strict=True):
                writer.writerow([label, *row.tolist(), *extra.round(4).tolist()])
        yield path
