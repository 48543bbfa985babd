"""Where the marks of a chart stand; the templates draw them as SVG."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featuresieve.problem import FloatArray

# Width of all charts, in units of which one is about a pixel.
WIDTH = 460
_LEFT, _RIGHT = 52, 14
# Half of an interval of 95 %, in standard errors.
HALF = 1.96
_MOST_BARS = 100
# So many columns without a vote are shown, to see where the votes end.
_ENDING = 3
_MOST_LABELS = 9
# Letters of a name in the table of correlations.
_LONGEST = 23


@dataclass(frozen=True)
class Scale:
    """Values become places."""

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, value: float) -> float:
        """Return the place of a value, to a tenth of a pixel."""
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return round(self.start + share * (self.stop - self.start), 1)

    def ticks(self, *, is_share: bool) -> list[tuple[float, str]]:
        """Return places and labels of round values."""
        rough = (self.high - self.low) / 5 or 1.0  # about five of them
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(f * power for f in (1, 2, 2.5, 5, 10) if f * power >= rough * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        form = ".3g"
        if is_share:  # as many decimals as tell neighbours apart
            form = f".{max(0, math.ceil(-math.log10(step * 100) - 1e-9))}%"
            form = ".1%" if 0.024 < step < 0.026 else form
        values = [round(k * step, 12) + 0.0 for k in range(first, last + 1)]
        return [(self(v), format(v, form).replace("-", "−")) for v in values]


def interval_chart(
    rows: Sequence[tuple[str, float, float]], texts: Sequence[str]
) -> dict[str, Any]:
    """Place a dot and its interval of 95 % for each (label, value, standard error)."""
    low = min(value - HALF * error for _, value, error in rows)
    high = max(value + HALF * error for _, value, error in rows)
    margin = 0.12 * (high - low) or 0.05
    scale = Scale(low - margin, high + margin, 16, WIDTH - 16)
    marks = [
        {
            "label": label,
            "text": texts[index],
            "at": scale(value),
            "from": scale(value - HALF * error),
            "to": scale(value + HALF * error),
            "y": 34 + 52 * index,
        }
        for index, (label, value, error) in enumerate(rows)
    ]
    bottom = 34 + 52 * len(rows) - 20
    ticks = scale.ticks(is_share="%" in texts[0])
    return {"marks": marks, "ticks": ticks, "bottom": bottom, "height": bottom + 26}


def path_chart(
    sizes: Sequence[int], gains: FloatArray, errors: FloatArray, chosen: int | None
) -> dict[str, Any]:
    """Place the candidate sets: gain by size, the sizes evenly spaced."""
    low, high = float((gains - errors).min()), float((gains + errors).max())
    margin = 0.1 * (high - low) or 0.05
    top, bottom = 16, 214
    y = Scale(low - margin, min(high + margin, max(1.0, high)), bottom, top)
    x = Scale(-0.5, len(sizes) - 0.5, _LEFT, WIDTH - _RIGHT)
    every = math.ceil(len(sizes) / _MOST_LABELS)
    marks = [
        {
            "x": x(k),
            "y": y(gains[k]),
            "low": y(gains[k] - errors[k]),
            "high": y(gains[k] + errors[k]),
            "size": int(sizes[k]),
            "gain": f"{gains[k]:.1%} ± {errors[k]:.1%}",
            "is_chosen": k == chosen,
            # No nearer to the label of the chosen set than to others.
            "is_named": k == chosen
            or (k % every == 0 and (chosen is None or abs(k - chosen) >= every)),
        }
        for k in range(len(sizes))
    ]
    line = "M" + "L".join(f"{mark['x']} {mark['y']}" for mark in marks)
    return {
        "marks": marks,
        "line": line,
        "ticks": y.ticks(is_share=True),
        "bottom": bottom,
    }


def votes_chart(
    frequency: FloatArray, is_kept: Sequence[bool], names: Sequence[str], share: float
) -> dict[str, Any]:
    """Place one bar for each of the best ranked columns."""
    last = int(np.flatnonzero((frequency > 0) | np.asarray(is_kept))[-1])
    n = min(len(frequency), last + 1 + _ENDING, _MOST_BARS)
    top, bottom = 16, 214
    y = Scale(0.0, min(1.0, 1.1 * max(frequency.max(), share)), bottom, top)
    x = Scale(0, n, _LEFT, WIDTH - _RIGHT)
    gap = min(3.0, 0.25 * (x(1) - x(0)))
    bars = [
        {
            "x": round(x(k) + gap / 2, 1),
            "width": round(x(k + 1) - x(k) - gap, 1),
            "y": y(frequency[k]),
            "height": round(bottom - y(frequency[k]), 1),
            "is_kept": bool(is_kept[k]),
            "title": f"{k + 1}. {names[k]}: {frequency[k]:.0%}",
        }
        for k in range(n)
    ]
    return {
        "bars": bars,
        "n_shown": n,
        "share": y(share),
        "share_text": f"{share:.0%}",
        "ticks": y.ticks(is_share=True),
        "left": _LEFT,
        "right": WIDTH - _RIGHT,
    }


def heat_map(
    rows: Sequence[str], columns: Sequence[str], values: FloatArray, n_kept: int
) -> dict[str, Any]:
    """Place the cells of a table of correlations; the first columns are kept ones."""
    cell, gap = 26, 12
    left = 20 + 6.6 * min(_LONGEST, max(map(len, rows)))
    top = 18 + 5.4 * min(_LONGEST, max(map(len, columns)))
    xs = [left + cell * k + (gap if k >= n_kept else 0) for k in range(len(columns))]
    cells = [
        {
            "x": round(xs[k], 1),
            "y": round(top + cell * j, 1),
            "opacity": round(min(1.0, abs(value)), 2),
            "is_negative": bool(value < 0),
            "text": f"{value:.1f}".replace("-", "−").replace("0.", ".")
            if abs(value) >= 0.25 and j != k
            else "",
            "is_strong": abs(value) > 0.55,
            "title": f"{rows[j]}, {columns[k]}: {value:+.2f}".replace("-", "−"),
        }
        for j in range(len(rows))
        for k, value in enumerate(np.asarray(values)[j].tolist())
    ]
    return {
        "cells": cells,
        "cell": cell,
        "rows": [(top + cell * j, name) for j, name in enumerate(rows)],
        "columns": list(zip(xs, columns, strict=True)),
        "longest": _LONGEST,
        "n_kept": n_kept,
        "left": left,
        "top": top,
        "width": round(xs[-1] + cell + 0.7 * top),
        "height": round(top + cell * len(rows) + 8),
    }
