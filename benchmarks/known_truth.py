r"""Where the useless columns are known: noise kept, and relevant columns missed.

Usage (from the repository root; madelon needs FEATURESIEVE_DATA)::

    python benchmarks/known_truth.py noise       # bundled tables with noise, ten seeds
    python benchmarks/known_truth.py relevant    # goal="all_relevant" beside Boruta
    python benchmarks/known_truth.py madelon     # the same of ours, five seeds
    python benchmarks/known_truth.py chance      # pure noise, its rows in five forms
    python benchmarks/known_truth.py rare        # a class that is ever rarer
    python benchmarks/known_truth.py rare_wide   # a rare class, and many columns
    python benchmarks/known_truth.py few         # noise on few rows, and the check
    python benchmarks/known_truth.py table       # print what is stored

The made tables of `relevant` have informative columns, linear mixtures of them, noisy
copies and noise; everything but the noise is relevant (`made_table`). `chance` is 200
rows of 12 columns of noise and a target of chance; then the same with constant weights,
class weights, a third of the rows twice, or five near-copies of each row in groups. The
answer should be one column and an `UninformativeTargetWarning`, in each form. `rare`
is 2,000 rows of 20 columns, three of which make the largest x3 x7 + x11 positive; and
of 300 columns, 20 of which show five causes, with 3.5 % positive: also with the price
that common classes have.
"""

import argparse
import json
import runpy
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

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
from featuresieve.search._price import _RARE

EXAMPLES = Path(__file__).parents[1] / "examples"
BUNDLED = {
    "breast cancer": load_breast_cancer,
    "wine": load_wine,
    "diabetes": load_diabetes,
    "digits": load_digits,
}
N_SEEDS, N_MADELON_SEEDS, N_MADE, N_CHANCE_SEEDS = 10, 5, 6, 20
POSITIVES, N_RARE_DRAWS = (0.5, 0.2, 0.07, 0.04), 4
N_FEW_SEEDS, N_WIDE_DRAWS = 8, 2
Record = dict[str, Any]


def noise() -> Iterator[Record]:
    """Select where as many standard normal columns were added as there are.

    Last the table of `make demo`, of which it selects from 70 % of the rows.
    """
    for name, X, y, n_original in with_noise():
        kind = AutoNFSRegressor if name == "diabetes" else AutoNFSClassifier
        for seed in range(N_SEEDS):
            started = time.perf_counter()
            support = kind(random_state=seed).fit(X, y).support_
            yield {
                "table": name,
                "seed": seed,
                "n_kept": int(support.sum()),
                "n_noise": int(support[n_original:].sum()),
                "seconds": round(time.perf_counter() - started, 2),
            }


def with_noise() -> Iterator[tuple[str, Any, Any, int]]:
    """Yield tables whose first columns are those that were there."""
    for name, load in BUNDLED.items():
        X, y = load(return_X_y=True)
        added = np.random.default_rng(0).standard_normal(X.shape)
        yield name, np.hstack([X, added]), y, X.shape[1]
    demo = runpy.run_path(str(EXAMPLES / "demo.py"))
    X, y = demo["table_with_noise"]()
    X_train, _, y_train, _ = demo["split"](X, y)
    yield "demo", X_train, y_train, load_breast_cancer().data.shape[1]


def relevant() -> Iterator[Record]:
    """Look for all relevant columns, ours and Boruta."""
    for number in range(N_MADE):
        X, y, is_relevant = made_table(number)
        for name in ("ours", "boruta"):
            yield _found(name, f"made {number}", X, y, is_relevant, seed=0)
    X, y, is_relevant = madelon_table()
    yield _found("boruta", "madelon", X, y, is_relevant, 0)


def madelon() -> Iterator[Record]:
    """Look for the twenty relevant columns of madelon."""
    X, y, is_relevant = madelon_table()
    for seed in range(N_MADELON_SEEDS):
        yield _found("ours", "madelon", X, y, is_relevant, seed)


def madelon_table() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return madelon, and which columns are relevant."""
    X, y = tables.raw("madelon")
    return X, y, np.isin(np.arange(X.shape[1]), tables.MADELON_RELEVANT)


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


def chance() -> Iterator[Record]:
    """Select where there is nothing to find, and rows stand several times."""
    for seed in range(N_CHANCE_SEEDS):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((200, 12)), rng.permutation(np.arange(200) % 2)
        again = np.r_[np.arange(200), rng.choice(200, 60, replace=False)]
        group = np.repeat(np.arange(200), 5)
        near = X[group] + 0.01 * rng.standard_normal((1000, 12))
        forms = {
            "once": (X, y, {}, {}),
            "weight 2": (X, y, {}, {"sample_weight": np.full(200, 2)}),
            "class weight": (X, y, {"class_weight": {0: 1, 1: 3}}, {}),
            "30 % twice": (X[again], y[again], {}, {}),
            "near-copies": (near, y[group], {}, {"groups": group}),
        }
        for form, (table, labels, arguments, by_row) in forms.items():
            selector = AutoNFSClassifier(random_state=seed, **arguments)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                selector.fit(table, labels, **by_row)
            yield {
                "form": form,
                "seed": seed,
                "n_kept": selector.n_features_,
                "first": int(selector.order_[0]),
                "warnings": sorted({w.category.__name__ for w in caught}),
            }


def rare() -> Iterator[Record]:
    """Look for three columns that make a row positive."""
    for share in POSITIVES:
        for draw in range(N_RARE_DRAWS):
            X = np.random.default_rng(draw).standard_normal((2000, 20))
            cause = X[:, 3] * X[:, 7] + X[:, 11]
            y = cause > np.quantile(cause, 1 - share)
            selector = AutoNFSClassifier(random_state=0).fit(X, y)
            kept = set(np.flatnonzero(selector.support_).tolist())
            yield {
                "positive": share,
                "draw": draw,
                "n_found": len(kept & {3, 7, 11}),
                "n_false": len(kept - {3, 7, 11}),
            }


def rare_wide() -> Iterator[Record]:
    """Look for the 20 of 300 columns that show causes, three of which are a class's."""
    for draw in range(N_WIDE_DRAWS):
        rng = np.random.default_rng(draw)
        causes, X = rng.standard_normal((2000, 5)), rng.standard_normal((2000, 300))
        X[:, :20] = causes[:, np.arange(20) % 5] + 0.8 * X[:, :20]
        strength = causes[:, :3].sum(axis=1) + rng.standard_normal(2000)
        y = strength > np.quantile(strength, 1 - 0.035)
        for least in (_RARE, 0.0):
            with patch("featuresieve.search._price._RARE", least):
                support = AutoNFSClassifier(random_state=0).fit(X, y).support_
            yield {
                "least": least,
                "draw": draw,
                "n_found": int(support[:20].sum()),
                "n_false": int(support[20:].sum()),
            }


def few() -> Iterator[Record]:
    """Select where there is nothing to find on few rows, and a product among many."""
    for n_rows, n_columns in ((40, 30), (60, 100)):
        for seed in range(N_FEW_SEEDS):
            rng = np.random.default_rng(seed)
            X = rng.standard_normal((n_rows, n_columns))
            y = rng.permutation(np.arange(n_rows) % 2)
            record = {"rows": n_rows, "columns": n_columns, "seed": seed}
            for balance in ("price", "auto"):
                selector = AutoNFSClassifier(balance, random_state=seed).fit(X, y)
                record[balance] = selector.n_features_
            yield record
    X = np.random.default_rng(0).standard_normal((1200, 1700))
    selector = AutoNFSClassifier(random_state=0).fit(X, X[:, 0] * X[:, 1] > 0)
    n_found = int(selector.support_[:2].sum())
    yield {"rows": 1200, "columns": 1700, "seed": 0, "n_found": n_found}


PARTS = {
    **{"noise": noise, "relevant": relevant, "madelon": madelon},
    **{"chance": chance, "rare": rare, "rare_wide": rare_wide, "few": few},
}


def store(what: str) -> None:
    """Run one part and store its records."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file, origin = stamp.RESULTS / f"known_truth_{what}.json", stamp.stamp()
        records = []
        for record in PARTS[what]():
            records.append(record)
            print(record, flush=True)
            file.write_text(json.dumps({**origin, "records": records}) + "\n")


def table() -> None:
    """Print what is stored."""
    shown = {
        **{"noise": _show_noise, "relevant": _show_relevant},
        "madelon": _show_relevant,
        **{"chance": _show_chance, "rare": _show_rare, "few": _show_few},
        "rare_wide": _show_rare_wide,
    }
    for what, show in shown.items():
        file = stamp.RESULTS / f"known_truth_{what}.json"
        if file.exists():
            show(json.loads(file.read_text())["records"])


def _show_noise(stored: list[Record]) -> None:
    """Print how much noise is kept, and how the sizes differ."""
    for name in dict.fromkeys(r["table"] for r in stored):
        own = [r for r in stored if r["table"] == name]
        kept = np.array([r["n_kept"] for r in own])
        far = np.abs(kept / np.median(kept) - 1).max()
        print(
            f"{name:14} kept {sorted(kept.tolist())}, noise in"
            f" {sum(r['n_noise'] > 0 for r in own)} of {len(own)},"
            f" farthest from the median {far:.0%}"
        )


def _show_relevant(stored: list[Record]) -> None:
    """Print how many relevant columns are found, and how many others."""
    kinds = [(r["selector"], r["table"].split()[0]) for r in stored]
    for kind in dict.fromkeys(kinds):
        part = [r for r, own in zip(stored, kinds, strict=True) if own == kind]
        sums = [sum(r[key] for r in part) for key in ("n_found", "n_false")]
        n_relevant = sum(r["n_relevant"] for r in part)
        seconds = np.mean([r["seconds"] for r in part])
        print(
            f"{kind[0]:7} {kind[1]:8} {sums[0]} of {n_relevant} found, {sums[1]} false,"
            f" {seconds:.1f} s each, {len(part)} fits"
        )


def _show_chance(stored: list[Record]) -> None:
    """Print how often nothing is found where there is nothing."""
    once = {r["seed"]: r["first"] for r in stored if r["form"] == "once"}
    for form in dict.fromkeys(r["form"] for r in stored):
        own = [r for r in stored if r["form"] == form]
        n_same = sum(r["first"] == once[r["seed"]] for r in own)
        n_warned = sum("UninformativeTargetWarning" in r["warnings"] for r in own)
        n_one = sum(r["n_kept"] == 1 for r in own)
        print(
            f"{form:12} one column in {n_one}, the same as once in {n_same},"
            f" warned in {n_warned} of {len(own)}"
        )


def _show_rare(stored: list[Record]) -> None:
    """Print in how many draws all three columns are found, and how many others."""
    for share in POSITIVES:
        own = [r for r in stored if r["positive"] == share]
        n_all = sum(r["n_found"] == 3 for r in own)
        n_false = sum(r["n_false"] for r in own)
        print(f"{share:4.0%} positive: {n_all} of {len(own)}, {n_false} others")


def _show_rare_wide(stored: list[Record]) -> None:
    """Print how many related and unrelated columns are kept at each price."""
    for least in dict.fromkeys(r["least"] for r in stored):
        counts = [(r["n_found"], r["n_false"]) for r in stored if r["least"] == least]
        print(f"price at least {least:g} / positives: {counts} related, others")


def _show_few(stored: list[Record]) -> None:
    """Print how much noise few rows let in, with a check and without."""
    for rows, columns in dict.fromkeys((r["rows"], r["columns"]) for r in stored):
        own = [r for r in stored if (r["rows"], r["columns"]) == (rows, columns)]
        for what in ("price", "auto", "n_found"):
            counts = [r[what] for r in own if what in r]
            if counts:
                print(f"{rows} × {columns}, {what}: {counts}")


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=(*PARTS, "table"))
    what = parser.parse_args().what
    table() if what == "table" else store(what)


if __name__ == "__main__":
    main()
