"""What all figures share: colours, type, and files that are the same every time."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from featuresieve.plotting import INK, PALE_INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_PNG_DPI = 160
_LEGEND_LINE = 0.2  # inches
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


@contextmanager
def house_style(**settings: Any) -> Iterator[None]:
    """Draw and write with the type and colours of the report."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise ImportError(
            "the figures need matplotlib, which the extra 'plot' installs: "
            "pip install 'featuresieve[lab,plot]'"
        ) from error
    more: dict[Any, Any] = {
        name.replace("__", "."): value for name, value in settings.items()
    }
    with mpl.rc_context({**_STYLE, **more}):
        yield


def new_figure(
    width: float, height: float, n_rows: int = 1, n_columns: int = 1, **options: Any
) -> tuple["Figure", list["Axes"]]:
    """Return a figure and its axes, row by row."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False, **options)
    return figure, list(axes.flat)


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
    # Names inside depend on the salt: fixed, and one a figure, so that several can
    # stand on one page.
    with house_style(svg__hashsalt=drawing.name):
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


def hide_unused(axes: list["Axes"], n_used: int) -> None:
    """Remove the axes that nothing was drawn on."""
    for ax in axes[n_used:]:
        ax.set_axis_off()
