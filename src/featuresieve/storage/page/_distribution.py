"""One column against the target, as a small picture: bins, heights, and words."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from featuresieve.problem import FloatArray, IndexArray
from featuresieve.storage.page._fit_data import ColumnValues, TargetValues

# Size of the picture, in units without a meaning: it is stretched.
WIDTH, HEIGHT = 160, 40
_N_BINS = 16
# A tail so many times as long as the other, and positive, is drawn by its logarithm.
_LONG_TAIL = 8
# Numbers with fewer different values have a bin for each of them.
_FEW = 12
_MOST_LEVELS = 10
_LONGEST_LEVEL = 40


@dataclass(frozen=True)
class Distribution:
    """A picture of how a column goes with the target."""

    areas: tuple[tuple[int, str], ...]  # number of the colour, and an SVG path
    line: str  # the mean of the target over the bins, an SVG path; "" if not of values
    low: str  # what is at the left end
    high: str
    title: str
    missing_share: float


def distribution(column: ColumnValues, target: TargetValues) -> Distribution:
    """Draw a column: how often its values are, by class, or the mean target in each."""
    is_known = ~np.isnan(column.values)
    if not is_known.any():
        return Distribution((), "", "", "", "nothing is known", 1.0)
    bins, names = _binned(column, is_known)
    low, high = names[0], names[-1]
    if target.codes is None:
        counts = np.bincount(bins, minlength=len(names)).astype(np.float64)
        areas = [(-1, counts / counts.max())]
    else:
        areas = _by_class(bins, target.codes[is_known], len(names), len(target.classes))
    line = ""
    if target.values is not None:
        line = _mean_line(bins, target.values, is_known, len(names))
    title = f"{low} to {high}"
    if column.kind == "category":
        title = ", ".join(names)
    paths = tuple((number, _area(heights)) for number, heights in areas)
    return Distribution(paths, line, low, high, title, column.missing_share)


def _binned(
    column: ColumnValues, is_known: npt.NDArray[np.bool_]
) -> tuple[IndexArray, list[str]]:
    """Return the bin of each known value, and what the bins are called."""
    values = column.values[is_known]
    if column.levels:
        counts = np.bincount(values.astype(np.intp), minlength=len(column.levels))
        order = np.argsort(-counts, kind="stable")
        if column.kind == "boolean":
            order = np.arange(len(counts))
        shown = [int(k) for k in order if counts[k]][:_MOST_LEVELS]
        place = np.full(len(counts), len(shown))
        place[shown] = np.arange(len(shown))
        bins = place[values.astype(np.intp)]
        names = [_cut(column.levels[k]) for k in shown]
        return bins, [*names, "rarer ones"] if (bins == len(shown)).any() else names
    values = _rounded(values)
    distinct = np.unique(values)
    if len(distinct) <= _FEW:
        return np.searchsorted(distinct, values), [
            _number(value, column.kind) for value in distinct
        ]
    low, high = np.quantile(values, [0.01, 0.99])
    if high <= low:
        low, high = distinct[0], distinct[-1]
    middle = np.median(values)
    ends = [_number(low, column.kind), _number(high, column.kind)]
    if low > 0 and high - middle > _LONG_TAIL * (middle - low):
        values, low, high = np.log(np.maximum(values, low)), np.log(low), np.log(high)
        ends[1] += " (log)"
    shares = (values - low) / (high - low)
    bins = np.clip((shares * _N_BINS).astype(np.intp), 0, _N_BINS - 1)
    return bins, [ends[0], *([""] * (_N_BINS - 2)), ends[1]]


def _rounded(values: FloatArray) -> FloatArray:
    """Return values to six digits: they come from numbers of seven."""
    largest = float(np.abs(values).max())
    if largest == 0 or not np.isfinite(largest):
        return values
    scale = 10.0 ** (int(np.ceil(np.log10(largest))) - 5)
    return np.round(values / scale) * scale


def _by_class(
    bins: IndexArray, codes: IndexArray, n_bins: int, n_classes: int
) -> list[tuple[int, FloatArray]]:
    """Return for each class which share of it is in each bin."""
    counts = np.array(
        [np.bincount(bins[codes == k], minlength=n_bins) for k in range(n_classes)]
    )
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    shares = shares / max(float(shares.max()), 1e-12)
    return list(enumerate(shares))


def _mean_line(
    bins: IndexArray,
    values: FloatArray,
    is_known: npt.NDArray[np.bool_],
    n_bins: int,
) -> str:
    """Return the mean target of each bin, on a scale that all columns share."""
    low, high = np.quantile(values, [0.1, 0.9])
    counts = np.bincount(bins, minlength=n_bins)
    # Toward the overall mean where a bin has few rows, which say little.
    sums = np.bincount(bins, values[is_known], minlength=n_bins) + 5 * values.mean()
    means = sums / (counts + 5)
    heights = np.clip((means - low) / max(float(high - low), 1e-300), 0, 1)
    step = WIDTH / n_bins
    places = [
        f"{(k + 0.5) * step:.0f} {HEIGHT - 2 - heights[k] * (HEIGHT - 4):.0f}"
        for k in range(n_bins)
    ]
    return "M" + "L".join(places)


def _area(heights: FloatArray) -> str:
    """Return the outline of bars, as an SVG path."""
    edges = np.round(np.linspace(0, WIDTH, len(heights) + 1)).astype(int)
    tops = np.round(HEIGHT - heights * (HEIGHT - 2)).astype(int)
    path, last = f"M0 {HEIGHT}", HEIGHT
    for top, stop in zip(tops.tolist(), edges[1:].tolist(), strict=True):
        path += (f"V{top}" if top != last else "") + f"H{stop}"
        last = top
    return f"{path}V{HEIGHT}Z"


def _number(value: float, kind: str) -> str:
    """Return a number, or a date, as it stands at an axis."""
    if kind == "date":
        return str(np.datetime64(int(value), "s").astype("datetime64[D]"))
    is_long = 1e4 <= abs(value) < 1e15
    return (f"{value:,.0f}" if is_long else f"{value:.4g}").replace("-", "−")


def _cut(name: str) -> str:
    """Return a level on one line, not too long."""
    name = " ".join(name.split())
    return name if len(name) <= _LONGEST_LEVEL else f"{name[: _LONGEST_LEVEL - 1]}…"
