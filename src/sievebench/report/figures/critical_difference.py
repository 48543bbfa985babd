"""The critical-difference diagram of Demšar (2006)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from featuresieve.plotting import INK, PALE_INK, PALETTE
from sievebench import analysis
from sievebench.labels import scenario_title, selector_label
from sievebench.report.figures.canvas import Drawing, new_figure
from sievebench.report.report_data import ReportData

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BLUE, _ORANGE = PALETTE[:2]
_WIDTH = 7.6
_LINE = 0.24  # inches between two names
_BAR = 0.11  # and between two bars


def drawings(results: ReportData) -> Iterator[Drawing]:
    """Yield one diagram a scenario, over the complete cases that keep more scores."""
    for scenario in results.scenarios:
        scores = results.ranked(scenario)
        kinds = analysis.complete_datasets(scores), analysis.complete_selectors(scores)
        complete = max(kinds, key=lambda cases: cases.size)
        if min(complete.shape) < 2:
            continue
        left_out = [selector_label(s) for s in scores.index if s not in complete.index]
        missing = f" Left out for want of a score: {', '.join(left_out)}."
        n_selectors, n_datasets = complete.shape
        yield Drawing(
            name=f"critical-difference-{scenario}",
            title=f"{scenario_title(scenario)}: mean ranks",
            caption=f"Mean rank of {n_selectors} selectors on {n_datasets} tables, 1 "
            "is best. Bars join selectors that Nemenyi's test cannot tell apart at "
            f"0.05.{missing if left_out else ''}",
            figure=_rank_diagram(analysis.rank_scores(complete)),
        )


def _rank_diagram(ranks: pd.DataFrame) -> "Figure":
    """Draw mean ranks on a line, names at both sides, bars over those alike."""
    means = ranks.mean(axis=1).sort_values(kind="stable")
    difference = analysis.critical_difference(*ranks.shape)
    groups = analysis.groups_alike(means, difference)
    n_left = (len(means) + 1) // 2
    height = 0.75 + _BAR * len(groups) + _LINE * n_left + 0.2
    figure, (ax,) = new_figure(_WIDTH, height)
    ax.set_axis_off()
    # Down the page in inches, along it in ranks.
    low, high = 1.0, float(len(means))
    # Names of nine points are at most 0.08 inches a letter; the lines need some more.
    longest = max(len(selector_label(str(name))) for name in means.index)
    names = 0.08 * (longest + 8)
    margin = (high - low) * names / (_WIDTH - 2 * names)
    ax.set_xlim(low - margin, high + margin)
    ax.set_ylim(height - 0.1, 0)
    _scale(ax, low, high, difference)
    first_bar = 0.75
    for k, group in enumerate(groups):
        y = first_bar + _BAR * k
        ends = means[group[0]] - 0.06, means[group[-1]] + 0.06
        ax.plot(ends, (y, y), color=INK, linewidth=3, solid_capstyle="round")
    top = first_bar + _BAR * len(groups) + 0.1
    _names(ax, means[:n_left], top, low - 0.06 * (high - low), "right")
    _names(ax, means[n_left:][::-1], top, high + 0.06 * (high - low), "left")
    return figure


def _scale(ax: "Axes", low: float, high: float, difference: float) -> None:
    """Draw the line of ranks, and the critical difference above it."""
    line = 0.6
    ax.plot((low, high), (line, line), color=PALE_INK, linewidth=1)
    for rank in np.arange(low, high + 0.5):
        ax.plot((rank, rank), (line - 0.06, line), color=PALE_INK, linewidth=1)
        ax.text(rank, line - 0.09, f"{rank:.0f}", ha="center", va="bottom", fontsize=8)
    # On few tables no difference is large enough: the bar would leave the figure.
    is_beyond = low + difference > high
    end = high if is_beyond else low + difference
    ax.plot((low, end), (0.22, 0.22), color=_ORANGE, linewidth=2)
    for x in (low,) if is_beyond else (low, end):
        ax.plot((x, x), (0.17, 0.27), color=_ORANGE, linewidth=2)
    text = f"critical difference {difference:.2f}"
    if is_beyond:
        _beside(ax, low, 0.08, f"{text}, beyond the scale", "left", _ORANGE)
    else:
        _beside(ax, end, 0.22, text, "left", _ORANGE)


def _beside(
    ax: "Axes", x: float, y: float, text: str, side: str, colour: str, **style: Any
) -> None:
    """Write text a little beside a point; spaces at its ends would be lost in SVG."""
    ax.annotate(
        *(text, (x, y)),
        xytext=(6 if side == "left" else -6, 0),
        textcoords="offset points",
        ha=side,
        va="center",
        color=colour,
        annotation_clip=False,
        **style,
    )


def _names(ax: "Axes", means: Any, top: float, edge: float, side: str) -> None:
    """Write names and ranks beside the line, each with a line to its rank."""
    for k, (selector, rank) in enumerate(means.items()):
        y = top + _LINE * (k + 0.5)
        is_own = str(selector).startswith("autonfs")
        colour = _BLUE if is_own else INK
        ax.plot(
            (rank, rank, edge),
            (0.6, y, y),
            color=_BLUE if is_own else PALE_INK,
            linewidth=1.6 if is_own else 0.8,
            zorder=3 if is_own else 1,
        )
        label = selector_label(str(selector))
        # An en space: ordinary ones in a row are drawn as one.
        pair = (label, f"{rank:.1f}") if side == "right" else (f"{rank:.1f}", label)
        weight = "bold" if is_own else "normal"
        _beside(ax, edge, y, "\u2002".join(pair), side, colour, weight=weight)
