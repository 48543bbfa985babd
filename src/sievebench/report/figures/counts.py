"""How many columns AutoNFS keeps, ours and the paper's."""

from typing import TYPE_CHECKING

import numpy as np

from featuresieve.plotting import FAINT, INK, PALETTE
from sievebench.labels import SCENARIO_LABELS, selector_label
from sievebench.report.figures.canvas import MARKERS, Drawing, new_figure, put_legend
from sievebench.report.material import PAPER_SCENARIOS, ReportData
from sievebench.report.paper import paper_counts

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def count_drawings(material: ReportData) -> list[Drawing]:
    """Return one figure, a panel for each scenario."""
    scenarios = [s for s in material.scenarios if s in PAPER_SCENARIOS]
    if not scenarios or not material.own_selectors:
        return []
    datasets = material.datasets
    figure, axes = new_figure(
        *(1.3 + 2.2 * len(scenarios), 1.1 + 0.34 * len(datasets)),
        *(1, len(scenarios)),
        sharey=True,
        sharex=True,
    )
    for ax, scenario in zip(axes, scenarios, strict=True):
        _panel(ax, material, scenario)
        ax.set_title(SCENARIO_LABELS[scenario])
    axes[0].set_xlim(left=0)
    axes[0].set_yticks(
        range(len(datasets)), [material.dataset_label(d) for d in datasets]
    )
    axes[0].set_ylim(len(datasets) - 0.5, -0.5)  # the first on top, none cut off
    figure.supxlabel("columns kept / columns before the scenario", fontsize=9)
    put_legend(figure, axes[0])
    return [
        Drawing(
            name="counts",
            title="Columns that AutoNFS keeps",
            caption="Mean over seeds, as a share of the columns before the scenario "
            "(dashed line). The other selectors keep that many, no selection all.",
            figure=figure,
        )
    ]


def _panel(ax: "Axes", material: ReportData, scenario: str) -> None:
    """Draw one scenario: a row a table, a marker a variant."""
    datasets, own = material.datasets, material.own_selectors
    places = np.arange(len(datasets))
    n_original = material.cells.groupby("dataset")["n_original"].max()[datasets]
    kept = material.wide(scenario, "n_kept_mean").reindex(own)
    ax.axvline(1, color=FAINT, linestyle="--", linewidth=1)
    for k, selector in enumerate(own):
        shares = kept.loc[selector].reindex(datasets) / n_original
        ax.plot(
            *(shares.to_numpy(float), places + 0.16 * (k - (len(own) - 1) / 2)),
            color=PALETTE[k % len(PALETTE)],
            marker=MARKERS[k % len(MARKERS)],
            linestyle="",
            markersize=5.5,
            label=selector_label(selector),
        )
    theirs = paper_counts()[scenario].reindex(datasets) / n_original
    if theirs.notna().any():
        ax.plot(
            *(theirs.to_numpy(float), places, "|"),
            color=INK,
            markersize=11,
            markeredgewidth=1.6,
            label="the paper",
        )
    ax.grid(axis="y", color=FAINT, linewidth=0.5)
    ax.set_axisbelow(True)
    ax.tick_params(axis="y", length=0)
