"""What the breadth suite stored, as means and mean ranks."""

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import stamp
from breadth_cells import SCENARIOS
from breadth_selectors import UNRANKED
from scipy.stats import rankdata

FILES = (
    *("breadth", "breadth_peers", "breadth_boruta", "breadth_autonfs"),
    *("breadth_rfecv", "breadth_relevant", "breadth_former"),
    *("breadth_trees", "breadth_screened", "breadth_wide"),
)
# Training rows from which a fit should be clearly faster than Boruta.
_MANY_ROWS = 1000
_HEADS = {
    **{"points": "6.2f", "boosted": "7.2f", "kept": "5.2f", "added": "6.3f"},
    **{"seeds": "5.2f", "index": "5.2f", "draws": "5.2f", "sizes": "5.2f"},
    "seconds": "7.1f",
}
Cell = dict[str, Any]


def stored(name: str) -> dict[str, Any]:
    """Return what a file of results holds; no cells if there is no such file."""
    file = stamp.RESULTS / f"{name}.json"
    content: dict[str, Any] = {"cells": []}
    return json.loads(file.read_text()) if file.exists() else content


def stored_cells(name: str) -> list[Cell]:
    """Return the cells of a file of results."""
    cells: list[Cell] = stored(name)["cells"]
    return cells


def stored_reference(record: Cell) -> dict[str, Any] | None:
    """Return the scores of all and of the original columns, if `breadth` has them."""
    for cell in stored_cells("breadth"):
        if _key(cell) == _key(record) and "original" in cell:
            return {name: cell[name] for name in ("original", "all")}
    return None


def table(options: argparse.Namespace) -> None:
    """Print means by scenario, and mean ranks among the selectors."""
    found = {
        (cell["selector"], _key(cell)): cell
        for name in options.file or FILES
        for cell in stored_cells(name)
    }
    cells = list(found.values())
    if options.most_rows:
        cells = [c for c in cells if c["n_rows"] < options.most_rows]
    if options.tables:
        cells = [c for c in cells if c["table"] in options.tables]
    reference = {_key(c): c["original"] for c in cells if "original" in c}
    for scenario in SCENARIOS:
        own = [c for c in cells if c["scenario"] == scenario and _key(c) in reference]
        print(f"\n{scenario}: {len({_key(c) for c in own})} tables and draws")
        heads = " ".join(f"{h:>{f.split('.')[0]}}" for h, f in _HEADS.items())
        print(f"{'selector':24} {'rank':>11} {heads} cells failed")
        ended = [c for c in own if c["runs"][0]["scores"]]
        ranks = mean_ranks(ended, options.ranked)
        for name, group in _by_selector(ended).items():
            n_failed = sum(c["selector"] == name for c in own) - len(group)
            means = _means(group, reference)
            line = " ".join(f"{means[h]:{f}}" for h, f in _HEADS.items())
            rank = ranks.get(name, "")
            print(f"{name:24} {rank:>11} {line} {len(group):5d} {n_failed:6d}")
    _print_times(cells)


def _key(cell: Cell) -> tuple[str, str, int, int]:
    """Return what two selectors share that saw the same data."""
    return cell["table"], cell["scenario"], cell["draw"], cell["n_rows"]


def _by_selector(cells: list[Cell]) -> dict[str, list[Cell]]:
    """Return the cells of each selector."""
    groups = defaultdict(list)
    for cell in cells:
        groups[cell["selector"]].append(cell)
    return dict(groups)


def mean_ranks(cells: list[Cell], ranked: Sequence[str] | None) -> dict[str, str]:
    """Return mean ranks and their standard errors, where all selectors have a score."""
    groups = _by_selector([c for c in cells if c["selector"] not in UNRANKED])
    groups = {n: g for n, g in groups.items() if ranked is None or n in ranked}
    scores = {
        name: {_key(c): np.mean(list(c["runs"][0]["scores"].values())) for c in group}
        for name, group in groups.items()
    }
    if not scores:
        return {}
    shared = set.intersection(*(set(s) for s in scores.values()))
    ranks = np.array([rankdata([-s[key] for s in scores.values()]) for key in shared])
    if not len(ranks):
        return {}
    print(f"ranks of {len(scores)} in {len(ranks)} cells that all of them have")
    _print_lead([*scores], ranks)
    errors = ranks.std(axis=0) / np.sqrt(len(ranks))
    return {
        name: f"{mean:.2f} ± {error:.2f}"
        for name, mean, error in zip(scores, ranks.mean(axis=0), errors, strict=True)
    }


def _print_lead(names: Sequence[str], ranks: np.ndarray) -> None:
    """Print by how much the first is ahead of the next, cell by cell."""
    first, second = np.argsort(ranks.mean(axis=0))[:2]
    leads = ranks[:, second] - ranks[:, first]
    error = leads.std(ddof=1) / np.sqrt(len(leads))
    print(f"{names[first]} before {names[second]} by {leads.mean():.2f} ± {error:.2f}")


def _means(group: list[Cell], reference: dict[Any, Any]) -> dict[str, float]:
    """Return the means of one selector by name."""
    values = [_measures(cell, reference[_key(cell)]) for cell in group]
    values += _between_draws(group)
    means = {}
    for head in _HEADS:
        own = [v[head] for v in values if np.isfinite(v.get(head, np.nan))]
        means[head] = float(np.mean(own)) if own else np.nan
    return means


def _measures(cell: Cell, original: dict[str, float]) -> dict[str, float]:
    """Return what is averaged, of one cell."""
    runs, n_original = cell["runs"], cell["n_original"]
    sets = [set(run["kept"]) for run in runs if run["scores"]]
    scored = [run["scores"] for run in runs if run["scores"]]
    means = [np.mean(list(s.values())) for s in scored]
    found = {
        "points": np.mean(means) - np.mean(list(original.values())),
        "boosted": np.mean([s["boosted"] for s in scored]) - original["boosted"],
        "kept": np.mean([len(s) / n_original for s in sets]),
        "added": np.mean([sum(j >= n_original for j in s) / len(s) for s in sets]),
        "seconds": np.mean([run["seconds"] for run in runs]),
    }
    if len(sets) == 2:
        lengths = sorted(map(len, sets))
        found["seeds"] = _overlap(*sets)
        found["index"] = stability(sets, 2 * n_original)
        found["sizes"] = lengths[1] / lengths[0]
    return found


def _between_draws(group: list[Cell]) -> list[dict[str, float]]:
    """Return overlaps of what is kept of the original columns of one table.

    Other draws have other added columns.
    """
    of_table = defaultdict(list)
    for cell in group:
        kept = cell["runs"][0]["kept"]
        of_table[cell["table"]].append({j for j in kept if j < cell["n_original"]})
    return [
        {"draws": _overlap(a, b)}
        for sets in of_table.values()
        for a, b in combinations(sets, 2)
    ]


def _overlap(a: set[int], b: set[int]) -> float:
    """Return what two sets have in common, of what either has."""
    return len(a & b) / max(1, len(a | b))


def stability(sets: Sequence[set[int]], n_columns: int) -> float:
    """Return Nogueira's index of sets of columns: 1 if equal, 0 as if by chance."""
    m, counts = len(sets), np.zeros(n_columns)
    for kept in sets:
        counts[list(kept)] += 1
    p = counts / m
    share = p.mean()
    if share in (0.0, 1.0):
        return float("nan")
    variance = (m / (m - 1) * p * (1 - p)).mean()
    return float(1 - variance / (share * (1 - share)))


def _print_times(cells: list[Cell]) -> None:
    """Print how many times as long as the default others take, on one core."""
    seconds: dict[str, dict[Any, float]] = defaultdict(dict)
    timed = [cell for cell in cells if cell["selector"] == "former"]
    for name in ("breadth_cpu", "breadth_boruta_cpu"):
        timed += stored_cells(name)
    for cell in timed:
        runs = [run["seconds"] for run in cell["runs"] if run["kept"]]
        if runs:
            seconds[cell["selector"]][_key(cell)] = float(np.mean(runs))
    for other, n_rows in (("boruta", _MANY_ROWS), ("former", 0)):
        shared = sorted(set(seconds["auto"]) & set(seconds[other]))
        shared = [key for key in shared if key[-1] > n_rows]
        times = [seconds[other][key] / seconds["auto"][key] for key in shared]
        if times:
            print(
                f"{other}: {np.median(times):.2f} times as long in the median of"
                f" {len(times)} cells of more than {n_rows} rows,"
                f" {min(times):.2f} to {max(times):.2f}"
            )
