"""Seconds against the number of columns."""

import numpy as np

from featuresieve.plotting import PALETTE
from sievebench.analysis import scaling_exponents, scaling_times
from sievebench.labels import selector_label
from sievebench.report.figures.canvas import MARKERS, Drawing, new_figure
from sievebench.report.material import ReportData

_MOST_TICKS = 8


def scaling_drawings(material: ReportData) -> list[Drawing]:
    """Return one figure, a line for each selector."""
    times = scaling_times(material.runs)
    if times.empty:
        return []
    exponents = scaling_exponents(material.runs).set_index("selector")
    figure, (ax,) = new_figure(7.0, 3.8)
    # AutoNFS first: it is blue in every figure.
    names = sorted(dict.fromkeys(times["selector"]), key=_is_other)
    for place, selector in enumerate(names):
        part = times[times["selector"] == selector]
        row = exponents.loc[selector]
        has_fit = not np.isnan(row["exponent"])
        fit = f": {row['exponent']:.3f} ± {row['error']:.3f}"
        ax.errorbar(
            part["n_features"].to_numpy(float),
            part["seconds_mean"].to_numpy(float),
            yerr=np.nan_to_num(part["seconds_std"].to_numpy(float)),
            color=PALETTE[place % len(PALETTE)],
            marker=MARKERS[place % len(MARKERS)],
            markersize=4.5,
            linewidth=1.4,
            linestyle="-" if place < len(PALETTE) else "--",
            label=selector_label(str(selector)) + (fit if has_fit else ""),
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
    return [
        Drawing(
            name="scaling",
            title="Seconds against columns",
            caption="Mean over runs with standard deviation, both axes logarithmic. "
            "The exponent is the slope; a flat line may be overhead.",
            figure=figure,
        )
    ]


def _is_other(selector: str) -> bool:
    """Tell whether a selector is not AutoNFS."""
    return selector.partition(":")[0] != "autonfs"
