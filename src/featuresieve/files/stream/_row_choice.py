"""Which rows of a table are kept: by a hash of their places, class by class."""

import numpy as np
import numpy.typing as npt

HashArray = npt.NDArray[np.uint64]
IndexArray = npt.NDArray[np.int64]

# Rows that training can use: it takes up to 1,500 steps of 256 rows.
MOST_ROWS = 2**20


def row_hashes(seed: int, rows: IndexArray) -> HashArray:
    """Return a pseudo-random number for each row, by the generator splitmix64.

    Rows of one seed have different ones.
    """
    start = _mixed(np.array([seed], dtype=np.uint64))
    steps = rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)  # modulo 2**64
    return _mixed(steps + start)


def _mixed(bits: HashArray) -> HashArray:
    """Return numbers whose bits all depend on all bits, one to one."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def affordable_rows(
    hashes: HashArray,
    classes: IndexArray,
    costs: IndexArray,
    budget: float,
    most_rows: int | None = None,
) -> npt.NDArray[np.bool_]:
    """Return which rows are kept: the same number of each class, if it has so many.

    It is the largest for which all kept rows together cost no more than `budget`, and
    are no more than `most_rows`.
    """
    most = len(hashes) if most_rows is None else most_rows
    if costs.sum() <= budget and len(hashes) <= most:
        return np.ones(len(hashes), dtype=np.bool_)
    order = np.lexsort((hashes, classes))
    sizes = np.bincount(classes)
    rank = np.empty(len(order), dtype=np.int64)  # of a row in its class
    rank[order] = np.arange(len(order)) - (np.cumsum(sizes) - sizes)[classes[order]]
    by_rank = np.argsort(rank, kind="stable")
    n_affordable = np.searchsorted(np.cumsum(costs[by_rank]), budget, side="right")
    first_out = by_rank[min(int(n_affordable), most)]
    return np.asarray(rank < rank[first_out])


def class_weights(
    codes: IndexArray, counts: IndexArray
) -> npt.NDArray[np.float64] | None:
    """Return how many rows each kept row stands for, with a mean of one.

    None where all stand for as many. `counts` are the rows of each class in all.
    """
    kept = np.bincount(codes, minlength=len(counts))
    factors = counts / np.maximum(kept, 1)
    if np.ptp(factors[kept > 0]) == 0:
        return None
    return np.asarray(factors[codes] / factors[codes].mean())
