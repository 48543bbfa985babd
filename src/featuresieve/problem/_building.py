"""From what the user passes to the problem that is searched."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, issparse
from scipy.sparse.csgraph import connected_components

from featuresieve.problem._canonical_order import (
    canonical_rows,
    column_digests,
    copied_rows,
    row_hashes,
)
from featuresieve.problem._constraints import Constraints
from featuresieve.problem._equal_columns import constant_gates, copied_gates
from featuresieve.problem._problem import BoolArray, Problem
from featuresieve.problem._sample_weights import SampleWeights
from featuresieve.problem._targets import Target
from featuresieve.problem._units import Units
from featuresieve.tables import (
    IndexArray,
    Scaling,
    Table,
    TableEncoder,
    on_threads,
    shares_of,
)

# Columns of float32 that fill a line of the processor's cache, and how many lines are
# written at once.
_BLOCK_COLUMNS, _PART_ROWS = 16, 1 << 13
# Less than 32 MiB, the most that glibc looks at.
_KEPT_BYTES = 31 << 20


@dataclass(frozen=True)
class EncodedProblem:
    """An encoded problem, and how its gates are the user's features."""

    problem: Problem
    encoder: TableEncoder
    units: Units  # the features behind each gate
    n_features: int  # of the table
    rows: IndexArray  # of the table, those of the problem; copies of one stand often
    is_constant: BoolArray  # by gate
    copy_of: IndexArray  # by gate, which other it is a copy of; -1 for none

    def by_feature(self, by_gate: npt.NDArray[Any], default: float) -> npt.NDArray[Any]:
        """Spread a value per gate, on the last axis, over the features behind it.

        Features without a gate, those never kept, get the default.
        """
        shape = (*by_gate.shape[:-1], self.n_features)
        spread = np.full(shape, default, dtype=by_gate.dtype)
        sizes = self.problem.gates.n_features
        spread[..., self.units.features] = np.repeat(by_gate, sizes, axis=-1)
        return spread

    def order(self, ranked: IndexArray) -> npt.NDArray[np.int64]:
        """Return the features, best first, from the gates, best first.

        Features of a group follow each other; those never kept come last.
        """
        units = self.units.take(ranked)
        with_gate = units.features
        for k in np.flatnonzero(units.sizes > 1).tolist():
            units[k].sort()  # in place
        left_out = np.setdiff1d(np.arange(self.n_features), with_gate)
        return np.concatenate([with_gate, left_out]).astype(np.int64)

    def gates_of(self, support: BoolArray) -> IndexArray:
        """Return the gates that open some features, ascending."""
        return np.flatnonzero(support[self.units.firsts])


def encode_problem(
    table: Table,
    target: Target,
    weights: SampleWeights,
    constraints: Constraints,
    *,
    scaling: Scaling,
    max_categories: int,
    row_groups: IndexArray | None = None,
    has_constants: bool = True,
    has_copies: bool = True,
    n_threads: int = 1,
) -> EncodedProblem:
    """Encode a table and put its rows and columns into an order of their own.

    The order depends on content alone: shuffling the table shuffles the answer and
    changes nothing else. Rows of the same number in `row_groups` stay together. Gates
    of constant columns are shut unless the problem `has_constants`, and those of copied
    ones unless it also `has_copies`.
    """
    _keep_freed_memory()
    encoder, encoded = TableEncoder.fit_transform(
        table,
        scaling=scaling,
        weights=weights.by_row,
        max_categories=max_categories,
        n_threads=n_threads,
    )
    rows = weights.rows
    hashes = row_hashes(encoded, rows, target.values, n_threads)
    order = canonical_rows(hashes[rows], target.values[rows], weights.weights)
    rows = rows[order]
    groups = copied_rows(encoded, rows, hashes, target.values)
    if row_groups is not None:
        groups = _joined_groups(groups, row_groups[rows])
    digests = column_digests(encoded, rows, hashes, n_threads)
    gates, units, columns = constraints.layout(encoder.feature_of_column, digests)
    features = _by_rows(encoded, rows, columns, n_threads)
    is_constant = constant_gates(features, gates)
    copy_of = np.full(len(gates), -1, dtype=np.intp)
    if not has_copies:
        by_rank = scaling == "normal_scores" and not issparse(features)
        copy_of = copied_gates(
            features, gates, units, ~is_constant, by_rank=by_rank, n_threads=n_threads
        )
    if not has_constants:
        is_shut = (is_constant | (copy_of >= 0)) & ~gates.is_forced
        gates = replace(gates, is_shut=is_shut if is_shut.any() else None)
    problem = Problem(
        features,
        target.values[rows],
        target.n_outputs,
        target.task,
        gates,
        None if weights.weights is None else weights.weights[order],
        groups,
    )
    return EncodedProblem(
        problem, encoder, units, table.n_features, rows, is_constant, copy_of
    )


def _keep_freed_memory() -> None:
    """Let glibc keep the memory of blocks for the next, by an array that nobody uses.

    It gives back what is twice as large as the largest array that was freed so far, and
    to get memory anew takes half as long as all that is done with it.
    """
    np.empty(_KEPT_BYTES, dtype=np.uint8)


def _joined_groups(copies: IndexArray | None, groups: IndexArray) -> IndexArray:
    """Return groups of rows that share a group, or are copies, directly or not."""
    if copies is None:
        return np.unique(groups, return_inverse=True)[1]
    n_copies = copies.max() + 1
    n_nodes = n_copies + groups.max() + 1  # copies, then groups; a row links two
    links = copies.astype(np.int32), (n_copies + groups).astype(np.int32)
    graph = coo_array((np.ones(len(groups)), links), shape=(n_nodes, n_nodes))
    _, part = connected_components(graph, directed=False)
    return np.unique(part[copies], return_inverse=True)[1]


def _by_rows(
    encoded: Any, rows: IndexArray, columns: IndexArray, n_threads: int
) -> Any:
    """Return some rows and columns, a row in one piece, as batches are read."""
    if issparse(encoded):
        return encoded[rows][:, columns]
    taken = np.empty((len(rows), len(columns)), dtype=np.float32)

    def take(starts: Sequence[int]) -> None:
        lines = np.empty((len(encoded), _BLOCK_COLUMNS), dtype=np.float32)
        for some in (slice(start, start + _BLOCK_COLUMNS) for start in starts):
            own = columns[some]
            for part in _parts(len(encoded)):
                lines[part, : len(own)] = encoded.T[own, part].T
            for part in _parts(len(rows)):
                of_part = lines.take(rows[part], axis=0)
                taken[part, some] = of_part[:, : len(own)]

    starts = range(0, len(columns), _BLOCK_COLUMNS)
    list(on_threads(take, shares_of(starts, n_threads), n_threads))
    return taken


def _parts(n_rows: int) -> Iterator[slice]:
    """Yield rows of which those of a block fit into the cache."""
    return (slice(k, k + _PART_ROWS) for k in range(0, n_rows, _PART_ROWS))
