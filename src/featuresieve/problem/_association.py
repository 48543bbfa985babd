"""What a gate says by itself, and how much of it another gate says too."""

from collections.abc import Callable

import numpy as np
from scipy.sparse import issparse
from scipy.special import stdtr

from featuresieve.problem._problem import BoolArray, Problem
from featuresieve.problem._sparse_block import SparseBlock
from featuresieve.tables import FloatArray, IndexArray, on_threads

# A sample of so many rows is enough; fewer where many gates are kept: multiply-adds
# that take some seconds.
_MOST_ROWS, _LEAST_ROWS, _MOST_PRODUCTS = 10_000, 500, 100_000_000_000
# Columns that are read at once; more of them where rows are few, up to so many cells,
# because threads wait in turns between two calls of numpy.
_BLOCK_COLUMNS, _BLOCK_CELLS = 128, 1 << 18
# The chance that any gate at all seems related to a target that is related to none.
FALSE_ALARM = 0.05
_NORMAL_KURTOSIS = 3.0


def related_gates(problem: Problem, n_threads: int = 1) -> BoolArray:
    """Tell which gates are related to the target one by one, beyond chance.

    By the correlation of a column, or of how far it is from its mean, with the target
    (each of several, each class): a t test at 5 % for all of them together. Its degrees
    of freedom are the rows over the product of both kurtoses, because the correlation
    of two rare events rests on the few rows where both occur.
    """
    smallest, n_tests = _chances(problem, _sampled(problem), 1.0, n_threads)
    found = smallest < FALSE_ALARM / (n_tests * problem.n_columns)
    counts = np.bincount(problem.gates.gate_of_column, found, len(problem.gates))
    return np.asarray(counts > 0)


def chance_of_gates(
    problem: Problem, rows: IndexArray | None = None, n_threads: int = 1
) -> FloatArray:
    """Return the chance that a gate without relation to the target seems so related.

    In the tests of `related_gates`, on some rows, with the degrees of freedom of normal
    values where no kurtosis is larger. Bonferroni's correction within a gate.
    """
    rows = _sampled(problem) if rows is None else rows
    gates = problem.gates
    smallest, n_tests = _chances(problem, rows, _NORMAL_KURTOSIS**2, n_threads)
    of_gates = np.ones(len(gates))
    np.minimum.at(of_gates, gates.gate_of_column, smallest)
    n_columns = np.bincount(gates.gate_of_column, minlength=len(gates))
    return np.asarray(np.minimum(of_gates * n_tests * n_columns, 1.0))


def _chances(
    problem: Problem, rows: IndexArray, tolerated: float, n_threads: int
) -> tuple[FloatArray, int]:
    """Return the smallest p value of each column, and of how many tests it is.

    Kurtoses whose product is `tolerated` take no degree of freedom away.
    """
    weights = problem.weights_of(rows)
    weights = weights / weights.sum()
    n_alone = len(rows) / problem.n_rows * problem.n_groups
    targets, kurtosis = _standardised(_target_columns(problem, rows), weights)
    targets *= weights[:, None]
    smallest, width = np.ones(problem.n_columns), _width(len(rows))

    def note(start: int, r: FloatArray, own: FloatArray) -> None:
        r = np.clip(r, -1 + 1e-12, 1 - 1e-12)
        ratio = np.abs(r) * np.sqrt(max(n_alone - 2, 0.0) / (1 - r**2))
        freedom = n_alone / np.maximum(own[:, None] * kurtosis / tolerated, 1.0)
        p = 2 * stdtr(freedom, -ratio)  # scipy.stats takes longer
        part = smallest[start : start + width]
        np.minimum(part, p.min(axis=1), out=part)

    def test(start: int) -> None:
        values = read(slice(start, start + width))
        for _ in range(2):
            means = weights @ values
            values -= means
            spreads, own = _moments(values, means, weights)
            note(start, values.T @ targets / spreads[:, None], own)
            np.abs(values, out=values)

    def test_sparse(start: int) -> None:
        block = SparseBlock(table[:, start : start + width], weights)
        for values in (block, block.distances()):
            note(start, *values.correlations(targets))

    read, run = _reader(problem, rows), test
    if issparse(problem.features):
        table, run = problem.features[rows].tocsc(), test_sparse
    list(on_threads(run, range(0, problem.n_columns, width), n_threads))
    return smallest, 2 * targets.shape[1]


def nearest_gates(
    problem: Problem, kept: IndexArray, n_threads: int = 1
) -> tuple[IndexArray, FloatArray]:
    """Return which kept gate explains most of each gate's variance, and what share.

    That of a linear regression on the columns of the kept gate. For gates of one column
    it is the squared correlation of what the networks see: of the normal scores of the
    ranks, unless `scaling` says otherwise.
    """
    gates, edges = problem.gates, problem.gates.edges
    n_products = len(gates.columns_of(kept)) * problem.n_columns
    rows = _sampled(problem, max(_MOST_PRODUCTS // n_products, _LEAST_ROWS))
    weights, read = problem.weights_of(rows), _reader(problem, rows)
    weights = weights / weights.sum()
    roots = np.sqrt(weights)[:, None]
    bases = []
    for gate in kept:
        block = read(slice(edges[gate], edges[gate + 1]))
        left, sizes, _ = np.linalg.svd(
            (block - weights @ block) * roots, full_matrices=False
        )
        is_used = sizes > 1e-5 * max(sizes.max(initial=0.0), 1.0)
        bases.append(left * is_used)
    basis = np.concatenate(bases, axis=1) * roots
    starts = np.cumsum([0, *(base.shape[1] for base in bases[:-1])])
    nearest, share = np.empty(len(gates), np.intp), np.empty(len(gates))
    is_sparse = issparse(problem.features)
    table = problem.features[rows].tocsc() if is_sparse else problem.features

    def products(columns: slice) -> tuple[FloatArray, FloatArray]:
        """Return basis times columns, centred, and the variances of these."""
        if is_sparse:
            sparse = SparseBlock(table[:, columns], weights)
            return sparse.products(basis).T, sparse.variances
        block = read(columns)
        block -= weights @ block
        return basis.T @ block, weights @ (block * block)

    def explain(some: slice) -> None:
        own = edges[some.start : some.stop] - edges[some.start]
        by_column, squares = products(slice(edges[some.start], edges[some.stop]))
        explained = np.add.reduceat(by_column**2, starts, axis=0)
        explained = np.add.reduceat(explained, own, axis=1)
        total = np.add.reduceat(squares, own)
        nearest[some] = explained.argmax(axis=0)
        share[some] = explained.max(axis=0) / np.where(total > 0, total, 1.0)

    list(on_threads(explain, _runs(edges, _width(len(rows))), n_threads))
    return nearest, share


def _width(n_rows: int) -> int:
    """Return how many columns are read at once."""
    return _BLOCK_COLUMNS * max(1, _BLOCK_CELLS // (_BLOCK_COLUMNS * n_rows))


def _runs(edges: IndexArray, width: int) -> list[slice]:
    """Cut gates into runs that have so many columns each, of one gate at least."""
    runs, first = [], 0
    while first < len(edges) - 1:
        most = edges[first] + width
        stop = max(first + 1, int(np.searchsorted(edges, most, "right")) - 1)
        runs.append(slice(first, stop))
        first = stop
    return runs


def _sampled(problem: Problem, most: int = _MOST_ROWS) -> IndexArray:
    """Return all rows, or evenly spaced ones; they are sorted by their targets."""
    n_rows = min(problem.n_rows, most, _MOST_ROWS)
    return np.linspace(0, problem.n_rows - 1, n_rows).round().astype(np.intp)


def _reader(problem: Problem, rows: IndexArray) -> Callable[[slice], FloatArray]:
    """Return what reads columns of some rows as float64."""
    features = problem.features
    if issparse(features):
        features = features[rows].tocsc()
        return lambda some: np.asarray(features[:, some].toarray(), np.float64)
    if len(rows) == len(features):  # all of them
        return lambda some: np.array(features[:, some], np.float64)
    return lambda some: np.asarray(features[:, some][rows], np.float64)


def _target_columns(problem: Problem, rows: IndexArray) -> FloatArray:
    """Return the target as columns: values, labels, or an indicator of each class."""
    targets = problem.targets[rows]
    if problem.task != "classification":
        return np.asarray(targets.reshape(len(rows), -1), dtype=np.float64)
    classes = np.unique(targets)
    if len(classes) == 2:
        classes = classes[:1]
    return np.asarray(targets[:, None] == classes, dtype=np.float64)


def _moments(
    centred: FloatArray, means: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return standard deviations, infinite where nothing varies, and kurtoses."""
    powers = centred * centred
    variances = weights @ powers
    powers *= powers
    is_varying = variances > 1e-12 * (variances + means**2)
    variances = np.where(is_varying, variances, np.inf)
    kurtoses = np.where(is_varying, weights @ powers / variances**2, 1.0)
    return np.sqrt(variances), kurtoses


def _standardised(
    values: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return columns of mean 0 and variance 1, or of zeros, and their kurtosis."""
    means = weights @ values
    centred = values - means
    spreads, kurtoses = _moments(centred, means, weights)
    return centred / spreads, kurtoses
