"""What a gate says by itself, and how much of it another gate says too."""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.stats import t as t_distribution

from featuresieve.problem._problem import BoolArray, Problem
from featuresieve.tables import FloatArray, IndexArray

# A sample of so many rows is enough.
_MOST_ROWS = 20_000
_BLOCK_COLUMNS = 512
# The chance that any gate at all seems related to a target that is related to none.
_FALSE_ALARM = 0.05


def related_gates(problem: Problem) -> BoolArray:
    """Tell which gates are related to the target one by one, beyond chance.

    By the correlation of a column, or of its square, with the target (each of several,
    each class): a t test at 5 % for all of them together. Its degrees of freedom are
    the rows over the product of both kurtoses, because the correlation of two rare
    events rests on the few rows where both occur.
    """
    rows = _sampled(problem)
    weights = problem.weights_of(rows)
    weights = weights / weights.sum()
    n_alone = len(rows) / problem.n_rows * problem.n_groups
    targets, kurtosis = _standardised(_target_columns(problem, rows), weights)
    smallest = np.ones(problem.n_columns)
    for start in range(0, problem.n_columns, _BLOCK_COLUMNS):
        block = _dense(problem.features[:, start : start + _BLOCK_COLUMNS][rows])
        for values in (block, block**2):
            scores, own = _standardised(values, weights)
            r = np.clip((scores * weights[:, None]).T @ targets, -1 + 1e-12, 1 - 1e-12)
            ratio = np.abs(r) * np.sqrt(max(n_alone - 2, 0.0) / (1 - r**2))
            p = 2 * t_distribution.sf(ratio, n_alone / (own[:, None] * kurtosis))
            part = smallest[start : start + _BLOCK_COLUMNS]
            np.minimum(part, p.min(axis=1), out=part)
    n_tests = 2 * problem.n_columns * targets.shape[1]
    found = smallest < _FALSE_ALARM / n_tests
    counts = np.bincount(problem.gates.gate_of_column, found, len(problem.gates))
    return np.asarray(counts > 0)


def shared_variance(problem: Problem, kept: IndexArray) -> FloatArray:
    """Return how much of each gate's variance each kept gate explains, (kept, gates).

    That of a linear regression on the columns of the kept gate. For gates of one column
    it is the squared correlation of what the networks see: of the normal scores of the
    ranks, unless `scaling` says otherwise.
    """
    rows, gates = _sampled(problem), problem.gates
    weights = problem.weights_of(rows)
    roots = np.sqrt(weights / weights.sum())[:, None]
    bases, owner = [], []
    for number, gate in enumerate(kept):
        columns = gates.columns_of(np.array([gate]))
        block = _centred(_dense(problem.features[:, columns][rows]), roots)
        left, sizes, _ = np.linalg.svd(block, full_matrices=False)
        left = left[:, sizes > 1e-5 * max(sizes.max(initial=0.0), 1.0)]
        bases.append(left)
        owner += [number] * left.shape[1]
    basis = np.concatenate(bases, axis=1)
    total = np.zeros(len(gates))
    explained = np.zeros((len(kept), len(gates)))
    for start in range(0, problem.n_columns, _BLOCK_COLUMNS):
        some = slice(start, start + _BLOCK_COLUMNS)
        block = _centred(_dense(problem.features[:, some][rows]), roots)
        of_gate = gates.gate_of_column[some]
        np.add.at(total, of_gate, (block**2).sum(axis=0))
        np.add.at(
            explained,
            (np.array(owner, np.intp)[:, None], of_gate),
            (basis.T @ block) ** 2,
        )
    return np.asarray(explained / np.where(total > 0, total, 1.0))


def _sampled(problem: Problem) -> IndexArray:
    """Return all rows, or evenly spaced ones; they are sorted by their targets."""
    n_rows = min(problem.n_rows, _MOST_ROWS)
    return np.linspace(0, problem.n_rows - 1, n_rows).round().astype(np.intp)


def _dense(block: Any) -> FloatArray:
    """Return a block of columns as float64."""
    block = block.toarray() if issparse(block) else block
    return np.asarray(block, dtype=np.float64)


def _centred(block: FloatArray, roots: FloatArray) -> FloatArray:
    """Return columns less their mean, times the roots of the weights of the rows."""
    return np.asarray((block - (block * roots**2).sum(axis=0)) * roots)


def _target_columns(problem: Problem, rows: IndexArray) -> FloatArray:
    """Return the target as columns: values, labels, or an indicator of each class."""
    targets = problem.targets[rows]
    if problem.task != "classification":
        return np.asarray(targets.reshape(len(rows), -1), dtype=np.float64)
    classes = np.unique(targets)
    if len(classes) == 2:
        classes = classes[:1]
    return np.asarray(targets[:, None] == classes, dtype=np.float64)


def _standardised(
    values: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return columns of mean 0 and variance 1, or of zeros, and their kurtosis."""
    centred = values - weights @ values
    spreads = np.sqrt(weights @ centred**2)
    is_varying = spreads > 1e-6 * np.abs(values).max(axis=0, initial=0.0)
    centred /= np.where(is_varying, spreads, np.inf)
    return centred, np.where(is_varying, weights @ centred**4, 1.0)
