"""AutoNFS less each other selector, in three fields, with intervals."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featuresieve.plotting import PALE_INK
from sievebench import analysis
from sievebench.labels import SCENARIO_LABELS, SELECTOR_LABELS, selector_label
from sievebench.report.figures.canvas import (
    Drawing,
    colour_and_marker,
    name_rows,
    new_figure,
    put_legend,
)
from sievebench.report.material import DEFAULT, ReportData
from sievebench.report.versus_tables import beside_others

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def versus_drawings(material: ReportData) -> Iterator[Drawing]:
    """Yield the mean differences of the default to the others, a panel a scenario."""
    fields = _fields(material)
    if not fields:
        return
    every = pd.concat(fields.values())
    scenarios = analysis.ordered(every["scenario"], SCENARIO_LABELS)
    names = analysis.ordered(every["selector"], SELECTOR_LABELS)
    figure, axes = new_figure(
        *(1.6 + 2.2 * len(scenarios), 1.3 + 0.36 * len(names)),
        *(1, len(scenarios)),
        sharey=True,
    )
    for ax, scenario in zip(axes, scenarios, strict=True):
        ax.axvline(0, color=PALE_INK, linewidth=1)
        for k, (label, data) in enumerate(fields.items()):
            rows = data[data["scenario"] == scenario].set_index("selector")
            _draw_field(ax, rows.reindex(names), k, len(fields), label)
        ax.set_title(SCENARIO_LABELS[scenario])
    name_rows(axes, [selector_label(name) for name in names])
    figure.supxlabel("score of AutoNFS, auto, less that of the other", fontsize=9)
    put_legend(figure, axes[0])
    yield Drawing(
        name="versus",
        title="AutoNFS, auto beside each other selector",
        caption="Mean difference over the tables with its 95 % bootstrap interval, not "
        "corrected for the number of selectors. Right of the line AutoNFS is better. "
        "The others keep as many columns as the table had; at the same number, as many "
        "as AutoNFS chose.",
        figure=figure,
    )


def _fields(material: ReportData) -> dict[str, pd.DataFrame]:
    """Return the comparisons that there are, by what they are called."""
    runs = material.runs[material.runs["downstream"] == material.downstream]
    comparison = analysis.matched_comparison(runs, DEFAULT)
    fields = {
        "own search": beside_others(material, DEFAULT),
        "same predictors": beside_others(material.shared, DEFAULT),
        "same predictors and number": analysis.matched_summary(comparison),
    }
    return {
        label: data
        for label, data in fields.items()
        if len(data) and data["mean_difference"].notna().any()
    }


def _draw_field(
    ax: "Axes", rows: pd.DataFrame, k: int, n_fields: int, label: str
) -> None:
    """Draw a row a selector: its mean difference and the interval."""
    means = rows["mean_difference"].to_numpy(float)
    ends = rows[["low", "high"]].to_numpy(float).T
    ax.errorbar(
        means,
        np.arange(len(rows)) + 0.26 * (k - (n_fields - 1) / 2),
        xerr=np.nan_to_num(np.abs(ends - means)),
        **colour_and_marker(k),
        markersize=4.5,
        linestyle="",
        elinewidth=1,
        label=label,
    )
