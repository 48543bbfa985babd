"""How good the default selection is: tabular cells, wide tables, metagenomic studies.

Usage (from the repository root, FEATURESIEVE_DATA set)::

    python benchmarks/quality.py tabular     # select, and judge with a fixed MLP
    python benchmarks/quality.py boosted     # judge the stored selections with trees
    python benchmarks/quality.py price       # the same cells with balance="price"
    python benchmarks/quality.py wide
    python benchmarks/quality.py cohorts
    python benchmarks/quality.py table       # print what the stored results say

Everything is selected with default arguments; only ``random_state`` is set.
"""

import json
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np
import stamp
import torch
from downstream import boosted_score, mlp_scores
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier

import tables
from featuresieve import (
    AutoNFSClassifier,
    AutoNFSRegressor,
    FeatureSieveWarning,
)

N_SEEDS = 3
# Defaults were chosen looking at these, house, mslr and twelve of the cohorts from the
# second round on; all others only confirm them.
DEVELOPMENT = {
    *("california", "eye", "gesture", "jannis", "house", "mslr"),
    *("madelon", "mice_protein", *tables.COHORTS),
}


def select(
    X: np.ndarray, y: np.ndarray, is_regression: bool, seed: int, **arguments: Any
) -> dict[str, Any]:
    """Fit with default arguments and return what came back."""
    kind = AutoNFSRegressor if is_regression else AutoNFSClassifier
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FeatureSieveWarning)
        selector = kind(random_state=seed, **arguments).fit(X, y)
    return {
        "seed": seed,
        "seconds": round(time.perf_counter() - started, 3),
        "kept": np.flatnonzero(selector.support_).tolist(),
        "balance": selector.balance_,
        "warnings": [w.category.__name__ for w in caught],
    }


def as_mask(columns: list[int], n_columns: int) -> np.ndarray:
    """Return a boolean mask of some columns."""
    mask = np.zeros(n_columns, dtype=bool)
    mask[columns] = True
    return mask


def tabular(
    cell: tuple[str, str], n_judges: int, **arguments: Any
) -> list[dict[str, Any]]:
    """Select in one cell and judge by a fixed MLP, trained `n_judges` times."""
    name, scenario = cell
    split = tables.tabular_cell(name, scenario)
    X, y = split.X["train"], split.y["train"]
    runs = [
        select(X, y, split.is_regression, seed, **arguments) for seed in range(N_SEEDS)
    ]
    original = split.is_original
    supports = [np.ones_like(original), original]
    supports += [as_mask(run["kept"], X.shape[1]) for run in runs]
    scores = mlp_scores(split, supports, n_judges).mean(axis=1)
    for run, score in zip(runs, scores[2:], strict=True):
        run["mlp"] = float(score)
    counts = [len(run["kept"]) for run in runs]
    print(name, scenario, counts, scores.round(4).tolist(), flush=True)
    return [
        {
            "table": name,
            "scenario": scenario,
            "n_rows": len(X),
            "n_original": int(original.sum()),
            "n_judges": n_judges,
            "is_regression": split.is_regression,
            "mlp_all": float(scores[0]),
            "mlp_original": float(scores[1]),
            "runs": runs,
        }
    ]


def boosted(cell: dict[str, Any]) -> list[dict[str, Any]]:
    """Add the scores of boosted trees to a stored tabular cell."""
    split = tables.tabular_cell(cell["table"], cell["scenario"])
    original = split.is_original
    cell["boosted_all"] = boosted_score(split, np.ones_like(original), 0)
    cell["boosted_original"] = boosted_score(split, original, 0)
    for run in cell["runs"]:
        support = as_mask(run["kept"], len(original))
        run["boosted"] = boosted_score(split, support, run["seed"])
    scores = [run["boosted"] for run in cell["runs"]]
    print(
        *(cell["table"], cell["scenario"], cell["boosted_all"]),
        *(cell["boosted_original"], scores),
        flush=True,
    )
    return [cell]


def wide(name: str) -> list[dict[str, Any]]:
    """Select on a wide table; judge by neighbours, a forest and the MLP."""
    records = []
    for seed in range(N_SEEDS):
        split = tables.wide_table(name, seed)
        X, y = split.X["train"], split.y["train"]
        run = select(X, y, False, seed)
        sets = {"kept": run["kept"], "all": list(range(X.shape[1]))}
        if name == "madelon":
            relevant = list(tables.MADELON_RELEVANT)
            sets["relevant"] = relevant
            run["outside"] = len(set(run["kept"]) - set(relevant))
        supports = [as_mask(columns, X.shape[1]) for columns in sets.values()]
        mlp = mlp_scores(split, supports, N_SEEDS).mean(axis=1)
        run["scores"] = {
            what: {"mlp": float(score), **_simple_scores(split, support)}
            for what, support, score in zip(sets, supports, mlp, strict=True)
        }
        print(name, seed, len(run["kept"]), run["scores"], flush=True)
        run |= {"table": name, "n_rows": len(X), "n_columns": X.shape[1]}
        records.append(run)
    return records


def _simple_scores(split: tables.Split, support: np.ndarray) -> dict[str, float]:
    """Return test accuracies of nearest neighbours and a forest."""
    models = {
        "neighbours": KNeighborsClassifier(9),
        "forest": RandomForestClassifier(300, random_state=0, n_jobs=-1),
    }
    train, test = split.X["train"][:, support], split.X["test"][:, support]
    return {
        name: float(model.fit(train, split.y["train"]).score(test, split.y["test"]))
        for name, model in models.items()
    }


def cohorts(name: str, n_splits: int = 5) -> list[dict[str, Any]]:
    """Select species in a study; judge by a forest on held-out samples."""
    X, y = tables.raw(name)
    splitter = StratifiedShuffleSplit(n_splits, test_size=0.2, random_state=0)
    records = []
    for seed, (train, test) in enumerate(splitter.split(X, y)):
        run = select(X[train], y[train], False, seed)
        everything = np.arange(X.shape[1])
        run["forest_all"] = _forest(X, y, train, test, everything)
        run["forest"] = _forest(X, y, train, test, np.array(run["kept"]))
        scores = (run["forest_all"], run["forest"])
        print(name, len(run["kept"]), *scores, flush=True)
        records.append(run | {"table": name, "n_columns": X.shape[1]})
    return records


def _forest(
    X: np.ndarray,
    y: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    columns: np.ndarray,
) -> float:
    """Return the balanced accuracy of random forests, the mean of three."""
    scores = []
    for seed in range(3):
        forest = RandomForestClassifier(300, random_state=seed, n_jobs=-1)
        forest.fit(X[np.ix_(train, columns)], y[train])
        predicted = forest.predict(X[np.ix_(test, columns)])
        scores.append(balanced_accuracy_score(y[test], predicted))
    return float(np.mean(scores))


def run_tasks(
    work: Callable[[Any], list[dict[str, Any]]], tasks: list[Any], n_jobs: int
) -> Iterator[dict[str, Any]]:
    """Yield the records of every task, in order, from `n_jobs` processes."""
    if n_jobs == 1:
        for task in tasks:
            yield from work(task)
        return
    context = get_context("spawn")
    with ProcessPoolExecutor(n_jobs, context, torch.set_num_threads, (1,)) as pool:
        for records in pool.map(work, tasks):
            yield from records


def main() -> None:
    parser = stamp.parser_of(__doc__)
    parser.add_argument(
        "part", choices=("tabular", "boosted", "wide", "cohorts", "price", "table")
    )
    parser.add_argument("--tables", nargs="+", default=list(tables.TABULAR))
    parser.add_argument("--judges", type=int, default=N_SEEDS)
    parser.add_argument(
        "--jobs", type=int, default=1, help="processes; seconds mean little above one"
    )
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    part, circumstances = arguments.part, stamp.stamp()
    if part == "table":
        from quality_table import print_tables

        print_tables(arguments.out, DEVELOPMENT)
        return
    name, content = f"quality_{part}", {"stamp": circumstances}
    cells = [(t, scenario) for t in arguments.tables for scenario in tables.SCENARIOS]
    if part == "boosted":
        name = "quality_tabular"
        stored = json.loads((arguments.out / f"{name}.json").read_text())
        content = {"stamp": stored["stamp"], "boosted_stamp": circumstances}
        cells = stored["records"]
    work = {
        "tabular": (partial(tabular, n_judges=arguments.judges), cells),
        "price": (partial(tabular, n_judges=arguments.judges, balance="price"), cells),
        "boosted": (boosted, cells),
        "wide": (wide, list(tables.WIDE)),
        "cohorts": (cohorts, list(tables.COHORTS)),
    }
    records = []
    for record in run_tasks(*work[part], arguments.jobs):  # finished is never lost
        records.append(record)
        if part != "boosted":
            stamp.write(name, content | {"records": records}, arguments.out)
    stamp.write(name, content | {"records": records}, arguments.out)


if __name__ == "__main__":
    main()
