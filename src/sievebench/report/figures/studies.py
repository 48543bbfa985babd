"""Figures of the other studies: predictive power, seconds, the balance λ."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featuresieve.plotting import FAINT, INK, PALETTE
from sievebench.analysis import (
    balance_influence,
    predictive_power,
    scaling_exponents,
    scaling_times,
)
from sievebench.labels import DOWNSTREAM_LABELS, SCENARIO_LABELS, selector_label
from sievebench.report.figures.canvas import (
    Drawing,
    colour_and_marker,
    name_rows,
    new_figure,
    plot_means,
    put_legend,
)
from sievebench.report.material import ReportData
from sievebench.report.paper import paper_statement

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_ACROSS = 4
_MOST_TICKS = 8


def power_drawings(material: ReportData) -> Iterator[Drawing]:
    """Yield what the score loses, a panel for each scenario and downstream."""
    data = predictive_power(material.runs)
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
        caption="Mean over seeds, kept columns and tables, with the standard "
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
    times = scaling_times(material.runs)
    if times.empty:
        return
    exponents = scaling_exponents(material.runs).set_index("selector")
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
    data = balance_influence(material.runs)
    panels = list(data.groupby(["scenario", "dataset"], sort=False))
    for start in range(0, len(panels), _MOST_ACROSS):
        chosen = panels[start : start + _MOST_ACROSS]
        n = len(chosen)
        figure, axes = new_figure(1.6 + 2.3 * n, 4.2, 2, n, sharex="col")
        for k, ((scenario, dataset), part) in enumerate(chosen):
            above, below = axes[k], axes[n + k]
            _balance_lines(above, part, "score")
            _balance_lines(below, part, "n_kept")
            label = material.dataset_label(dataset)
            above.set_title(f"{label}, {SCENARIO_LABELS[scenario].lower()}")
            below.set_ylim(bottom=0)
            below.set_xlabel("balance λ")
        axes[0].set_ylabel("test score")
        axes[n].set_ylabel("columns kept")
        put_legend(figure, axes[0])
        number = f"-{start // _MOST_ACROSS + 1}" if len(panels) > _MOST_ACROSS else ""
        yield Drawing(
            name=f"balance{number}",
            title="Influence of the balance λ",
            caption="Mean over seeds with standard deviation; the values of λ are "
            "evenly spaced.",
            figure=figure,
        )


def _balance_lines(ax: "Axes", part: pd.DataFrame, what: str) -> None:
    """Draw one line for each selector."""
    balances = sorted(set(part["balance"]))
    tick = {balance: i for i, balance in enumerate(balances)}
    ticked = part.assign(tick=part["balance"].map(tick))
    for k, (selector, rows) in enumerate(ticked.groupby("selector", sort=False)):
        label = selector_label(str(selector))
        plot_means(ax, "tick", rows, what, label, **colour_and_marker(k))
    ax.set_xticks(range(len(balances)), [f"{balance:g}" for balance in balances])
