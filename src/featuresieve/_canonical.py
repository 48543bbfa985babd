"""An order of rows and columns that depends on their content alone.

Training draws random numbers by position. Put into a canonical order first, a table
whose rows or columns were shuffled gives the same answer, shuffled.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from featuresieve._gates import FloatArray, IndexArray
from featuresieve._sparse_rows import is_sparse

HashArray = npt.NDArray[np.uint64]

# Values that agree to three decimals count as equal, so that the last digits of a
# mean or spread, which depend on the order of summation, do not matter.
_RESOLUTION = 1024.0
_FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def canonical_rows(
    encoded: Any, targets: npt.NDArray[Any], weights: FloatArray | None
) -> IndexArray:
    """Return an order of the rows that does not depend on the order they came in.

    A row is known by the sum, modulo 2^64, of the hashes of its cells, and a cell by
    its value and by the sum of the hashes of its column. Integer sums do not depend on
    the order of their terms. Rows that are not told apart stay as they came.
    """
    n_rows = encoded.shape[0]
    row_hashes = np.zeros(n_rows, dtype=np.uint64)
    if is_sparse(encoded):
        _add_sparse_(row_hashes, encoded)
    else:
        for j in range(encoded.shape[1]):
            cells = _hash(_whole(encoded[:, j]))
            row_hashes += _hash(cells ^ cells.sum(dtype=np.uint64))
    keys = [row_hashes, *np.atleast_2d(targets.T)]
    if weights is not None:
        keys.insert(0, weights)
    return np.lexsort(keys)  # the last key counts first: by target, then by row


def _add_sparse_(row_hashes: HashArray, encoded: Any) -> None:
    """Add the hashes of the stored cells to those of their rows."""
    cells = _hash(_whole(encoded.data))
    by_column = np.zeros(encoded.shape[1], dtype=np.uint64)
    np.add.at(by_column, encoded.indices, cells)
    rows = np.repeat(np.arange(encoded.shape[0]), np.diff(encoded.indptr))
    np.add.at(row_hashes, rows, _hash(cells ^ by_column[encoded.indices]))


def _whole(values: npt.NDArray[np.float32]) -> HashArray:
    """Return values as whole numbers of a fixed resolution."""
    scaled = values.astype(np.float64) * _RESOLUTION
    return np.rint(scaled).astype(np.int64).view(np.uint64)


def _hash(words: HashArray) -> HashArray:
    """Mix the bits of 64-bit words (the finaliser of splitmix64)."""
    words = (words ^ (words >> np.uint64(30))) * _FACTORS[0]
    words = (words ^ (words >> np.uint64(27))) * _FACTORS[1]
    return np.asarray(words ^ (words >> np.uint64(31)))


def feature_digests(encoded: Any, feature_of_column: IndexArray) -> dict[int, bytes]:
    """Return a digest of the columns of every feature, in the present row order."""
    if is_sparse(encoded):
        encoded = encoded.tocsc()
    digests: dict[int, Any] = {}
    for column, feature in enumerate(feature_of_column):
        digest = digests.setdefault(int(feature), hashlib.blake2b(digest_size=16))
        if is_sparse(encoded):
            cells = slice(encoded.indptr[column], encoded.indptr[column + 1])
            digest.update(encoded.indices[cells].tobytes())
            digest.update(encoded.data[cells].tobytes())
        else:
            digest.update(np.ascontiguousarray(encoded[:, column]).tobytes())
    return {feature: digest.digest() for feature, digest in digests.items()}


def canonical_groups(
    groups: Sequence[IndexArray], digests: dict[int, bytes]
) -> list[IndexArray]:
    """Return groups of features, and the features in each, ordered by content."""
    ordered = [
        np.array(sorted(group, key=lambda j: digests[int(j)]), dtype=np.intp)
        for group in groups
    ]
    keys = [b"".join(digests[int(j)] for j in group) for group in ordered]
    return [ordered[k] for k in sorted(range(len(ordered)), key=keys.__getitem__)]
