"""Seconds of whole fits on some numbers of threads, in turns, in one process.

Run with ``python benchmarks/cores.py`` on an idle machine. ``--jobs 1 2 4 8`` names
the numbers of threads, ``--rounds 5`` how often each fits every table, ``--tables
2000x500`` which tables, ``--out FOLDER`` another folder than ``benchmarks/results``.
All fits of a table must agree to the bit; a fit that does not ends the run.
"""

import time
import warnings
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
import stamp

from featuresieve import AutoNFSClassifier

TABLES = ("569x60", "2000x500", "20000x100")
N_RELEVANT = 30


def table(shape: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a table of normal numbers whose first columns decide the class."""
    n_rows, n_columns = map(int, shape.split("x"))
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns), dtype=np.float32)
    signal = X[:, :N_RELEVANT].sum(axis=1) + rng.standard_normal(n_rows)
    return X, (signal > 0).astype(int)


def fit(X: np.ndarray, y: np.ndarray, n_jobs: int) -> tuple[dict[str, float], bytes]:
    """Return how long a default fit takes, and its answer."""
    selector = AutoNFSClassifier(random_state=0, device="cpu", n_jobs=n_jobs)
    wall, cpu = time.perf_counter(), time.process_time()
    selector.fit(X, y)
    took = {
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
    }
    return took, selector.logits_.tobytes() + selector.predict_proba(X).tobytes()


def records(shape: str, jobs: list[int], n_rounds: int) -> Iterator[dict[str, Any]]:
    """Yield the median times of a table for each number of threads."""
    X, y = table(shape)
    times: dict[int, list[dict[str, float]]] = {n_jobs: [] for n_jobs in jobs}
    answer = None
    for _ in range(n_rounds):
        for n_jobs in jobs:
            took, found = fit(X, y, n_jobs)
            if found != (answer := answer or found):
                raise SystemExit(f"{shape}: another answer with n_jobs={n_jobs}.")
            times[n_jobs].append(took)
    medians = {
        n_jobs: {
            name: float(np.median([each[name] for each in own]))
            for name in ("seconds", "cpu_seconds")
        }
        for n_jobs, own in times.items()
    }
    first = medians[jobs[0]]["seconds"]
    for n_jobs, own in medians.items():
        rounded = {name: round(value, 3) for name, value in own.items()}
        ratio = round(first / own["seconds"], 2)
        yield {"table": shape, "n_jobs": n_jobs, **rounded, "times_as_fast": ratio}


def main() -> None:
    parser = stamp.parser_of(__doc__)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tables", nargs="+", default=TABLES)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    fit(*table("200x10"), 1)  # the first calls of torch
    found = (records(t, arguments.jobs, arguments.rounds) for t in arguments.tables)
    stamp.store("cores", chain.from_iterable(found), arguments.out)


if __name__ == "__main__":
    main()
