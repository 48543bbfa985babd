"""Figures of the benchmark: scores and columns kept, ours and the paper's counts."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from featuresieve.plotting import FAINT, INK, PALE_INK, PALETTE
from sievebench.labels import SCENARIO_LABELS, scenario_title, selector_label
from sievebench.report.figures.canvas import (
    Drawing,
    colour_and_marker,
    name_rows,
    new_figure,
    plot_means,
    put_legend,
)
from sievebench.report.material import ReportData
from sievebench.report.paper import paper_counts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_ACROSS = 4


def score_drawings(material: ReportData) -> Iterator[Drawing]:
    """Yield score against columns kept, one figure a scenario, a panel a table."""
    for scenario in material.scenarios:
        cells = material.cells_of(scenario)
        datasets = list(dict.fromkeys(cells["dataset"]))
        n_across = min(_MOST_ACROSS, len(datasets))
        n_down = -(-len(datasets) // n_across)
        figure, axes = new_figure(
            0.9 + 2.1 * n_across, 0.7 + 1.9 * n_down, n_down, n_across
        )
        for ax, dataset in zip(axes, datasets, strict=False):
            part = cells[cells["dataset"] == dataset]
            _score_panel(ax, part, material.own_selectors)
            ax.set_title(material.dataset_label(dataset))
        for ax in axes[len(datasets) :]:
            ax.set_axis_off()
        figure.supxlabel("columns kept", fontsize=9)
        figure.supylabel("test score", fontsize=9)
        put_legend(figure, axes[0])
        yield Drawing(
            name=f"score-and-columns-{scenario}",
            title=f"{scenario_title(scenario)}: score and columns kept",
            caption="One point a selector, mean over seeds, with its standard "
            "deviation. The dashed line is the number of columns before the scenario, "
            "to which the other selectors are held.",
            figure=figure,
        )


def _score_panel(ax: "Axes", part: pd.DataFrame, own: list[str]) -> None:
    """Draw the selectors of one table."""

    def points(chosen: pd.DataFrame, label: str, **style: Any) -> None:
        look = {"markersize": 5.5, "markeredgewidth": 0, "elinewidth": 0.9, **style}
        plot_means(ax, "n_kept_mean", chosen, "score", label, linestyle="", **look)

    ax.axvline(part["n_original"].max(), color=FAINT, linewidth=1, linestyle="--")
    is_other = ~part["selector"].isin([*own, "none"]) & part["score_mean"].notna()
    pale = {"color": PALE_INK, "marker": "o", "markersize": 3.5, "alpha": 0.55}
    points(part[is_other], "other selectors", **pale)
    cross = {"color": PALETTE[-1], "marker": "x", "markeredgewidth": 1.4}
    points(part[part["selector"] == "none"], selector_label("none"), **cross)
    for k, selector in enumerate(own):
        chosen = part[part["selector"] == selector]
        points(chosen, selector_label(selector), **colour_and_marker(k))
    ax.margins(x=0.08, y=0.12)
    ax.set_xlim(left=0)


def count_drawings(material: ReportData) -> Iterator[Drawing]:
    """Yield how many columns AutoNFS keeps, a panel for each scenario."""
    scenarios, datasets = material.paper_scenarios, material.datasets
    if not scenarios or not material.own_selectors:
        return
    figure, axes = new_figure(
        *(1.3 + 2.2 * len(scenarios), 1.1 + 0.34 * len(datasets)),
        *(1, len(scenarios)),
        sharey=True,
        sharex=True,
    )
    for ax, scenario in zip(axes, scenarios, strict=True):
        _count_panel(ax, material, scenario)
        ax.set_title(SCENARIO_LABELS[scenario])
    axes[0].set_xlim(left=0)
    name_rows(axes, [material.dataset_label(d) for d in datasets])
    figure.supxlabel("columns kept / columns before the scenario", fontsize=9)
    put_legend(figure, axes[0])
    yield Drawing(
        name="counts",
        title="Columns that AutoNFS keeps",
        caption="Mean over seeds, as a share of the columns before the scenario "
        "(dashed line). The other selectors keep that many, no selection all.",
        figure=figure,
    )


def _count_panel(ax: "Axes", material: ReportData, scenario: str) -> None:
    """Draw one scenario: a row a table, a marker a variant."""
    datasets, own = material.datasets, material.own_selectors
    rows = np.arange(len(datasets))
    n_original = material.cells.groupby("dataset")["n_original"].max()[datasets]
    kept = material.wide(scenario, "n_kept_mean").reindex(own)
    ax.axvline(1, color=FAINT, linestyle="--", linewidth=1)
    for k, selector in enumerate(own):
        shares = kept.loc[selector].reindex(datasets) / n_original
        ax.plot(
            *(shares.to_numpy(float), rows + 0.16 * (k - (len(own) - 1) / 2)),
            **colour_and_marker(k),
            linestyle="",
            markersize=5.5,
            label=selector_label(selector),
        )
    theirs = paper_counts()[scenario].reindex(datasets) / n_original
    if theirs.notna().any():
        ax.plot(
            *(theirs.to_numpy(float), rows, "|"),
            color=INK,
            markersize=11,
            markeredgewidth=1.6,
            label="the paper",
        )
