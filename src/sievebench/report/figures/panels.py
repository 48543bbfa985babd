"""Figures of the benchmark and of the smaller studies."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from featuresieve.plotting import FAINT, INK, PALE_INK, PALETTE
from sievebench import analysis
from sievebench.labels import (
    DOWNSTREAM_LABELS,
    SCENARIO_LABELS,
    scenario_title,
    selector_label,
)
from sievebench.report.field_tables import default_choices
from sievebench.report.figures.canvas import (
    Drawing,
    colour_and_marker,
    name_rows,
    new_figure,
    plot_means,
    put_legend,
)
from sievebench.report.material import ReportData
from sievebench.report.paper import paper_counts, paper_statement

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_ACROSS = 4
_MOST_TICKS = 8


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


def power_drawings(material: ReportData) -> Iterator[Drawing]:
    """Yield what the score loses, a panel for each scenario and downstream."""
    data = analysis.predictive_power(material.runs)
    if data.empty:
        return
    panels = list(data.groupby(["scenario", "downstream"], sort=False))
    names = list(dict.fromkeys(data["selector"]))
    figure, axes = new_figure(
        *(1.6 + 2.6 * len(panels), 1.3 + 0.34 * len(names)),
        *(1, len(panels)),
        sharey=True,
    )
    for ax, ((scenario, downstream), part) in zip(axes, panels, strict=True):
        _power_panel(ax, part, names, paper_statement(f"predictive power, {scenario}"))
        predictor = DOWNSTREAM_LABELS.get(downstream, downstream)
        ax.set_title(f"{SCENARIO_LABELS[scenario]}, {predictor}")
    name_rows(axes, [selector_label(name) for name in names])
    figure.supxlabel("score lost without one column, percentage points", fontsize=9)
    put_legend(figure, axes[0])
    yield Drawing(
        name="power",
        title="Score lost without one kept column",
        caption="Mean over kept columns, seeds and tables, with the standard "
        "deviation over the tables. The paper's value is AutoNFS's.",
        figure=figure,
    )


def _power_panel(
    ax: "Axes", part: pd.DataFrame, names: list[str], stated: float
) -> None:
    """Draw a row a selector, a marker a way to leave a column out."""
    ax.axvline(0, color=FAINT, linewidth=1)
    for k, removal in enumerate(("retrained", "imputed")):
        rows = part[part["removal"] == removal].set_index("selector").reindex(names)
        ax.errorbar(
            rows["drop"].to_numpy(float),
            np.arange(len(names)) + 0.24 * (k - 0.5),
            xerr=np.nan_to_num(rows["drop_std"].to_numpy(float)),
            **colour_and_marker(k),
            markersize=5,
            linestyle="",
            elinewidth=1,
            label=removal,
        )
    if not np.isnan(stated):
        ax.axvline(stated, color=INK, linestyle="--", linewidth=1, label="the paper")


def scaling_drawings(material: ReportData) -> Iterator[Drawing]:
    """Yield seconds against the number of columns, a line for each selector."""
    times = analysis.scaling_times(material.runs)
    if times.empty:
        return
    exponents = analysis.scaling_exponents(material.runs).set_index("selector")
    figure, (ax,) = new_figure(7.0, 3.8)
    # AutoNFS first: it is blue in every figure.
    names = sorted(
        times["selector"].unique(), key=lambda n: not n.startswith("autonfs")
    )
    for k, selector in enumerate(names):
        row = exponents.loc[selector]
        fit = f": {row['exponent']:.3f} ± {row['error']:.3f}"
        label = selector_label(selector) + ("" if np.isnan(row["exponent"]) else fit)
        plot_means(
            *(ax, "n_features", times[times["selector"] == selector], "seconds", label),
            **colour_and_marker(k),
            linestyle="-" if k < len(PALETTE) else "--",
        )
    ax.set_xscale("log")
    ax.set_yscale("log")
    widths = sorted(set(times["n_features"]))
    shown = widths[:: -(-len(widths) // _MOST_TICKS)]
    ax.set_xticks(shown, [f"{width:.0f}" for width in shown])
    ax.set_xticks([], minor=True)
    ax.set_xlabel("columns")
    ax.set_ylabel("seconds of one fit")
    figure.legend(loc="outside right upper", title="exponent ± error", alignment="left")
    yield Drawing(
        name="scaling",
        title="Seconds against columns",
        caption="Mean over runs with standard deviation, both axes logarithmic. "
        "The exponent is the slope; a flat line may be overhead.",
        figure=figure,
    )


def balance_drawings(material: ReportData) -> Iterator[Drawing]:
    """Yield figures with the score above the columns, a pair for each table."""
    data = analysis.balance_influence(material.runs)
    panels = list(data.groupby(["scenario", "dataset"], sort=False))
    for start in range(0, len(panels), _MOST_ACROSS):
        chosen = panels[start : start + _MOST_ACROSS]
        n = len(chosen)
        figure, axes = new_figure(1.6 + 2.3 * n, 4.2, 2, n, sharex="col")
        for k, ((scenario, dataset), part) in enumerate(chosen):
            above, below = axes[k], axes[n + k]
            _balance_lines(above, part, "score")
            _balance_lines(below, part, "n_kept")
            choices = default_choices(material, str(dataset), str(scenario))
            _mark_default(above, below, part, choices)
            label = material.dataset_label(dataset)
            above.set_title(f"{label}, {SCENARIO_LABELS[scenario].lower()}")
            below.set_ylim(bottom=0)
            below.set_xlabel("balance λ")
        axes[0].set_ylabel("test score")
        axes[n].set_ylabel("columns kept")
        put_legend(figure, axes[n])
        number = f"-{start // _MOST_ACROSS + 1}" if len(panels) > _MOST_ACROSS else ""
        yield Drawing(
            name=f"balance{number}",
            title="Influence of the balance λ",
            caption="Mean over seeds with standard deviation; the values of λ are "
            "evenly spaced. The cross is what the default chooses on fresh draws: its "
            "price as a λ, and how many columns it keeps.",
            figure=figure,
        )


def _balance_lines(ax: "Axes", part: pd.DataFrame, what: str) -> None:
    balances = sorted(set(part["balance"]))
    tick = {balance: i for i, balance in enumerate(balances)}
    ticked = part.assign(tick=part["balance"].map(tick))
    for k, (selector, rows) in enumerate(ticked.groupby("selector", sort=False)):
        label = selector_label(str(selector))
        plot_means(ax, "tick", rows, what, label, **colour_and_marker(k))
    ax.set_xticks(range(len(balances)), [f"{balance:g}" for balance in balances])


def _mark_default(
    above: "Axes", below: "Axes", part: pd.DataFrame, choices: list[tuple[float, int]]
) -> None:
    """Mark the price and the number of columns that the default chooses."""
    if not choices:
        return
    balance, count = np.mean(choices, axis=0)
    known = sorted(balance for balance in set(part["balance"]) if balance > 0)
    n_below = len(set(part["balance"])) - len(known)
    at = n_below + np.interp(np.log(balance), np.log(known), range(len(known)))
    for ax in (above, below):
        ax.axvline(at, color=FAINT, linestyle="--", linewidth=1)
    below.plot(at, count, "x", color=INK, markersize=7, label="AutoNFS, auto")
