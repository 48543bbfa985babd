"""Which rows train the task networks, which the gates, and which are held out."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from featuresieve.engine import on_threads
from featuresieve.problem import BoolArray, Problem

RowArray = npt.NDArray[np.intp]
# Rows whose halving is worth threads.
LONG = 20_000


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
    rng, groups = np.random.default_rng(seed), problem.groups_of(rows)
    parts = _stratified_parts(
        problem, rows, groups, n_parts, rng.permutation(len(rows))
    )
    return [
        HeldOutSplit(np.setdiff1d(rows, part, assume_unique=True), part)
        for part in parts[:n_splits]
    ]


def gate_halves(
    problem: Problem,
    fit_rows: RowArray,
    n_halvings: int,
    seed: int,
    n_threads: int = 1,
) -> list[tuple[RowArray, RowArray]]:
    """Halve rows again and again; return (task rows, gate rows), both ways round."""
    groups = problem.groups_of(fit_rows)
    are_copies = groups is not None and not groups.any()
    if len(fit_rows) < 2 or are_copies:  # of one row
        return [(fit_rows, fit_rows)] * (2 * n_halvings)
    rng = np.random.default_rng(seed)
    halves = on_threads(
        partial(_stratified_parts, problem, fit_rows, groups, 2),
        (rng.permutation(len(fit_rows)) for _ in range(n_halvings)),
        n_threads,
    )
    return [pair for a, b in halves for pair in ((a, b), (b, a))]


def _stratified_parts(
    problem: Problem,
    rows: RowArray,
    groups: RowArray | None,
    n_parts: int,
    order: RowArray,
) -> list[RowArray]:
    """Deal rows, ascending, like cards, class by class, into parts of equal size.

    `order` is how they are shuffled. Copies of a row, of one of the `groups`, are dealt
    as one card, by their number, so that the parts are of nearly equal size all the
    same.
    """
    if groups is not None:  # one row, the first in that order, stands for its copies
        first = np.empty(groups.max() + 1, dtype=np.intp)
        first[groups[order[::-1]]] = np.arange(len(rows))[::-1]
        order = order[np.isin(np.arange(len(rows)), first)]
        order = order[_stable_order(np.bincount(groups)[groups], order)]
    if problem.task == "classification":
        order = order[_stable_order(problem.targets[rows], order)]
    card = order if groups is None else groups[order]
    part = np.empty(len(order), dtype=np.min_scalar_type(n_parts))
    for number in range(n_parts):
        part[card[number::n_parts]] = number
    part = part if groups is None else part[groups]
    return [rows[part == number] for number in range(n_parts)]


def _stable_order(keys: npt.NDArray[Any], order: RowArray) -> RowArray:
    """Return what sorts some places by their keys, and leaves equal ones in order."""
    # Numbers of 16 bits or fewer, as of classes, are not compared but counted.
    small = keys.astype(np.min_scalar_type(keys.max()))
    return np.argsort(small[order], kind="stable")


def membership(
    n_rows: int, groups: Sequence[RowArray], n_threads: int = 1
) -> BoolArray:
    """Tell which rows are in each group of rows, (groups, rows)."""
    is_member = np.zeros((len(groups), n_rows), dtype=bool)

    def note(group: int) -> None:
        is_member[group][groups[group]] = True

    on_threads(note, range(len(groups)), n_threads)
    return is_member
