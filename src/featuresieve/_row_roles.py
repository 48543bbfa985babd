"""Which rows train the task networks, which the gates, and which are held out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from featuresieve._problem import Problem

RowArray = npt.NDArray[np.intp]


@dataclass(frozen=True)
class HeldOutSplit:
    """One division of the rows into those a search may learn from and the rest."""

    fit_rows: RowArray
    test_rows: RowArray


def held_out_splits(
    problem: Problem, n_splits: int, test_fraction: float, seed: int
) -> list[HeldOutSplit]:
    """Draw divisions at random, with the classes in proportion where possible."""
    return [
        HeldOutSplit(fit, test)
        for fit, test in _shuffle_splits(
            problem, np.arange(problem.n_rows), n_splits, test_fraction, seed
        )
    ]


def gate_halves(
    problem: Problem, fit_rows: RowArray, n_halvings: int, seed: int
) -> list[tuple[RowArray, RowArray]]:
    """Cut rows into two halves, and again; each halving is used both ways round.

    Returns
    -------
    list of (task rows, gate rows)
        ``2 * n_halvings`` entries.
    """
    if len(fit_rows) < 2:
        return [(fit_rows, fit_rows)] * (2 * n_halvings)
    halves = _shuffle_splits(problem, fit_rows, n_halvings, 0.5, seed)
    return [pair for a, b in halves for pair in ((a, b), (b, a))]


def _shuffle_splits(
    problem: Problem, rows: RowArray, n_splits: int, fraction: float, seed: int
) -> Sequence[tuple[RowArray, RowArray]]:
    """Return (rest, drawn) pairs of row numbers."""
    n_drawn = min(max(1, round(fraction * len(rows))), len(rows) - 1)
    if n_drawn < 1:
        return [(rows, rows)] * n_splits
    labels = problem.targets[rows] if problem.is_classification else None
    splitter: ShuffleSplit | StratifiedShuffleSplit = ShuffleSplit(
        n_splits, test_size=n_drawn, random_state=seed
    )
    if labels is not None:
        counts = np.bincount(labels)
        n_classes = np.count_nonzero(counts)
        enough = counts[counts > 0].min() >= 2
        if enough and n_drawn >= n_classes and len(rows) - n_drawn >= n_classes:
            splitter = StratifiedShuffleSplit(
                n_splits, test_size=n_drawn, random_state=seed
            )
    pairs = splitter.split(np.zeros((len(rows), 1)), labels)
    return [(rows[np.sort(rest)], rows[np.sort(drawn)]) for rest, drawn in pairs]


def weight_sets(n_rows: int, groups: Sequence[RowArray]) -> npt.NDArray[np.float32]:
    """Return one row of zeros and ones for each group of rows."""
    weights = np.zeros((len(groups), n_rows), dtype=np.float32)
    for weight, rows in zip(weights, groups, strict=True):
        weight[rows] = 1.0
    return weights
