"""Gates whose columns say nothing, or nothing that another gate does not say."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from functools import partial
from hashlib import blake2b
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from featuresieve.problem._canonical_order import HashArray, mixed_bits, not_alone
from featuresieve.problem._problem import BoolArray, Gates
from featuresieve.problem._units import Units
from featuresieve.tables import IndexArray, on_threads

# Rows by which columns are told apart before all are looked at.
_FEW_ROWS = (32, 512, 4096)
_CELLS_AT_ONCE = 1 << 18


def constant_gates(features: Any, gates: Gates) -> BoolArray:
    """Tell which gates open columns of one value each."""
    if issparse(features):
        low, high = features.min(axis=0).toarray(), features.max(axis=0).toarray()
        is_varying = (high > low).reshape(-1)
    else:
        is_varying = _is_varying(features)
    varying = np.bincount(gates.gate_of_column, is_varying, len(gates))
    return np.asarray(varying == 0)


def _is_varying(features: npt.NDArray[np.float32]) -> BoolArray:
    """Tell which columns have two values; most have in the first rows."""
    is_varying = np.zeros(features.shape[1], dtype=bool)
    rest, row = np.arange(len(is_varying)), 0
    while len(rest) and row < len(features):
        stop = row + max(_FEW_ROWS[0], _CELLS_AT_ONCE // len(rest) if row else 0)
        some = features[row:stop].take(rest, axis=1)
        is_varying[rest] = (some != features[0, rest]).any(axis=0)
        rest, row = rest[~is_varying[rest]], stop
    return is_varying


def copied_gates(
    features: Any,
    gates: Gates,
    units: Units,
    may_be_copied: BoolArray,
    *,
    by_rank: bool,
    n_threads: int = 1,
) -> IndexArray:
    """Return for each gate the one it is a copy of, -1 if there is none.

    Copies have equal columns, or with `by_rank` columns of the same order, upwards or
    downwards. Of several the forced ones stay, else the cheapest, then the first of the
    table. Gates of several features are neither copies nor copied.
    """
    alone = np.flatnonzero((gates.n_features == 1) & may_be_copied)
    firsts = units.firsts
    copy_of = np.full(len(gates), -1, dtype=np.intp)
    for alike in _equal(features, alone, gates.edges, by_rank, n_threads):
        # Lists, because all keys count, one after the other.
        alike.sort(key=lambda g: (not gates.is_forced[g], gates.costs[g], firsts[g]))
        others = np.array(alike[1:], dtype=np.intp)
        copy_of[others[~gates.is_forced[others]]] = alike[0]
    return copy_of


def _equal(
    features: Any, some: IndexArray, edges: IndexArray, by_rank: bool, n_threads: int
) -> list[list[int]]:
    """Return sets of gates, two or more in each, whose columns are equal."""
    if issparse(features):
        return _alike(_cells(features.tocsc(), some))
    n_rows = len(features)
    for n_some in (n for n in _FEW_ROWS if 4 * n <= n_rows):
        rows = np.linspace(0, n_rows - 1, n_some).round().astype(np.intp)
        blocks = _blocks(some, edges, n_some)
        numbers = partial(_numbers, features, edges, rows, by_rank)
        found = [np.zeros(0, np.uint64), *on_threads(numbers, blocks, n_threads)]
        some = np.concatenate([some[:0], *blocks])[not_alone(np.concatenate(found))]
    keys = partial(_keys, features, edges, np.arange(n_rows), by_rank)
    own = on_threads(keys, _blocks(some, edges, n_rows), n_threads)
    return _alike(chain.from_iterable(own))


def _alike(keys: Iterable[tuple[int, Hashable]]) -> list[list[int]]:
    """Return the gates that share a key with others, those of each key."""
    sets: dict[Hashable, list[int]] = defaultdict(list)
    for gate, key in keys:
        sets[key].append(gate)
    return [members for members in sets.values() if len(members) > 1]


def _cells(table: Any, columns: IndexArray) -> Iterator[tuple[int, Hashable]]:
    """Yield what columns of a sparse table hold that may be equal to others."""
    table.sort_indices()
    words = table.indices.astype(np.uint64) << np.uint64(32) | table.data.view(
        np.uint32
    )
    sums = np.cumsum(np.append(np.uint64(0), mixed_bits(words)))[table.indptr]
    _, kind, counts = np.unique(
        np.diff(sums)[columns], return_inverse=True, return_counts=True
    )
    for column in columns[counts[kind] > 1].tolist():
        own = slice(table.indptr[column], table.indptr[column + 1])
        yield column, (table.indices[own].tobytes(), table.data[own].tobytes())


def _blocks(gates: IndexArray, edges: IndexArray, n_rows: int) -> list[IndexArray]:
    """Return gates of equally many columns after the other."""
    widths = (edges[1:] - edges[:-1])[gates]
    blocks = []
    for width in np.unique(widths).tolist():
        own = gates[widths == width]
        step = max(1, _CELLS_AT_ONCE // (width * n_rows))
        blocks += [own[start : start + step] for start in range(0, len(own), step)]
    return blocks


def _numbers(
    features: npt.NDArray[np.float32],
    edges: IndexArray,
    rows: IndexArray,
    by_rank: bool,
    gates: IndexArray,
) -> HashArray:
    """Return a number of each gate's columns in some rows, the same for equal ones."""
    found = _contents(features, edges, rows, by_rank, gates)
    words = found.reshape(len(gates), -1).view(np.uint32).astype(np.uint64)
    words |= np.arange(words.shape[1], dtype=np.uint64) << np.uint64(32)
    return np.asarray(mixed_bits(words).sum(axis=1, dtype=np.uint64))


def _keys(
    features: npt.NDArray[np.float32],
    edges: IndexArray,
    rows: IndexArray,
    by_rank: bool,
    gates: IndexArray,
) -> list[tuple[int, Hashable]]:
    """Return a key of each gate's columns in some rows, equal for equal columns."""
    found = _contents(features, edges, rows, by_rank, gates)
    # Short keys for long ones, so that many fit into memory.
    keys = [
        (len(columns), blake2b(columns.tobytes(), digest_size=16).digest())
        for columns in found
    ]
    return list(zip(gates.tolist(), keys, strict=True))


def _contents(
    features: npt.NDArray[np.float32],
    edges: IndexArray,
    rows: IndexArray,
    by_rank: bool,
    gates: IndexArray,
) -> npt.NDArray[Any]:
    """Return values or ranks of equally many columns, (gates, columns, rows)."""
    width = int(edges[gates[0] + 1] - edges[gates[0]])
    columns = edges[gates][:, None] + np.arange(width)
    block = np.ascontiguousarray(features[rows[:, None, None], columns].T)
    block = block.swapaxes(0, 1)
    return _ranks_of_known(block) if by_rank else block


def _ranks_of_known(block: npt.NDArray[np.float32]) -> npt.NDArray[np.int32]:
    """Return centred ranks, of rows that tell a value where the last column says which.

    What stands for a missing value is a hair above or below that of the middle.
    `block` is (gates, columns, rows); the last column is an indicator if nothing varies
    beside it.
    """
    is_known = block[:, -1] <= 0  # (gates, rows)
    others = np.where(is_known[:, None], np.nan, block[:, :-1])
    if others.shape[1] and not is_known.all():
        with np.errstate(invalid="ignore"):
            low = np.fmin.reduce(others, axis=2)
            is_indicator = (low == np.fmax.reduce(others, axis=2)).all(axis=1)
        is_known[~(is_indicator & is_known.any(axis=1))] = True
    else:
        is_known[:] = True
    return _centred_ranks(block, is_known[:, None])


def _centred_ranks(
    block: npt.NDArray[np.float32], is_known: BoolArray
) -> npt.NDArray[np.int32]:
    """Return twice the distance of ranks from their middle, the first one negative.

    Equal values share a rank, and no rank is left out: columns of the same order have
    the same ranks, and those of the opposite order too. Rows that are not known have no
    rank.
    """
    values = np.where(is_known, block, np.float32(np.inf))
    order = np.argsort(values, axis=-1)
    ordered = np.take_along_axis(values, order, axis=-1)
    is_step = (ordered[..., 1:] != ordered[..., :-1]) & (ordered[..., 1:] < np.inf)
    steps = np.zeros(block.shape, dtype=np.int32)
    np.cumsum(is_step, axis=-1, out=steps[..., 1:])
    ranks = np.empty_like(steps)
    np.put_along_axis(ranks, order, 2 * steps - steps[..., -1:], axis=-1)
    is_first = ((ranks != 0) & is_known).argmax(axis=-1)[..., None]
    ranks *= np.where(np.take_along_axis(ranks, is_first, axis=-1) > 0, -1, 1)
    return np.where(is_known, ranks, np.int32(2 * block.shape[-1]))
