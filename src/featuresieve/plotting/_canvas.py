"""Axes, colours and labels that all displays share."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.isotonic import isotonic_regression

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

FloatArray = npt.NDArray[np.float64]

# Okabe and Ito's palette, without the yellow, which is lost on white: blue, orange,
# green, pink, sky, amber, black.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
INK, PALE_INK, FAINT = "#262626", "#6E6E6E", "#D9D9D9"
KEPT, DROPPED = PALETTE[0], "#8C8C8C"

# Share of the networks that elects a column, by default.
VOTES_NEEDED = 0.1
# Sizes in points.
SMALL = 9.0
_SMALLEST = 6.5
# Height of a row of names, in the size of its letters.
_LINE_HEIGHT = 1.2
_LONGEST_NAME = 26


def axes_for(ax: "Axes | None", n_rows: int = 0) -> "Axes":
    """Return `ax`, or the axes of a new figure, taller where it has many rows."""
    if ax is None:
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError(
                "the displays need matplotlib, which the extra 'plot' installs: "
                "pip install 'featuresieve[plot]'"
            ) from error
        width, height = plt.rcParams["figure.figsize"]
        # Of the height 0.77 is axes, and of these a tenth may be the legend.
        tall = n_rows * _LINE_HEIGHT * _SMALLEST / 72 * 1.1 / 0.77
        _, ax = plt.subplots(figsize=(width, max(height, tall)), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def shortened(name: str, longest: int = _LONGEST_NAME) -> str:
    """Return `name` on one line, its middle left out if it is too long."""
    name = " ".join(name.split())
    if len(name) <= longest:
        return name
    n_first = (longest - 1) // 2
    return f"{name[:n_first]}…{name[n_first - longest + 1 :]}"


def spread(values: FloatArray, gap: float, low: float, high: float) -> FloatArray:
    """Return positions within [low, high], as near to `values` as a least gap allows.

    The order stays, and of equal values the first is put highest. Least squares under
    that constraint is an isotonic regression of the values less the gaps below them.
    """
    n_gaps = len(values) - 1
    gap = min(gap, (high - low) / max(n_gaps, 1))
    order = np.lexsort((-np.arange(len(values)), values.round(2)))
    below = gap * np.arange(len(values))
    spaced = np.empty(len(values))
    spaced[order] = below + isotonic_regression(
        values[order] - below, y_min=low, y_max=high - gap * n_gaps
    )
    return spaced


def note(
    ax: "Axes",
    text: str,
    xy: tuple[float, float],
    offset: tuple[float, float],
    **style: Any,
) -> "Text":
    """Write small words on white, some points from a position."""
    defaults: dict[str, Any] = {"fontsize": SMALL, "color": INK, "pad": 1.5}
    style = defaults | style
    bbox = {"facecolor": "white", "edgecolor": "none", "pad": style.pop("pad")}
    return ax.annotate(
        text, xy, xytext=offset, textcoords="offset points", bbox=bbox, **style
    )


def height_in_points(ax: "Axes") -> float:
    """Return how tall the axes are, before any layout engine has moved them."""
    return float(ax.bbox.height / ax.figure.dpi * 72)


def name_rows(
    ax: "Axes", names: npt.NDArray[np.str_], is_kept: npt.NDArray[np.bool_]
) -> None:
    """Name the rows 0, 1, ... of `ax`, as large as fits; kept ones stand out.

    Where even small letters do not fit, only every second row is named, or third.
    """
    pitch = height_in_points(ax) / abs(ax.get_ylim()[1] - ax.get_ylim()[0])
    every = max(1, int(np.ceil(_SMALLEST * _LINE_HEIGHT / pitch)))
    size = float(np.clip(every * pitch / _LINE_HEIGHT, _SMALLEST, SMALL))
    rows = np.arange(0, len(names), every)
    ax.set_yticks(rows, [shortened(str(names[row])) for row in rows])
    ax.tick_params(axis="y", length=0, labelsize=size)
    for row, label in zip(rows, ax.get_yticklabels(), strict=True):
        label.set_parse_math(False)  # a name may contain $
        label.set_color(INK if is_kept[row] else PALE_INK)


def n_shown_of(n_shown: int, n_all: int) -> str:
    """Return "13", or "30 of 500" if not all are shown."""
    return f"{n_all:,}" if n_shown == n_all else f"{n_shown:,} of {n_all:,}"
