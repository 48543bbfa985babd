"""Gates whose columns say nothing, or nothing that another gate does not say."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from featuresieve.problem._problem import BoolArray, Gates
from featuresieve.tables import IndexArray

# Rows by which columns are told apart before all are looked at.
_FEW_ROWS = (128, 4096)


def constant_gates(features: Any, gates: Gates) -> BoolArray:
    """Tell which gates open columns of one value each."""
    if issparse(features):
        low, high = features.min(axis=0).toarray(), features.max(axis=0).toarray()
    else:
        low, high = features.min(axis=0), features.max(axis=0)
    is_varying = (high > low).reshape(-1)
    varying = np.bincount(gates.gate_of_column, is_varying, len(gates))
    return np.asarray(varying == 0)


def copied_gates(
    features: Any, gates: Gates, units: Sequence[IndexArray], *, by_rank: bool
) -> IndexArray:
    """Return for each gate the one it is a copy of, -1 if there is none.

    Copies have equal columns, or with `by_rank` columns of the same order, upwards or
    downwards. Of several the forced ones stay, else the cheapest, then the first of the
    table. Gates of several features are neither copies nor copied.
    """
    columns: list[list[int]] = [[] for _ in range(len(gates))]
    for column, gate in enumerate(gates.gate_of_column.tolist()):
        columns[gate].append(column)
    alone = np.flatnonzero((gates.n_features == 1) & ~constant_gates(features, gates))
    copy_of = np.full(len(gates), -1, dtype=np.intp)
    for alike in _equal(features, alone.tolist(), columns, by_rank):
        # Lists, because all keys count, one after the other.
        alike.sort(key=lambda g: (not gates.is_forced[g], gates.costs[g], units[g][0]))
        others = np.array(alike[1:], dtype=np.intp)
        copy_of[others[~gates.is_forced[others]]] = alike[0]
    return copy_of


def _equal(
    features: Any, some: list[int], columns: list[list[int]], by_rank: bool
) -> list[list[int]]:
    """Return sets of gates, two or more in each, whose columns are equal."""
    if issparse(features):
        by_column = features.tocsc()
        by_column.sort_indices()
        return _alike(some, lambda g: tuple(_cells(by_column, j) for j in columns[g]))
    n_rows = len(features)
    sets = [some]
    for n_some in (*(n for n in _FEW_ROWS if 8 * n < n_rows), n_rows):
        rows = np.linspace(0, n_rows - 1, n_some).round().astype(np.intp)

        def key(gate: int, rows: IndexArray = rows) -> Hashable:
            block = features[rows[:, None], columns[gate]]
            return (_ranks_of_known(block) if by_rank else block).tobytes()

        sets = [part for gates in sets for part in _alike(gates, key)]
    return sets


def _alike(gates: list[int], key: Any) -> list[list[int]]:
    """Return the gates that share a key with others, those of each key."""
    sets: dict[Hashable, list[int]] = defaultdict(list)
    for gate in gates:
        sets[key(gate)].append(gate)
    return [members for members in sets.values() if len(members) > 1]


def _cells(table: Any, column: int) -> tuple[bytes, bytes]:
    """Return what a column of a sparse table holds."""
    own = slice(table.indptr[column], table.indptr[column + 1])
    return table.indices[own].tobytes(), table.data[own].tobytes()


def _ranks_of_known(block: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
    """Return centred ranks, of rows that tell a value where the last column says which.

    What stands for a missing value is a hair above or below that of the middle.
    """
    is_known = block[:, -1] <= 0  # it is an indicator if nothing varies beside it
    others = block[~is_known, :-1]
    if not is_known.any() or not others.size or (others != others[0]).any():
        return _centred_ranks(block)
    ranks = np.full(block.shape, len(block) * 2)
    ranks[is_known] = _centred_ranks(block[is_known])
    return ranks


def _centred_ranks(block: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
    """Return twice the distance of ranks from their middle, the first one negative.

    Equal values share a rank, and no rank is left out: columns of the same order have
    the same ranks, and those of the opposite order too.
    """
    order = np.argsort(block, axis=0, kind="stable")
    ordered = np.take_along_axis(block, order, axis=0)
    steps = np.zeros(block.shape, dtype=np.int64)
    np.cumsum(ordered[1:] != ordered[:-1], axis=0, out=steps[1:])
    ranks = np.empty_like(steps)
    np.put_along_axis(ranks, order, 2 * steps - steps[-1], axis=0)
    firsts = np.take_along_axis(ranks, (ranks != 0).argmax(axis=0)[None], axis=0)
    return np.asarray(np.where(firsts > 0, -ranks, ranks))
