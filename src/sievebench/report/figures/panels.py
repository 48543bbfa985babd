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
    SELECTOR_LABELS,
    scenario_title,
    selector_label,
)
from sievebench.report.field_tables import default_choices
from sievebench.report.figures import canvas
from sievebench.report.figures.canvas import Drawing, colour_and_marker, plot_means
from sievebench.report.paper import paper_counts, paper_statement
from sievebench.report.rank_tables import beside_others
from sievebench.report.report_data import DEFAULT, ReportData

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_ACROSS = 4
_MOST_TICKS = 8


def score_drawings(results: ReportData) -> Iterator[Drawing]:
    """Yield score against columns kept, one figure a scenario, a panel a table."""
    for scenario in results.scenarios:
        cells = results.cells_of(scenario)
        datasets = list(dict.fromkeys(cells["dataset"]))
        n_across = min(_MOST_ACROSS, len(datasets))
        n_down = -(-len(datasets) // n_across)
        figure, axes = canvas.new_figure(
            0.9 + 2.1 * n_across, 0.7 + 1.9 * n_down, n_down, n_across
        )
        for ax, dataset in zip(axes, datasets, strict=False):
            part = cells[cells["dataset"] == dataset]
            _score_panel(ax, part, results.own_selectors)
            ax.set_title(results.dataset_label(dataset))
        for ax in axes[len(datasets) :]:
            ax.set_axis_off()
        figure.supxlabel("columns kept", fontsize=9)
        figure.supylabel("test score", fontsize=9)
        canvas.put_legend(figure, axes[0])
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


def count_drawings(results: ReportData) -> Iterator[Drawing]:
    """Yield how many columns AutoNFS keeps, a panel for each scenario."""
    scenarios = results.paper_scenarios
    if not scenarios or not results.own_selectors:
        return
    yield canvas.row_panels(
        lambda ax, scenario: _count_panel(ax, results, scenario),
        {SCENARIO_LABELS[scenario]: scenario for scenario in scenarios},
        [results.dataset_label(dataset) for dataset in results.datasets],
        axis="columns kept / columns before the scenario",
        size=(1.3, 2.2, 1.1, 0.34),
        is_from_zero=True,
        name="counts",
        title="Columns that AutoNFS keeps",
        caption="Mean over seeds, as a share of the columns before the scenario "
        "(dashed line). The other selectors keep that many, no selection all.",
    )


def _count_panel(ax: "Axes", results: ReportData, scenario: str) -> None:
    """Draw one scenario: a row a table, a marker a variant."""
    datasets, own = results.datasets, results.own_selectors
    rows = np.arange(len(datasets))
    n_original = results.cells.groupby("dataset")["n_original"].max()[datasets]
    kept = results.wide(scenario, "n_kept_mean").reindex(own)
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


def power_drawings(results: ReportData) -> Iterator[Drawing]:
    """Yield what the score loses, a panel for each scenario and downstream."""
    data = analysis.predictive_power(results.runs)
    if data.empty:
        return
    names = list(data["selector"].unique())
    titles = {
        f"{SCENARIO_LABELS[s]}, {DOWNSTREAM_LABELS.get(d, d)}": (s, part)
        for (s, d), part in data.groupby(["scenario", "downstream"], sort=False)
    }

    def panel(ax: "Axes", chosen: tuple[str, pd.DataFrame]) -> None:
        scenario, part = chosen
        ax.axvline(0, color=FAINT, linewidth=1)
        series = {}
        for removal in ("retrained", "imputed"):
            rows = part[part["removal"] == removal].set_index("selector")
            rows = rows.reindex(names)
            series[removal] = rows["drop"], np.nan_to_num(rows["drop_std"])
        canvas.plot_rows(ax, series, 0.24, markersize=5)
        stated = paper_statement(f"predictive power, {scenario}")
        if not np.isnan(stated):
            ax.axvline(stated, color=INK, ls="--", linewidth=1, label="the paper")

    yield canvas.row_panels(
        panel,
        titles,
        [selector_label(name) for name in names],
        axis="score lost without one column, percentage points",
        size=(1.6, 2.6, 1.3, 0.34),
        name="power",
        title="Score lost without one kept column",
        caption="Mean over kept columns, seeds and tables, with the standard "
        "deviation over the tables. The paper's value is AutoNFS's.",
    )


def versus_drawings(results: ReportData) -> Iterator[Drawing]:
    """Yield the mean differences of the default to the others, a panel a scenario."""
    fields = _fields(results)
    if not fields:
        return
    every = pd.concat(fields.values())
    names = analysis.ordered(every["selector"], SELECTOR_LABELS)

    def panel(ax: "Axes", scenario: str) -> None:
        ax.axvline(0, color=PALE_INK, linewidth=1)
        series = {}
        for label, data in fields.items():
            rows = data[data["scenario"] == scenario].set_index("selector")
            rows = rows.reindex(names)
            means = rows["mean_difference"].to_numpy(float)
            ends = rows[["low", "high"]].to_numpy(float).T
            series[label] = means, np.nan_to_num(np.abs(ends - means))
        canvas.plot_rows(ax, series, 0.26, markersize=4.5)

    scenarios = analysis.ordered(every["scenario"], SCENARIO_LABELS)
    yield canvas.row_panels(
        panel,
        {SCENARIO_LABELS[scenario]: scenario for scenario in scenarios},
        [selector_label(name) for name in names],
        axis="score of AutoNFS, auto, less that of the other",
        size=(1.6, 2.2, 1.3, 0.36),
        name="versus",
        title="AutoNFS, auto beside each other selector",
        caption="Mean difference over the tables with its 95 % bootstrap interval, not "
        "corrected for the number of selectors. Right of the line AutoNFS is better. "
        "The others keep as many columns as the table had; at the same number, as many "
        "as AutoNFS chose.",
    )


def _fields(results: ReportData) -> dict[str, pd.DataFrame]:
    """Return the comparisons that there are, by what they are called."""
    runs = results.runs[results.runs["downstream"] == results.downstream]
    comparison = analysis.matched_comparison(runs, DEFAULT)
    fields = {
        "own search": beside_others(results, DEFAULT),
        "same predictors": beside_others(results.shared, DEFAULT),
        "same predictors and number": analysis.matched_summary(comparison),
    }
    return {
        label: data
        for label, data in fields.items()
        if len(data) and data["mean_difference"].notna().any()
    }


def scaling_drawings(results: ReportData) -> Iterator[Drawing]:
    """Yield seconds against the number of columns, a line for each selector."""
    times = analysis.scaling_times(results.runs)
    if times.empty:
        return
    exponents = results.exponents.set_index("selector")
    figure, (ax,) = canvas.new_figure(7.0, 3.8)
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
    widths = sorted(set(times["n_features"]))
    shown = widths[:: -(-len(widths) // _MOST_TICKS)]
    ax.set(xscale="log", yscale="log", xlabel="columns", ylabel="seconds of one fit")
    ax.set_xticks(shown, [f"{width:.0f}" for width in shown])
    ax.set_xticks([], minor=True)
    figure.legend(loc="outside right upper", title="exponent ± error", alignment="left")
    yield Drawing(
        name="scaling",
        title="Seconds against columns",
        caption="Mean over runs with standard deviation, both axes logarithmic. "
        "The exponent is the slope; a flat line may be overhead.",
        figure=figure,
    )


def balance_drawings(results: ReportData) -> Iterator[Drawing]:
    """Yield figures with the score above the columns, a pair for each table."""
    data = analysis.balance_influence(results.runs)
    panels = list(data.groupby(["scenario", "dataset"], sort=False))
    for start in range(0, len(panels), _MOST_ACROSS):
        chosen = panels[start : start + _MOST_ACROSS]
        n = len(chosen)
        figure, axes = canvas.new_figure(1.6 + 2.3 * n, 4.2, 2, n, sharex="col")
        for k, ((scenario, dataset), part) in enumerate(chosen):
            above, below = axes[k], axes[n + k]
            _balance_lines(above, part, "score")
            _balance_lines(below, part, "n_kept")
            choices = default_choices(results, str(dataset), str(scenario))
            _mark_default(above, below, part, choices)
            label = results.dataset_label(dataset)
            above.set_title(f"{label}, {SCENARIO_LABELS[scenario].lower()}")
            below.set_ylim(bottom=0)
            below.set_xlabel("balance λ")
        axes[0].set_ylabel("test score")
        axes[n].set_ylabel("columns kept")
        canvas.put_legend(figure, axes[n])
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
