"""Values of columns become normal scores: the normal quantiles of their ranks."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]

_MAX_KNOTS = 512
# Share of the rows below and above which there is none.
_RAREST = 1e-12
# Of 32 bits the highest; of 64 bits half, and the lower ones.
_SIGN, _HALF, _LOWER = np.int32(-(2**31)), np.uint64(32), np.uint64(2**32 - 1)


def normal_scores(
    block: FloatArray, weights: FloatArray | None
) -> tuple[FloatArray, list[FloatArray], list[FloatArray]]:
    """Return columns, (columns, rows), as normal scores, and knots and scores of each.

    What is NaN stays so; not all of a column is. Knots are of float32 where that holds
    them.
    """
    codes = None if weights is not None else _as_codes(block)
    if codes is not None:
        return _scores_of_codes(codes)
    n_columns, n_rows = block.shape
    n_known = np.full(n_columns, n_rows)
    if has_missing(block):
        n_known -= np.count_nonzero(np.isnan(block), axis=1)
    order, ordered = _sorted(block, n_known)
    starts = _starts(ordered, n_known)
    edges = np.searchsorted(starts, n_rows * np.arange(n_columns + 1))
    bounds = np.append(0, np.cumsum(np.minimum(np.diff(edges), _MAX_KNOTS)))
    column = _runs(bounds[:-1], bounds[-1])  # of each knot
    chosen = _chosen(edges, bounds, column)
    positions = starts[chosen]  # of the knots
    if weights is None:
        nexts = np.append(starts[1:], 0)[chosen]
        nexts[bounds[1:] - 1] = n_rows * np.arange(n_columns) + n_known
        scores = _scores(positions + nexts, column, n_known, n_rows)
    else:
        of_order = weights.take(order % n_rows)
        scores = _weighted_scores(starts, chosen, edges, n_known, of_order)
    knots = ordered.take(positions)
    _interpolate_(ordered.reshape(-1), positions, knots, scores, bounds)
    scaled = np.empty(block.shape)
    scaled.reshape(-1)[order] = ordered
    knots, own = _short(knots), list(pairwise(bounds.tolist()))
    is_plain = np.diff(edges) == (n_rows if weights is None else -1)
    return scaled, [knots[a:b] for a, b in own], _shared(scores, own, is_plain)


def _as_codes(block: FloatArray) -> IndexArray | None:
    """Return whole numbers from zero to some hundreds as such; None of all others."""
    if (block[:, 0] % 1.0 != 0.0).any() or not block.max() < _MAX_KNOTS:
        return None
    if np.signbit(block).any():  # of a zero, too
        return None
    codes = block.astype(np.intp)
    return codes if (codes == block).all() else None


def _scores_of_codes(
    codes: IndexArray,
) -> tuple[FloatArray, list[FloatArray], list[FloatArray]]:
    """Return what `normal_scores` does, of numbers that need no sorting."""
    n_columns, n_rows = codes.shape
    width = int(codes.max()) + 1
    codes += width * np.arange(n_columns)[:, None]
    counts = np.bincount(codes.reshape(-1), minlength=n_columns * width)
    counts = counts.reshape(n_columns, width)
    doubled = 2 * np.cumsum(counts, axis=1) - counts  # the middles of their ranks
    scores = np.asarray(ndtri(doubled / 2 / n_rows))
    known: list[Any] = [np.flatnonzero(own) for own in counts]
    of_known = [own[some] for own, some in zip(scores, known, strict=True)]
    return scores.take(codes), [some.astype(np.float32) for some in known], of_known


def has_missing(block: FloatArray) -> bool:
    """Tell whether a value is NaN: then the least is, too."""
    with np.errstate(invalid="ignore"):
        return block.size > 0 and bool(np.isnan(block.min()))


def _short(values: FloatArray) -> Any:
    """Return values as float32 if that holds them, else as they are."""
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    return single if (single == values).all() else values


def _shared(
    scores: FloatArray, own: Sequence[tuple[int, int]], is_plain: BoolArray
) -> list[FloatArray]:
    """Return the scores of each column, one array for all columns of no equal values.

    There may be many of them: the others are copies, for the whole to be freed.
    """
    shared = scores[slice(*own[int(is_plain.argmax())])].copy()
    of_columns = zip(is_plain.tolist(), own, strict=True)
    return [shared if plain else scores[a:b].copy() for plain, (a, b) in of_columns]


def _starts(ordered: FloatArray, n_known: IndexArray) -> IndexArray:
    """Return the positions of the first of equal values in flattened sorted rows."""
    is_first = np.ones(ordered.shape, dtype=bool)
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=is_first[:, 1:])
    if n_known.min() < ordered.shape[1]:
        is_first &= np.arange(ordered.shape[1]) < n_known[:, None]
    return np.flatnonzero(is_first)


def _sorted(block: FloatArray, n_known: IndexArray) -> tuple[IndexArray, FloatArray]:
    """Return positions in a flattened block that sort its rows, and these sorted.

    What is NaN comes last.
    """
    if n_known.min() == block.shape[1]:
        return _sorted_known(block)
    # As infinity it is sorted several times as fast.
    order, ordered = _sorted_known(np.where(np.isnan(block), np.inf, block))
    ordered[np.arange(block.shape[1]) >= n_known[:, None]] = np.nan
    return order, ordered


def _sorted_known(block: FloatArray) -> tuple[IndexArray, FloatArray]:
    """Return what `_sorted` does of a block without NaN.

    What float32 can hold is sorted as whole numbers, its bits above its position, in a
    fifth of the time that positions take.
    """
    with np.errstate(over="ignore"):
        single = block.astype(np.float32, order="C")
    if not np.array_equal(single, block):
        order = np.argsort(block, axis=1)
        order += block.shape[1] * np.arange(len(block))[:, None]
        return order, block.take(order)
    bits = single.view(np.int32)
    # Bits ordered as the numbers are: those of negative ones are turned over.
    bits ^= (bits >> 31) | _SIGN
    keys = bits.view(np.uint32).astype(np.uint64)
    keys <<= _HALF
    keys |= np.arange(block.size, dtype=np.uint64).reshape(block.shape)
    keys.sort(axis=1)
    bits = (keys >> _HALF).astype(np.uint32).view(np.int32)
    bits ^= ~(bits >> 31) | _SIGN
    keys &= _LOWER
    return keys.view(np.int64), bits.view(np.float32).astype(np.float64)


def _chosen(
    edges: IndexArray, bounds: IndexArray, column: IndexArray
) -> IndexArray | slice:
    """Return which different values are knots: all of a few, or evenly spaced ones.

    `edges` is where the values of each column begin, `bounds` where its knots will, and
    `column` that of each knot.
    """
    n_values = np.diff(edges)
    if n_values.max() <= _MAX_KNOTS:
        return slice(None)
    indices = np.arange(bounds[-1]) - bounds.take(column)
    steps = np.where(n_values > _MAX_KNOTS, (n_values - 1) / (_MAX_KNOTS - 1), 1.0)
    indices = np.rint(indices * steps.take(column)).astype(np.intp)
    indices += edges.take(column)
    return indices


def _runs(starts: IndexArray, size: int) -> IndexArray:
    """Return which run each of some places is in; the first run starts with the first.

    What `numpy.repeat` would make of their numbers, while other threads wait.
    """
    is_next = np.zeros(size, dtype=np.intp)
    is_next[starts[1:]] = 1
    return np.cumsum(is_next, out=is_next)


def _scores(
    doubled: IndexArray, column: IndexArray, n_known: IndexArray, n_rows: int
) -> FloatArray:
    """Return the normal scores of knots.

    That of the middle between the first of equal values and the first of the next; of
    these positions `doubled` is the sum.
    """
    doubled -= 2 * n_rows * column
    if n_known.min() == n_rows and len(doubled) > n_rows:
        return _table(n_rows).take(doubled)
    return np.asarray(ndtri(doubled / 2 / n_known.take(column)))


@lru_cache(maxsize=8)
def _table(n_rows: int) -> FloatArray:
    """Return the normal scores of halves of ranks among so many rows."""
    return np.asarray(ndtri(np.arange(2 * n_rows) / 2 / n_rows))


def _weighted_scores(
    starts: IndexArray,
    chosen: IndexArray | slice,
    edges: IndexArray,
    n_known: IndexArray,
    weights: FloatArray,
) -> FloatArray:
    """Return normal scores as `_scores` does, with weights of the sorted values."""
    n_values = np.diff(edges)
    weights = np.where(np.arange(weights.shape[1]) < n_known[:, None], weights, 0.0)
    sums = np.zeros((len(n_values), n_values.max()))
    is_value = np.arange(sums.shape[1]) < n_values[:, None]
    sums[is_value] = np.add.reduceat(weights.reshape(-1), starts)
    ranks = np.cumsum(sums, axis=1)
    shares = ((ranks - sums / 2) / ranks[:, -1:])[is_value][chosen]
    # Rounding may take the rank of a weight beside huge ones to nought or to one.
    return np.asarray(ndtri(np.clip(shares, _RAREST, 1.0 - _RAREST)))


def _interpolate_(
    ordered: FloatArray,
    positions: IndexArray,
    knots: FloatArray,
    scores: FloatArray,
    bounds: IndexArray,
) -> None:
    """Replace sorted values by their scores, to the bit as `numpy.interp` does."""
    knot = _runs(positions, ordered.size)
    if np.diff(bounds).max() < _MAX_KNOTS:  # every value is a knot
        ordered *= 0.0  # what is missing stays so
        ordered += scores.take(knot)
        return
    steps, rises = np.ones(len(knots)), np.zeros(len(knots))
    with np.errstate(over="ignore", invalid="ignore"):
        np.subtract(knots[1:], knots[:-1], out=steps[:-1])
        np.subtract(scores[1:], scores[:-1], out=rises[:-1])
        steps[bounds[1:] - 1], rises[bounds[1:] - 1] = 1.0, 0.0
        slopes = rises / steps
        is_finite = np.isfinite(steps.sum() + slopes.sum())
    if not is_finite:
        columns = ordered.reshape(len(bounds) - 1, -1)
        for values, a, b in zip(columns, bounds, bounds[1:], strict=False):
            values[:] = np.interp(values, knots[a:b], scores[a:b])
        return
    ordered -= knots.take(knot)
    ordered *= slopes.take(knot)
    ordered += scores.take(knot)
