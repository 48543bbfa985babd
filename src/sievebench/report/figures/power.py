"""What the score loses without one kept column."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featuresieve.plotting import FAINT, INK, PALETTE
from sievebench.analysis import predictive_power
from sievebench.labels import DOWNSTREAM_LABELS, SCENARIO_LABELS, selector_label
from sievebench.report.figures.canvas import MARKERS, Drawing, new_figure, put_legend
from sievebench.report.material import ReportData
from sievebench.report.paper import paper_statement

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_REMOVALS = ("retrained", "imputed")


def power_drawings(material: ReportData) -> list[Drawing]:
    """Return one figure, a panel for each scenario and downstream."""
    data = predictive_power(material.runs)
    if data.empty:
        return []
    panels = list(data.groupby(["scenario", "downstream"], sort=False))
    names = list(dict.fromkeys(data["selector"]))
    figure, axes = new_figure(
        *(1.6 + 2.6 * len(panels), 1.3 + 0.34 * len(names)),
        *(1, len(panels)),
        sharey=True,
    )
    for ax, ((scenario, downstream), part) in zip(axes, panels, strict=True):
        _panel(ax, part, names, paper_statement(f"predictive power, {scenario}"))
        predictor = DOWNSTREAM_LABELS.get(downstream, downstream)
        ax.set_title(f"{SCENARIO_LABELS[scenario]}, {predictor}")
    axes[0].set_yticks(range(len(names)), [selector_label(name) for name in names])
    axes[0].set_ylim(len(names) - 0.5, -0.5)  # the first on top, none cut off
    figure.supxlabel("score lost without one column, percentage points", fontsize=9)
    put_legend(figure, axes[0])
    return [
        Drawing(
            name="power",
            title="Score lost without one kept column",
            caption="Mean over seeds, kept columns and tables, with the standard "
            "deviation over the tables. The paper's value is AutoNFS's.",
            figure=figure,
        )
    ]


def _panel(ax: "Axes", part: pd.DataFrame, names: list[str], stated: float) -> None:
    """Draw a row a selector, a marker a way to leave a column out."""
    ax.axvline(0, color=FAINT, linewidth=1)
    for k, removal in enumerate(_REMOVALS):
        rows = part[part["removal"] == removal].set_index("selector").reindex(names)
        ax.errorbar(
            rows["drop"].to_numpy(float),
            np.arange(len(names)) + 0.24 * (k - 0.5),
            xerr=np.nan_to_num(rows["drop_std"].to_numpy(float)),
            color=PALETTE[k],
            marker=MARKERS[k],
            markersize=5,
            linestyle="",
            elinewidth=1,
            label=removal,
        )
    if not np.isnan(stated):
        ax.axvline(stated, color=INK, linestyle="--", linewidth=1, label="the paper")
    ax.grid(axis="y", color=FAINT, linewidth=0.5)
    ax.set_axisbelow(True)
    ax.tick_params(axis="y", length=0)
