"""Score and columns kept against the balance λ."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featuresieve.plotting import PALETTE
from sievebench.analysis import balance_influence
from sievebench.labels import SCENARIO_LABELS, selector_label
from sievebench.report.figures.canvas import MARKERS, Drawing, new_figure, put_legend
from sievebench.report.material import ReportData

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_ACROSS = 4


def balance_drawings(material: ReportData) -> list[Drawing]:
    """Return figures with the score above the columns, a pair for each table."""
    data = balance_influence(material.runs)
    keys = list(data.groupby(["scenario", "dataset"], sort=False).groups)
    drawings = []
    for start in range(0, len(keys), _MOST_ACROSS):
        chosen = keys[start : start + _MOST_ACROSS]
        number = start // _MOST_ACROSS + 1
        name = "balance" if len(keys) <= _MOST_ACROSS else f"balance-{number}"
        drawings.append(_drawing(material, data, chosen, name))
    return drawings


def _drawing(
    material: ReportData, data: pd.DataFrame, keys: list[tuple[str, str]], name: str
) -> Drawing:
    """Return the pairs of some tables."""
    n = len(keys)
    figure, axes = new_figure(1.6 + 2.3 * n, 4.2, 2, n, sharex="col")
    for place, (scenario, dataset) in enumerate(keys):
        part = data[(data["scenario"] == scenario) & (data["dataset"] == dataset)]
        above, below = axes[place], axes[n + place]
        _lines(above, part, "score")
        _lines(below, part, "n_kept")
        label = material.dataset_label(dataset)
        above.set_title(f"{label}, {SCENARIO_LABELS[scenario].lower()}")
        below.set_ylim(bottom=0)
        below.set_xlabel("balance λ")
    axes[0].set_ylabel("test score")
    axes[n].set_ylabel("columns kept")
    put_legend(figure, axes[0])
    return Drawing(
        name=name,
        title="Influence of the balance λ",
        caption="Mean over seeds with standard deviation; the values of λ are evenly "
        "spaced.",
        figure=figure,
    )


def _lines(ax: "Axes", part: pd.DataFrame, what: str) -> None:
    """Draw one line for each selector."""
    balances = sorted(set(part["balance"]))
    places = {balance: place for place, balance in enumerate(balances)}
    for k, (selector, rows) in enumerate(part.groupby("selector", sort=False)):
        ax.errorbar(
            rows["balance"].map(places).to_numpy(float),
            rows[f"{what}_mean"].to_numpy(float),
            yerr=np.nan_to_num(rows[f"{what}_std"].to_numpy(float)),
            color=PALETTE[k % len(PALETTE)],
            marker=MARKERS[k % len(MARKERS)],
            markersize=4.5,
            linewidth=1.4,
            label=selector_label(str(selector)),
        )
    ax.set_xticks(range(len(balances)), [f"{balance:g}" for balance in balances])
