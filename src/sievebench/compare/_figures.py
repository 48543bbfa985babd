"""Where things are in the figures of the page: scales, ticks, labels, clusters."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

Numbers = npt.NDArray[np.float64]

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_FAR = 4.0  # times the gap between best and median: further scores are cut off
_MARGIN = 0.08  # of the range of the scores, on both sides


@dataclass(frozen=True)
class Scale:
    """An axis from `low` to `high`, in parts of a hundred."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """Return where a value is, at the edge if it is beyond it."""
        part = (value - self.low) / (self.high - self.low)
        return round(100.0 * min(1.0, max(0.0, part)), 2)

    def has(self, value: float) -> bool:
        """Tell whether a value is on the axis."""
        return self.low <= value <= self.high

    def ticks(self, n_most: int = 5) -> list[tuple[float, str]]:
        """Return round numbers on the axis: where they are, and how they read."""
        raw = (self.high - self.low) / n_most
        power = 10.0 ** np.floor(np.log10(raw))
        step = next(k * power for k in _STEPS if k * power >= raw * (1 - 1e-9))
        first, last = np.ceil(self.low / step), np.floor(self.high / step)
        n_digits = max(0, int(-np.floor(np.log10(step) + 1e-9)) + (step / power == 2.5))
        numbers = np.arange(first, last + 1) * step
        return [(self.at(number), f"{number + 0.0:.{n_digits}f}") for number in numbers]


def score_scale(
    scores: Sequence[float], ends: Sequence[tuple[float, float]] = ()
) -> Scale:
    """Return an axis on which the scores near the best one differ to the eye.

    It does not begin at 0. Scores far behind the others are beyond its edge; of
    intervals, given by their ends, half are within it on either side.
    """
    best, worst = max(scores), min(scores)
    gap = best - float(np.median(scores))
    if gap > 0:
        worst = max(worst, best - _FAR * gap)
    if ends:
        low, high = np.median(ends, axis=0).tolist()
        best, worst = max(best, high), min(worst, low)
    spread = best - worst or max(0.01, 0.01 * abs(best))
    return Scale(worst - _MARGIN * spread, best + _MARGIN * spread)


def count_scale(n_columns: int) -> tuple[Scale, list[tuple[float, str]]]:
    """Return a logarithmic axis of counts of columns, for log10, and its ticks."""
    scale = Scale(np.log10(0.9), np.log10(1.1 * n_columns))
    powers = range(int(np.log10(n_columns)) + 1)
    counts = [k * 10**power for power in powers for k in (1, 2, 5)]
    return scale, [(scale.at(np.log10(k)), f"{k:,}") for k in counts if k <= n_columns]


def spread_labels(heights: Sequence[float], room: float, most: float) -> list[float]:
    """Return positions from 0 to `most`, in order, `room` apart, near given heights.

    Labels that would overlap become a block around the mean of their heights.
    """
    order = np.argsort(heights, kind="stable")
    blocks: list[list[float]] = []  # heights of each block, from the top
    starts: list[float] = []
    for height in np.asarray(heights)[order]:
        blocks.append([float(height)])
        starts.append(float(height))
        while True:
            size = room * (len(blocks[-1]) - 1)
            start = float(np.mean(blocks[-1])) - size / 2
            starts[-1] = min(max(start, 0.0), max(0.0, most - size))
            is_free = len(blocks) == 1 or (
                starts[-1] >= starts[-2] + room * len(blocks[-2]) - 1e-9
            )
            if is_free:
                break
            below = blocks.pop()
            blocks[-1] += below
            starts.pop()
    positions = np.empty(len(order))
    positions[order] = [
        start + room * k
        for block, start in zip(blocks, starts, strict=True)
        for k in range(len(block))
    ]
    return [round(float(position), 1) for position in positions]


def clustered_order(similarity: Numbers) -> list[int]:
    """Return an order in which neighbours are similar, of a symmetric matrix.

    Average linkage, its leaves ordered for the least sum of distances of neighbours.
    """
    if len(similarity) < 3:
        return list(range(len(similarity)))
    distances = np.clip(1.0 - similarity, 0.0, None)
    np.fill_diagonal(distances, 0.0)
    condensed = squareform(distances, checks=False)
    return [int(k) for k in leaves_list(linkage(condensed, "average", True))]
