"""How many columns AutoNFS keeps, ours and the paper's."""

import numpy as np

from sievebench.labels import SCENARIO_LABELS, selector_label
from sievebench.report.figures.canvas import (
    FAINT,
    INK,
    MARKERS,
    PALETTE,
    Drawing,
    new_figure,
)
from sievebench.report.material import PAPER_SCENARIOS, Material
from sievebench.report.paper import paper_counts


def count_drawings(material: Material) -> list[Drawing]:
    """Return one figure, a panel for each scenario."""
    scenarios = [s for s in material.scenarios if s in PAPER_SCENARIOS]
    if not scenarios or not material.own_selectors:
        return []
    datasets = material.datasets
    figure, axes = new_figure(
        *(1.3 + 2.2 * len(scenarios), 1.1 + 0.32 * len(datasets)),
        *(1, len(scenarios)),
        sharey=True,
        sharex=True,
    )
    places = np.arange(len(datasets))
    n_original = material.cells.groupby("dataset")["n_original"].max()[datasets]
    for ax, scenario in zip(axes, scenarios, strict=True):
        ax.axvline(1, color=FAINT, linestyle="--", linewidth=1)
        kept = material.wide(scenario, "n_kept_mean")
        for k, selector in enumerate(material.own_selectors):
            if selector not in kept.index:
                continue
            shares = kept.loc[selector].reindex(datasets) / n_original
            offset = 0.16 * (k - (len(material.own_selectors) - 1) / 2)
            ax.plot(
                *(shares.to_numpy(float), places + offset),
                color=PALETTE[k % len(PALETTE)],
                marker=MARKERS[k % len(MARKERS)],
                linestyle="",
                markersize=5.5,
                label=selector_label(selector),
            )
        theirs = paper_counts()[scenario].reindex(datasets) / n_original
        ax.plot(
            *(theirs.to_numpy(float), places),
            *("|",),
            color=INK,
            markersize=11,
            markeredgewidth=1.6,
            label="the paper",
        )
        ax.set_title(SCENARIO_LABELS[scenario])
        ax.set_xlim(left=0)
        ax.grid(axis="y", color=FAINT, linewidth=0.5)
        ax.set_axisbelow(True)
        ax.tick_params(axis="y", length=0)
    axes[0].set_yticks(places, [material.dataset_label(d) for d in datasets])
    axes[0].invert_yaxis()
    figure.supxlabel("columns kept / columns before the scenario", fontsize=9)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=5)
    return [
        Drawing(
            name="counts",
            title="Columns that AutoNFS keeps",
            caption="Mean over seeds, as a share of the columns before the scenario "
            "(dashed line). Every other selector keeps that many.",
            figure=figure,
        )
    ]
