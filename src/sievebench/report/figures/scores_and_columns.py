"""Score against the number of columns kept, a panel for each table."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featuresieve.plotting import FAINT, PALE_INK, PALETTE
from sievebench.labels import scenario_title, selector_label
from sievebench.report.figures.canvas import (
    MARKERS,
    Drawing,
    hide_unused,
    new_figure,
    put_legend,
)
from sievebench.report.material import ReportData

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_N_ACROSS = 4


def score_drawings(material: ReportData) -> list[Drawing]:
    """Return one figure a scenario."""
    return [_drawing(material, scenario) for scenario in material.scenarios]


def _drawing(material: ReportData, scenario: str) -> Drawing:
    """Return the panels of one scenario."""
    cells = material.cells[
        (material.cells["scenario"] == scenario)
        & (material.cells["downstream"] == material.downstream)
    ]
    datasets = list(dict.fromkeys(cells["dataset"]))
    n_across = min(_N_ACROSS, len(datasets))
    n_down = -(-len(datasets) // n_across)
    figure, axes = new_figure(
        0.9 + 2.1 * n_across, 0.7 + 1.9 * n_down, n_down, n_across
    )
    for ax, dataset in zip(axes, datasets, strict=False):
        part = cells[cells["dataset"] == dataset]
        _panel(ax, part, material.own_selectors)
        ax.set_title(material.dataset_label(dataset))
    hide_unused(axes, len(datasets))
    figure.supxlabel("columns kept", fontsize=9)
    figure.supylabel("test score", fontsize=9)
    put_legend(figure, axes[0])
    return Drawing(
        name=f"score-and-columns-{scenario}",
        title=f"{scenario_title(scenario)}: score and columns kept",
        caption="One point a selector, mean over seeds, with its standard deviation. "
        "The dashed line is the number of columns before the scenario, to which the "
        "other selectors are held.",
        figure=figure,
    )


def _panel(ax: "Axes", part: pd.DataFrame, own: list[str]) -> None:
    """Draw the selectors of one table."""
    ax.axvline(part["n_original"].max(), color=FAINT, linewidth=1, linestyle="--")
    others = part[~part["selector"].isin([*own, "none"])]
    known = others["score_mean"].notna()
    _points(ax, others[known], PALE_INK, "o", "other selectors", size=3.5, alpha=0.55)
    _points(
        ax, part[part["selector"] == "none"], PALETTE[-1], "x", selector_label("none")
    )
    for place, selector in enumerate(own):
        colour = PALETTE[place % len(PALETTE)]
        marker = MARKERS[place % len(MARKERS)]
        chosen = part[part["selector"] == selector]
        _points(ax, chosen, colour, marker, selector_label(selector))
    ax.margins(x=0.08, y=0.12)
    ax.set_xlim(left=0)


def _points(
    ax: "Axes",
    part: pd.DataFrame,
    colour: str,
    marker: str,
    label: str,
    size: float = 5.5,
    alpha: float = 1.0,
) -> None:
    """Draw some selectors with one marker."""
    ax.errorbar(
        part["n_kept_mean"].to_numpy(float),
        part["score_mean"].to_numpy(float),
        yerr=np.nan_to_num(part["score_std"].to_numpy(float)),
        fmt=marker,
        color=colour,
        markersize=size,
        markeredgewidth=1.4 if marker == "x" else 0,
        elinewidth=0.9,
        alpha=alpha,
        label=label,
    )
