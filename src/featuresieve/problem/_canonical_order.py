"""An order of rows and columns that depends on their content alone.

Training draws random numbers by position. Put into a canonical order first, a table
whose rows or columns were shuffled gives the same answer, shuffled.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from featuresieve.problem._units import Units
from featuresieve.tables import FloatArray, IndexArray, on_threads, shares_of

HashArray = npt.NDArray[np.uint64]

# Values that agree to three decimals count as equal, so that the last digits of a
# mean or spread, which depend on the order of summation, do not matter.
_RESOLUTION = 1024.0
_LARGEST = np.float32(2.0**52)
_CELLS_AT_ONCE = 1 << 18
# A row that occurs more often is no copy, but one of few possible ones.
_MOST_EQUAL_ROWS = 10
_OFFSET = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def row_hashes(
    encoded: Any, rows: IndexArray, targets: npt.NDArray[Any], n_threads: int = 1
) -> HashArray:
    """Return a number for every row of a table that depends on its content alone.

    A row is known by its target and by the sum, modulo 2^64, of the hashes of its
    cells, and a cell by its value and by the sum of the hashes of its column, over
    `rows`: those that count, some perhaps several times. Integer sums do not depend on
    the order of their terms.
    """
    hashes = _target_hashes(targets)
    counts = np.bincount(rows, minlength=encoded.shape[0]).astype(np.uint64)
    if issparse(encoded):
        cells, of_row = mixed_bits(_whole(encoded.data)), _rows_of_cells(encoded)
        by_column = np.zeros(encoded.shape[1], dtype=np.uint64)
        np.add.at(by_column, encoded.indices, cells * counts[of_row])
        # A cell that is alone in its column is the sum of it: the offset tells it from
        # no cell.
        np.add.at(
            hashes, of_row, mixed_bits((cells ^ by_column[encoded.indices]) + _OFFSET)
        )
        return hashes

    is_plain = bool((counts == 1).all())

    def part(blocks: Sequence[slice]) -> HashArray:
        total = np.zeros(encoded.shape[0], dtype=np.uint64)
        for columns in blocks:
            cells = mixed_bits(_whole(np.ascontiguousarray(encoded[:, columns].T)))
            counted = cells if is_plain else cells * counts
            cells ^= counted.sum(axis=1, dtype=np.uint64)[:, None]
            total += mixed_bits(cells).sum(axis=0, dtype=np.uint64)
        return total

    shares = shares_of(_blocks(encoded), n_threads)
    for own in on_threads(part, shares, n_threads):
        hashes += own
    return hashes


def _target_hashes(targets: npt.NDArray[Any]) -> HashArray:
    """Return a number for every row that depends on its target alone."""
    hashes = np.zeros(len(targets), dtype=np.uint64)
    for values in np.atleast_2d(targets.T):
        hashes = mixed_bits(hashes ^ mixed_bits(_whole(values.astype(np.float32))))
    return hashes


def copied_rows(
    encoded: Any, rows: IndexArray, hashes: HashArray, targets: npt.NDArray[Any]
) -> IndexArray | None:
    """Return a number for each of `rows` that is the same for copies of one row.

    A row that stands several times in `rows` is a copy of itself. Rows with the same
    features, whatever their target, count as copies too, unless that is to be expected:
    where the columns allow fewer different rows than there are, and where a row occurs
    more than ten times, it is one of a table of few values. None if no row is a copy.
    """
    features = hashes - _target_hashes(targets)  # a sum of which the targets were part
    # Each once, ascending; `np.unique` took 0.4 s for a million.
    own = np.flatnonzero(np.bincount(rows))
    group = np.arange(len(own))
    alike = not_alone(features[own])  # or so it seems: hashes know no columns
    if len(alike) and not _has_few_values(encoded, own):
        first_of = _first_equal(encoded[own[alike]])
        is_copy = np.bincount(first_of)[first_of] <= _MOST_EQUAL_ROWS
        group[alike[is_copy]] = alike[first_of[is_copy]]
    index = np.zeros(len(features), dtype=np.intp)
    index[own] = np.arange(len(own))
    groups = group[index[rows]]
    return groups if np.count_nonzero(np.bincount(groups)) < len(groups) else None


def not_alone(hashes: HashArray) -> IndexArray:
    """Return where the hashes are that occur more than once."""
    ordered = np.sort(hashes)  # ten times as fast as their order
    if (ordered[1:] != ordered[:-1]).all():
        return np.zeros(0, dtype=np.intp)
    order = np.argsort(hashes)
    ordered = hashes[order]
    is_same = ordered[1:] == ordered[:-1]  # as the one before
    return np.unique(np.concatenate([order[1:][is_same], order[:-1][is_same]]))


def _first_equal(table: Any) -> IndexArray:
    """Return for every row the first row with the same values in every column."""
    if issparse(table):
        spans = zip(table.indptr, table.indptr[1:], strict=False)
        keys = [
            table.indices[a:b].tobytes() + table.data[a:b].tobytes() for a, b in spans
        ]
    else:
        keys = [row.tobytes() for row in np.ascontiguousarray(table)]
    firsts: dict[bytes, int] = {}
    return np.array([firsts.setdefault(key, row) for row, key in enumerate(keys)])


def _has_few_values(encoded: Any, rows: IndexArray) -> bool:
    """Tell whether the columns allow fewer different rows than there are."""
    possible = 1
    for j in range(encoded.shape[1]):
        column = encoded[:, [j]]
        values = column.toarray()[rows, 0] if issparse(encoded) else column[rows, 0]
        possible *= len(np.unique(_whole(values)))
        if possible >= len(rows):
            return False
    return True


def canonical_rows(
    hashes: HashArray, targets: npt.NDArray[Any], weights: FloatArray | None
) -> IndexArray:
    """Return an order of rows that does not depend on the order they came in.

    By target, then by hash, then by weight. Rows that are not told apart stay as they
    came.
    """
    order = np.argsort(hashes)
    ordered = hashes[order]
    # All told apart, as most are: in a fifth of the time.
    if weights is None and (ordered[1:] != ordered[:-1]).all():
        for key in np.atleast_2d(targets.T):
            if key.dtype.kind == "i":  # of 16 bits they are counted, not compared
                key = key.astype(np.min_scalar_type(key.max()))
            order = order[np.argsort(key[order], kind="stable")]
        return order
    keys = [hashes, *np.atleast_2d(targets.T)]
    if weights is not None:
        keys.insert(0, weights)
    return np.lexsort(keys)  # the last key counts first


def column_digests(
    encoded: Any, rows: IndexArray, hashes: HashArray, n_threads: int = 1
) -> HashArray:
    """Return a number for every encoded column that depends on its content alone.

    It is the sum, modulo 2^64, of the cells times the hashes of their rows.
    """
    counts = np.bincount(rows, minlength=encoded.shape[0]).astype(np.uint64)
    weights = hashes * counts
    if issparse(encoded):
        sums = np.zeros(encoded.shape[1], dtype=np.uint64)
        terms = _whole(encoded.data) * weights[_rows_of_cells(encoded)]
        np.add.at(sums, encoded.indices, terms)
        return sums

    def part(columns: slice) -> HashArray:
        terms = _whole(np.ascontiguousarray(encoded[:, columns].T)) * weights
        return np.asarray(terms.sum(axis=1, dtype=np.uint64))

    parts = on_threads(part, _blocks(encoded), n_threads)
    return np.concatenate([np.zeros(0, dtype=np.uint64), *parts])


def canonical_units(
    units: Units, feature_of_column: IndexArray, digests: HashArray
) -> Units:
    """Return units of features, and the features in each, ordered by content.

    A feature is known by the `digests` of its columns, one after the other.
    """
    if len(units) == len(units.features):
        return units.take(
            _order_of_features(units.features, feature_of_column, digests)
        )
    known: dict[int, tuple[int, ...]] = {}
    for feature, digest in zip(
        feature_of_column.tolist(), digests.tolist(), strict=True
    ):
        known[feature] = (*known.get(feature, ()), digest)
    ordered = [sorted(unit.tolist(), key=known.__getitem__) for unit in units]
    return Units.of(sorted(ordered, key=lambda unit: [known[j] for j in unit]))


def _order_of_features(
    features: IndexArray, feature_of_column: IndexArray, digests: HashArray
) -> IndexArray:
    """Return the order of features by their digests, those of fewer columns first."""
    column = np.argsort(feature_of_column, kind="stable")
    counts = np.bincount(feature_of_column, minlength=features.max(initial=-1) + 1)
    n_columns, first = counts[features], (np.cumsum(counts) - counts)[features]
    keys: list[npt.NDArray[Any]] = [n_columns]
    for k in reversed(range(n_columns.max(initial=1))):
        key = np.zeros(len(features), dtype=np.uint64)
        has = n_columns > k
        key[has] = digests[column[first[has] + k]]
        keys.append(key)
    return np.lexsort(keys)  # the last key counts first


def _blocks(encoded: npt.NDArray[np.float32]) -> list[slice]:
    """Return some columns after the other."""
    width = max(1, _CELLS_AT_ONCE // max(1, encoded.shape[0]))
    starts = range(0, encoded.shape[1], width)
    return [slice(start, start + width) for start in starts]


def _rows_of_cells(encoded: Any) -> IndexArray:
    """Return the row of every stored cell of a CSR array."""
    return np.repeat(np.arange(encoded.shape[0]), np.diff(encoded.indptr))


def _whole(values: npt.NDArray[np.float32]) -> HashArray:
    """Return values as whole numbers of a fixed resolution."""
    # Targets of rows that do not count may be too large for an integer.
    whole = values.clip(-_LARGEST, _LARGEST)
    whole *= np.float32(_RESOLUTION)
    return np.asarray(np.rint(whole, out=whole).astype(np.int64).view(np.uint64))


def mixed_bits(words: HashArray) -> HashArray:
    """Mix the bits of 64-bit words (the finaliser of splitmix64)."""
    mixed = words >> np.uint64(30)
    mixed ^= words
    mixed *= _FACTORS[0]
    shifted = mixed >> np.uint64(27)
    mixed ^= shifted
    mixed *= _FACTORS[1]
    np.right_shift(mixed, np.uint64(31), out=shifted)
    mixed ^= shifted
    return mixed
