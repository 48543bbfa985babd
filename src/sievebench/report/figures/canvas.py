"""What all figures share: colours, type, and files that are the same every time."""

import io
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from featuresieve.plotting import FAINT, INK, PALE_INK, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_PNG_DPI = 160
_LEGEND_LINE = 0.2  # inches
_HALF_PAGE = 8.0  # inches
_STYLE: dict[Any, Any] = {
    "font.size": 9,
    "font.family": "sans-serif",
    "axes.titlesize": 10,
    "axes.titleweight": "normal",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": PALE_INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": PALE_INK,
    "ytick.color": PALE_INK,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text: it can be found and read out
}


@dataclass(frozen=True)
class Drawing:
    """One figure of the report."""

    name: str  # of its files
    title: str  # what it shows, one line
    caption: str  # how to read it
    figure: "Figure"  # drawn, not on a screen

    @property
    def is_broad(self) -> bool:
        """Whether it needs the whole width of a page."""
        return self.figure.get_figwidth() > _HALF_PAGE


@contextmanager
def house_style(salt: str | None = None) -> Iterator[None]:
    """Draw and write with the type and colours of the report.

    Names inside an SVG depend on the salt.
    """
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise ImportError(
            "the figures need matplotlib, which the extra 'plot' installs: "
            "pip install 'featuresieve[lab,plot]'"
        ) from error
    with mpl.rc_context({**_STYLE, "svg.hashsalt": salt}):
        yield


def new_figure(
    width: float, height: float, n_rows: int = 1, n_columns: int = 1, **options: Any
) -> tuple["Figure", list["Axes"]]:
    """Return a figure and its axes, row by row."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False, **options)
    return figure, list(axes.flat)


def colour_and_marker(k: int) -> dict[str, Any]:
    """Return how the k-th selector is drawn."""
    return {"color": PALETTE[k % len(PALETTE)], "marker": _MARKERS[k % len(_MARKERS)]}


def plot_means(
    ax: "Axes", x: str, rows: pd.DataFrame, what: str, label: str, **style: Any
) -> None:
    """Draw the mean of something over a column, with its deviation."""
    ax.errorbar(
        rows[x].to_numpy(float),
        rows[f"{what}_mean"].to_numpy(float),
        yerr=np.nan_to_num(rows[f"{what}_std"].to_numpy(float)),
        label=label,
        **{"markersize": 4.5, "linewidth": 1.4, **style},
    )


def plot_rows(
    ax: "Axes", series: Mapping[str, tuple[Any, Any]], step: float, **style: Any
) -> None:
    """Draw the means of each series in the rows of a panel, with their spread.

    Series are by their label; the marks of a row are so far from one another.
    """
    for k, (label, (means, spread)) in enumerate(series.items()):
        ax.errorbar(
            np.asarray(means, dtype=float),
            np.arange(len(means)) + step * (k - (len(series) - 1) / 2),
            xerr=spread,
            **colour_and_marker(k),
            linestyle="",
            elinewidth=1,
            label=label,
            **style,
        )


def row_panels(
    panel: Callable[["Axes", Any], None],
    panels: Mapping[str, Any],
    rows: list[str],
    *,
    axis: str,
    size: tuple[float, float, float, float],
    is_from_zero: bool = False,
    **about: str,
) -> Drawing:
    """Return panels side by side, by their titles, that share named rows.

    The size is what the figure is wide, and each panel, what it is high, and each row.
    """
    n, (width, of_panel, height, of_row) = len(panels), size
    inches = (width + of_panel * n, height + of_row * len(rows))
    figure, axes = new_figure(*inches, 1, n, sharey=True, sharex=is_from_zero)
    for ax, (title, what) in zip(axes, panels.items(), strict=True):
        panel(ax, what)
        ax.set_title(title)
        ax.grid(axis="y", color=FAINT, linewidth=0.5)
        ax.set_axisbelow(True)
        ax.tick_params(axis="y", length=0)
    axes[0].set_yticks(range(len(rows)), rows)
    axes[0].set_ylim(len(rows) - 0.5, -0.5)  # the first on top, none cut off
    if is_from_zero:
        axes[0].set_xlim(left=0)
    figure.supxlabel(axis, fontsize=9)
    put_legend(figure, axes[0])
    return Drawing(figure=figure, **about)


def put_legend(figure: "Figure", ax: "Axes") -> None:
    """Put the legend of some axes above all, in as many lines as the width asks for."""
    handles, labels = ax.get_legend_handles_labels()
    for n_across in range(len(labels), 0, -1):
        legend = figure.legend(
            handles, labels, loc="outside upper center", ncols=n_across
        )
        if n_across == 1 or legend.get_window_extent().width <= figure.bbox.width:
            n_more = -(-len(labels) // n_across) - 1
            figure.set_figheight(figure.get_figheight() + _LEGEND_LINE * n_more)
            return
        legend.remove()


def svg_text(drawing: Drawing) -> str:
    """Return a figure as SVG, the same text for the same figure."""
    buffer = io.StringIO()
    # One salt a figure, so that several can stand on one page.
    with house_style(drawing.name):
        drawing.figure.savefig(
            buffer, format="svg", metadata={"Date": None, "Creator": None}
        )
    text = buffer.getvalue()
    text = re.sub(r'(?<=<g id=")(?=[a-zA-Z0-9_.]+_\d+")', f"{drawing.name}-", text)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def png_bytes(drawing: Drawing) -> bytes:
    """Return a figure as PNG."""
    buffer = io.BytesIO()
    with house_style():
        drawing.figure.savefig(
            buffer, format="png", dpi=_PNG_DPI, metadata={"Software": None}
        )
    return buffer.getvalue()
