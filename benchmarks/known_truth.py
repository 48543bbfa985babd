r"""Where the useless columns are known: noise kept, and relevant columns missed.

Usage (from the repository root; madelon needs FEATURESIEVE_DATA)::

    python benchmarks/known_truth.py noise       # bundled tables with noise, ten seeds
    python benchmarks/known_truth.py relevant    # goal="all_relevant" beside Boruta
    python benchmarks/known_truth.py table       # print what is stored

The made tables of `relevant` have informative columns, linear mixtures of them, noisy
copies and noise; everything but the noise is relevant (`made_table`).
"""

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import stamp
from boruta import BorutaPy
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_wine,
    make_classification,
)
from sklearn.ensemble import RandomForestClassifier

import tables
from featuresieve import AutoNFSClassifier, AutoNFSRegressor

BUNDLED = {
    "breast cancer": load_breast_cancer,
    "wine": load_wine,
    "diabetes": load_diabetes,
    "digits": load_digits,
}
N_SEEDS, N_MADELON_SEEDS, N_MADE = 10, 3, 6
Record = dict[str, Any]


def noise() -> Iterator[Record]:
    """Select where as many standard normal columns were added as there are."""
    for name, load in BUNDLED.items():
        X, y = load(return_X_y=True)
        added = np.random.default_rng(0).standard_normal(X.shape)
        kind = AutoNFSRegressor if name == "diabetes" else AutoNFSClassifier
        for seed in range(N_SEEDS):
            started = time.perf_counter()
            support = kind(random_state=seed).fit(np.hstack([X, added]), y).support_
            yield {
                "table": name,
                "seed": seed,
                "n_kept": int(support.sum()),
                "n_noise": int(support[X.shape[1] :].sum()),
                "seconds": round(time.perf_counter() - started, 2),
            }


def relevant() -> Iterator[Record]:
    """Look for all relevant columns, ours and Boruta."""
    for number in range(N_MADE):
        X, y, is_relevant = made_table(number)
        for name in ("ours", "boruta"):
            yield _found(name, f"made {number}", X, y, is_relevant, seed=0)
    X, y = tables.load("highdim/madelon.parquet")
    is_relevant = np.isin(np.arange(X.shape[1]), tables.MADELON_RELEVANT)
    for seed in range(N_MADELON_SEEDS):
        yield _found("ours", "madelon", X, y, is_relevant, seed)
    yield _found("boruta", "madelon", X, y, is_relevant, 0)


def made_table(number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return 800 rows: 5 informative columns, 5 mixtures, 5 noisy copies, 25 noise."""
    X, y = make_classification(
        n_samples=800,
        n_features=10,
        n_informative=5,
        n_redundant=5,
        n_clusters_per_class=2,
        shuffle=False,
        random_state=number,
    )
    rng = np.random.default_rng(number)
    copies = X[:, :5] + 0.5 * X[:, :5].std(axis=0) * rng.standard_normal((800, 5))
    X = np.hstack([X, copies, rng.standard_normal((800, 25))])
    return X, y, np.arange(40) < 15


def _found(
    name: str, table: str, X: np.ndarray, y: np.ndarray, truth: np.ndarray, seed: int
) -> Record:
    """Return how many relevant columns a selector finds, and how many others."""
    started = time.perf_counter()
    if name == "ours":
        selector = AutoNFSClassifier(goal="all_relevant", random_state=seed)
        support = selector.fit(X, y).support_
    else:
        forest = RandomForestClassifier(
            max_depth=5, class_weight="balanced", random_state=seed
        )
        selector = BorutaPy(forest, n_estimators="auto", random_state=seed)
        support = selector.fit(X, y).support_
    return {
        "selector": name,
        "table": table,
        "seed": seed,
        "n_relevant": int(truth.sum()),
        "n_found": int((support & truth).sum()),
        "n_false": int((support & ~truth).sum()),
        "seconds": round(time.perf_counter() - started, 2),
    }


def store(what: str) -> None:
    """Run one part and store its records."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        records = []
        for record in {"noise": noise, "relevant": relevant}[what]():
            records.append(record)
            print(record, flush=True)
    file = stamp.RESULTS / f"known_truth_{what}.json"
    file.write_text(json.dumps({**stamp.stamp(), "records": records}) + "\n")


def table() -> None:
    """Print what is stored."""
    stored = _read("noise")
    for name in BUNDLED:
        own = [r for r in stored if r["table"] == name]
        kept = np.array([r["n_kept"] for r in own])
        far = np.abs(kept / np.median(kept) - 1).max()
        print(
            f"{name:14} kept {sorted(kept.tolist())}, noise in"
            f" {sum(r['n_noise'] > 0 for r in own)} of {len(own)},"
            f" farthest from the median {far:.0%}"
        )
    for name in ("ours", "boruta"):
        own = [r for r in _read("relevant") if r["selector"] == name]
        for prefix in ("made", "madelon"):
            part = [r for r in own if r["table"].split()[0] == prefix]
            sums = [sum(r[key] for r in part) for key in ("n_found", "n_false")]
            n_relevant = sum(r["n_relevant"] for r in part)
            seconds = np.mean([r["seconds"] for r in part])
            print(
                f"{name:7} {prefix:8} {sums[0]} of {n_relevant} found, {sums[1]} false,"
                f" {seconds:.1f} s each, {len(part)} fits"
            )


def _read(what: str) -> list[Record]:
    """Return stored records."""
    text = (stamp.RESULTS / f"known_truth_{what}.json").read_text()
    return json.loads(text)["records"]


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("noise", "relevant", "table"))
    what = parser.parse_args().what
    table() if what == "table" else store(what)


if __name__ == "__main__":
    main()
