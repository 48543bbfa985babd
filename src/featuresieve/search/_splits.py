"""Which rows train the task networks, which the gates, and which are held out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from featuresieve.problem import Problem

RowArray = npt.NDArray[np.intp]


@dataclass(frozen=True)
class HeldOutSplit:
    """One division of the rows into those a search may learn from and the rest."""

    fit_rows: RowArray
    test_rows: RowArray


def held_out_splits(
    problem: Problem, n_splits: int, test_fraction: float, seed: int
) -> list[HeldOutSplit]:
    """Hold out `n_splits` disjoint parts in turn, classes in proportion.

    The parts are disjoint so that no row counts twice when their losses are pooled, and
    no row has a copy in two of them.
    """
    rows = np.arange(problem.n_rows)
    n_parts = min(round(1 / test_fraction), problem.n_groups)
    if n_parts < 2:  # nothing can be held out, and nothing will be shown
        return [HeldOutSplit(rows, rows)]
    parts = _stratified_parts(problem, rows, n_parts, np.random.default_rng(seed))
    return [
        HeldOutSplit(np.setdiff1d(rows, part, assume_unique=True), part)
        for part in parts[:n_splits]
    ]


def gate_halves(
    problem: Problem, fit_rows: RowArray, n_halvings: int, seed: int
) -> list[tuple[RowArray, RowArray]]:
    """Halve rows again and again; return (task rows, gate rows), both ways round."""
    groups = problem.groups_of(fit_rows)
    are_copies = groups is not None and not groups.any()
    if len(fit_rows) < 2 or are_copies:  # of one row
        return [(fit_rows, fit_rows)] * (2 * n_halvings)
    rng = np.random.default_rng(seed)
    halves = [_stratified_parts(problem, fit_rows, 2, rng) for _ in range(n_halvings)]
    return [pair for a, b in halves for pair in ((a, b), (b, a))]


def _stratified_parts(
    problem: Problem, rows: RowArray, n_parts: int, rng: np.random.Generator
) -> list[RowArray]:
    """Deal rows like cards, class by class, into parts of equal size.

    Copies of a row are dealt as one card, by their number, so that the parts are of
    nearly equal size all the same.
    """
    order = rng.permutation(rows)
    groups = problem.groups_of(order)
    if groups is None:
        if problem.task == "classification":
            order = order[np.argsort(problem.targets[order], kind="stable")]
        return [np.sort(order[part::n_parts]) for part in range(n_parts)]
    _, firsts = np.unique(groups, return_index=True)
    keys = [firsts, np.bincount(groups)]  # random, then by the number of copies
    if problem.task == "classification":
        keys.append(problem.targets[order[firsts]])
    part_of_group = np.empty(len(firsts), dtype=np.intp)
    part_of_group[np.lexsort(keys)] = np.arange(len(firsts)) % n_parts
    return [np.sort(order[part_of_group[groups] == part]) for part in range(n_parts)]


def weight_sets(n_rows: int, groups: Sequence[RowArray]) -> npt.NDArray[np.float32]:
    """Return one row of zeros and ones for each group of rows."""
    weights = np.zeros((len(groups), n_rows), dtype=np.float32)
    for weight, rows in zip(weights, groups, strict=True):
        weight[rows] = 1.0
    return weights
