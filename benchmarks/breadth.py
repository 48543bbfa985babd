r"""The default against other automatic selectors, on tables of every kind.

Usage (from the repository root, FEATURESIEVE_DATA set)::

    python benchmarks/breadth.py run --selectors auto price      # draws 11 and 12
    python benchmarks/breadth.py run --draws 11 --selectors f_test l1 forest \
        --file breadth_peers
    python benchmarks/breadth.py run --draws 11 --selectors boruta --file breadth_boruta
    python benchmarks/breadth.py run --draws 11 --selectors all_relevant autonfs \
        --file breadth_more
    python benchmarks/breadth.py ablation --draws 1 2            # the rule, varied
    python benchmarks/breadth.py table                           # print what is stored
    python benchmarks/breadth.py table --file breadth_ablation

Each table gets as many useless columns as it has, on at most `--rows` drawn rows. Sets
are judged by four models (`breadth_cells.Judges`) on rows that no selector saw. Draws 1
and 2 had a part in choosing the rule, on the tables that are not wide; other draws had
none.
"""

import argparse
import json
import os
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import stamp
from breadth_cells import (
    CLASSES,
    SCENARIOS,
    VALUES,
    WIDE,
    Cell,
    Judges,
    as_numbers,
    imputed,
    make_cell,
)
from scipy.stats import rankdata
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import SelectFdr, f_classif, f_regression
from sklearn.linear_model import LassoCV, LogisticRegressionCV
from sklearn.preprocessing import StandardScaler

from featuresieve import AutoNFSClassifier, AutoNFSRegressor
from featuresieve.search._price import price_of_feature

RESULTS = Path(__file__).parent / "results"
Select = Callable[[Cell, int], np.ndarray]


def ours(cell: Cell, seed: int, **arguments: Any) -> np.ndarray:
    """Select with default arguments."""
    kind = AutoNFSRegressor if cell.is_regression else AutoNFSClassifier
    fitted = kind(random_state=seed, **arguments).fit(cell.train, cell.y_train)
    return fitted.support_


def price(cell: Cell, seed: int) -> np.ndarray:
    """Select with the votes alone."""
    return ours(cell, seed, balance="price")


def all_relevant(cell: Cell, seed: int) -> np.ndarray:
    """Keep everything that carries information."""
    return ours(cell, seed, goal="all_relevant")


def trees(cell: Cell, seed: int) -> np.ndarray:
    """Keep what small boosted trees predict best from."""
    return ours(cell, seed, judge="trees")


def boruta(cell: Cell, seed: int) -> np.ndarray:
    """Run BorutaPy as its README does: trees of depth five, as many as it likes."""
    from boruta import BorutaPy

    forest = RandomForestClassifier(
        max_depth=5, class_weight="balanced", random_state=seed
    )
    if cell.is_regression:
        forest = RandomForestRegressor(max_depth=5, random_state=seed)
    selector = BorutaPy(forest, n_estimators="auto", random_state=seed)
    return selector.fit(_filled(cell), cell.y_train).support_


def forest_mean(cell: Cell, seed: int) -> np.ndarray:
    """Keep what is above the mean importance of 500 trees, as SelectFromModel does."""
    kind = RandomForestRegressor if cell.is_regression else RandomForestClassifier
    importances = kind(500, random_state=seed).fit(_filled(cell), cell.y_train)
    importances = importances.feature_importances_
    return importances >= importances.mean()


def f_test(cell: Cell, seed: int) -> np.ndarray:  # noqa: ARG001
    """Keep what the F test finds at a false discovery rate of 5 %."""
    X = _filled(cell)
    varies = X.std(axis=0) > 0
    test = SelectFdr(f_regression if cell.is_regression else f_classif, alpha=0.05)
    support = np.zeros(X.shape[1], dtype=bool)
    support[varies] = test.fit(X[:, varies], cell.y_train).get_support()
    return support


def l1(cell: Cell, seed: int) -> np.ndarray:
    """Keep what has a coefficient in a cross-validated lasso."""
    X = StandardScaler().fit_transform(_filled(cell))
    if cell.is_regression:
        model = LassoCV(cv=5, random_state=seed, max_iter=3000)
        return model.fit(X, cell.y_train).coef_ != 0
    model = LogisticRegressionCV(
        Cs=8,
        cv=3,
        l1_ratios=(1,),
        solver="saga",
        max_iter=150,
        random_state=seed,
        scoring="neg_log_loss",
    )
    return (model.fit(X, cell.y_train).coef_ != 0).any(axis=0)


def autonfs(cell: Cell, seed: int) -> np.ndarray:
    """Run the authors' package with its defaults."""
    import torch
    from autonfs import AutoNFS

    torch.manual_seed(seed)
    task = "regression" if cell.is_regression else "classification"
    y = cell.y_train
    if cell.is_regression:
        y = StandardScaler().fit_transform(y[:, None])[:, 0]
    selector = AutoNFS(mode=task, random_state=seed)
    selector.fit(_filled(cell).astype(np.float32), y)
    return np.asarray(selector.support_, dtype=bool)


def _filled(cell: Cell) -> np.ndarray:
    """Return the training rows as numbers without gaps."""
    return imputed(as_numbers(cell.train))[0]


SELECTORS: dict[str, Select] = {
    "auto": ours,
    "price": price,
    "all_relevant": all_relevant,
    "trees": trees,
    "forest": forest_mean,
    "f_test": f_test,
    "l1": l1,
    "autonfs": autonfs,
    "boruta": boruta,
}
QUICK = ("auto", "price", "forest", "f_test", "l1")  # minutes on one core
TWICE = ("auto", "price", "forest")  # with two seeds, for their overlap
UNRANKED = ("price", "all_relevant", "trees")  # ours, but not the default
_SEARCH = "featuresieve.search"


def _priced(factor: float) -> Callable[[Any, Any], float]:
    """Return the price of a feature times a factor."""
    return lambda problem, settings: factor * price_of_feature(problem, settings)


def _akaike_price(problem: Any, settings: Any) -> float:
    """Return a price that falls like one over the rows, the same at a thousand."""
    factor = (1000 / problem.n_groups) ** (1 / 3)
    return factor * price_of_feature(problem, settings)


# What each constant of the decision is for: the rule without it, or with another.
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "half the price": {f"{_SEARCH}._price.price_of_feature": _priced(0.5)},
    "twice the price": {f"{_SEARCH}._price.price_of_feature": _priced(2.0)},
    "price as 1 / rows": {f"{_SEARCH}._price.price_of_feature": _akaike_price},
    "5 % of the votes": {f"{_SEARCH}._votes.VOTE_SHARE": 0.05},
    "20 % of the votes": {f"{_SEARCH}._votes.VOTE_SHARE": 0.2},
    "50 members": {f"{_SEARCH}._vote_search._N_MEMBERS": 50},
    "classes as they are": {
        "featuresieve.problem.Problem.with_balanced_classes": lambda self: self
    },
    "twice the steps": {f"{_SEARCH}._settings._STEPS_PER_ROOT_ROW": 15},
    "no ceiling": {f"{_SEARCH}._price._LARGEST_SHARE": 1.0},
}


def run_cell(job: tuple[str, str, int, int, str, bool]) -> dict[str, Any]:
    """Select in one cell with one selector, or one variant, and judge the sets."""
    name, scenario, draw, rows, selector, is_variant = job
    cell = make_cell(name, scenario, draw, rows)
    select = ours if is_variant else SELECTORS[selector]
    judges, runs = Judges(cell), []
    for seed in range(2 if is_variant or selector in TWICE else 1):
        with ExitStack() as stack, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for target, value in (VARIANTS[selector] if is_variant else {}).items():
                stack.enter_context(patch(target, value))
            started = time.perf_counter()
            support = select(cell, seed)
            seconds = time.perf_counter() - started
        scores = judges.scores(support) if support.any() else None
        kept = np.flatnonzero(support).tolist()
        runs.append({"kept": kept, "seconds": round(seconds, 2), "scores": scores})
    record = {
        **dict(zip(("table", "scenario", "draw"), job, strict=False)),
        "selector": selector,
        "n_rows": len(cell.train),
        "n_original": int(cell.is_original.sum()),
        "runs": runs,
    }
    if selector in ("auto", "default"):
        record["original"] = judges.scores(cell.is_original)
        record["all"] = judges.scores(np.ones_like(cell.is_original))
    return record


def run(options: argparse.Namespace) -> None:
    """Compute all cells and store them."""
    is_variant = options.what == "ablation"
    names = options.selectors or (list(VARIANTS) if is_variant else QUICK)
    wanted = options.tables or [*CLASSES, *VALUES, *(() if is_variant else WIDE)]
    jobs = [
        (table, scenario, draw, options.rows, name, is_variant)
        for name in names
        for draw in options.draws
        for scenario in SCENARIOS
        for table in wanted
    ]
    records: list[dict[str, Any]] = []
    context = get_context("spawn")
    with ProcessPoolExecutor(options.workers, mp_context=context) as pool:
        futures = {pool.submit(run_cell, job): job for job in jobs}
        try:
            for future in as_completed(futures, timeout=options.seconds):
                try:
                    records.append(future.result())
                except Exception as error:  # a peer that fails is a result
                    print(futures[future], repr(error)[:300], flush=True)
        except TimeoutError:
            print(f"{len(jobs) - len(records)} cells are missing", flush=True)
        name = options.file[0] if options.file else _default_file(options)
        file = RESULTS / f"{name}.json"
        file.write_text(json.dumps({**stamp.stamp(), "cells": records}) + "\n")
        print(f"{len(records)} of {len(jobs)} cells in {file.name}", flush=True)
        for process in pool._processes.values():
            process.kill()
        os._exit(0)


def _default_file(options: argparse.Namespace) -> str:
    """Return the name of the file of results."""
    return "breadth_ablation" if options.what == "ablation" else "breadth"


def table(options: argparse.Namespace) -> None:
    """Print means by scenario, and mean ranks among the selectors."""
    found = {
        (cell["selector"], _key(cell)): cell
        for name in options.file or ["breadth", "breadth_peers", "breadth_boruta"]
        for cell in json.loads((RESULTS / f"{name}.json").read_text())["cells"]
        if cell["runs"][0]["scores"]
    }
    cells = list(found.values())
    if options.most_rows:
        cells = [c for c in cells if c["n_rows"] < options.most_rows]
    reference = {_key(c): c["original"] for c in cells if "original" in c}
    for scenario in SCENARIOS:
        own = [c for c in cells if c["scenario"] == scenario and _key(c) in reference]
        print(f"\n{scenario}: {len({_key(c) for c in own})} tables and draws")
        print(
            f"{'selector':24} {'rank':>11} {'points':>6} {'boosted':>7} {'kept':>5}"
            f" {'added':>6} {'overlap':>7} {'sizes':>5} {'seconds':>7} {'cells':>5}"
        )
        ranks = mean_ranks(own)
        for name, group in _by_selector(own).items():
            print(f"{name:24} {ranks.get(name, ''):>11} {_summary(group, reference)}")


def _key(cell: dict[str, Any]) -> tuple[str, str, int, int]:
    """Return what two selectors share that saw the same data."""
    return cell["table"], cell["scenario"], cell["draw"], cell["n_rows"]


def _by_selector(cells: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the cells of each selector."""
    groups = defaultdict(list)
    for cell in cells:
        groups[cell["selector"]].append(cell)
    return dict(groups)


def mean_ranks(cells: list[dict[str, Any]]) -> dict[str, str]:
    """Return mean ranks and their standard errors, where all selectors have a score."""
    groups = _by_selector([c for c in cells if c["selector"] not in UNRANKED])
    scores = {
        name: {_key(c): np.mean(list(c["runs"][0]["scores"].values())) for c in group}
        for name, group in groups.items()
    }
    shared = set.intersection(*(set(s) for s in scores.values()))
    ranks = np.array([rankdata([-s[key] for s in scores.values()]) for key in shared])
    errors = ranks.std(axis=0) / np.sqrt(len(ranks))
    return {
        name: f"{mean:.2f} ± {error:.2f}"
        for name, mean, error in zip(scores, ranks.mean(axis=0), errors, strict=True)
    }


def _summary(group: list[dict[str, Any]], reference: dict[Any, Any]) -> str:
    """Return the means of one selector as a line."""
    columns = zip(*_measures(group, reference), strict=True)
    points, boosted, kept, added, overlap, sizes, seconds = (
        np.nanmean(column) if np.isfinite(column).any() else np.nan
        for column in (np.array(c, dtype=float) for c in columns)
    )
    return (
        f"{points:6.2f} {boosted:7.2f} {kept:5.2f} {added:6.3f} {overlap:7.2f}"
        f" {sizes:5.2f} {seconds:7.1f} {len(group):5d}"
    )


def _measures(
    group: list[dict[str, Any]], reference: dict[Any, Any]
) -> Iterator[tuple[float, ...]]:
    """Yield, cell by cell, what is averaged."""
    for cell in group:
        runs, original = cell["runs"], reference[_key(cell)]
        sets = [set(run["kept"]) for run in runs]
        n_original = cell["n_original"]
        overlap = sizes = np.nan
        if len(sets) == 2:
            overlap = len(sets[0] & sets[1]) / max(1, len(sets[0] | sets[1]))
            lengths = [max(1, len(s)) for s in sets]
            sizes = max(lengths) / min(lengths)
        scored = [run["scores"] for run in runs if run["scores"]]
        means = [np.mean(list(s.values())) for s in scored]
        yield (
            np.mean(means) - np.mean(list(original.values())),
            np.mean([s["boosted"] for s in scored]) - original["boosted"],
            np.mean([len(s) / n_original for s in sets]),
            np.mean([sum(j >= n_original for j in s) / len(s) for s in sets]),
            overlap,
            sizes,
            np.mean([run["seconds"] for run in runs]),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("run", "ablation", "table"))
    parser.add_argument("--draws", type=int, nargs="+", default=[11, 12])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--selectors", nargs="+")
    parser.add_argument("--tables", nargs="+")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=None)
    parser.add_argument("--file", nargs="+", help="names of files of results")
    parser.add_argument("--most-rows", type=int, help="of the tables that are printed")
    options = parser.parse_args()
    table(options) if options.what == "table" else run(options)


if __name__ == "__main__":
    main()
