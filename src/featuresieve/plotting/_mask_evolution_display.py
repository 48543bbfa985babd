"""MaskEvolutionDisplay: how the gates of the columns open and close in training."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt

from featuresieve.errors import check_choice, check_integer
from featuresieve.plotting._canvas import (
    DROPPED,
    FAINT,
    INK,
    KEPT,
    PALETTE,
    SMALL,
    axes_for,
    height_in_points,
    n_shown_of,
    name_rows,
    note,
    shortened,
    spread,
)
from featuresieve.plotting._column_display import (
    ColumnDisplay,
    Floats,
    Integers,
    columns_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.lines import Line2D

Indices = npt.NDArray[np.intp]

# What is drawn at most: lines can lie on each other, rows of a heat map can not.
_MOST_SHOWN = {"lines": 200, "heatmap": 30}
_DASHED: dict[str, Any] = {"color": DROPPED, "linestyle": (0, (4, 2))}


@dataclass(kw_only=True, eq=False, repr=False)
class MaskEvolutionDisplay(ColumnDisplay):
    """Show how far the gate of each column was open while the networks trained.

    As lines: kept columns coloured, the best ranked of them named; dropped ones grey,
    thin and dashed. As a heat map: one row per column, kept ones above a line. The
    openness is the mean of sigmoid(logit) over the networks at the chosen balance; a
    single network keeps a column whose gate ends above one half. Make it with
    `from_estimator`.

    Parameters
    ----------
    step : array-like of shape (n_records,) of int
        Training steps finished at each record.
    gates : array-like of shape (n_records, n_features)
        Openness of each gate, between 0 and 1.
    is_kept, ranking, feature_names : array-like of shape (n_features,)
        Which columns the selector keeps, their ranks (1 is the best) and their names.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    lines_ : list of matplotlib Line2D
        One per column drawn, kept ones first, then by rank; empty in a heat map.
    mesh_ : matplotlib QuadMesh or None
        The heat map, its rows in the same order.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from featuresieve import AutoNFSClassifier
    >>> from featuresieve.plotting import MaskEvolutionDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = AutoNFSClassifier(balance="price", random_state=0).fit(X, y)
    >>> display = MaskEvolutionDisplay.from_estimator(selector)
    >>> len(display.lines_)
    13
    """

    step: Integers
    gates: Floats

    @staticmethod
    def _seen_in(estimator: Any) -> dict[str, Any]:
        history = {name: estimator.history_[name] for name in ("step", "gates")}
        return history | columns_of(estimator)

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        kind: Literal["lines", "heatmap"] = "lines",
        max_features: int | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the gates.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        kind : {"lines", "heatmap"}, default="lines"
            How to draw it.
        max_features : int or None, default=None
            Draw so many columns at most, kept ones first, then by rank. None draws 200
            lines, or 30 rows of a heat map.
        **kwargs
            Passed on to `Axes.plot` or `Axes.pcolormesh`.

        Returns
        -------
        MaskEvolutionDisplay
        """
        check_choice("kind", kind, tuple(_MOST_SHOWN))
        if max_features is None:
            max_features = _MOST_SHOWN[kind]
        check_integer("max_features", max_features, least=1)
        shown = np.lexsort((self.ranking, ~self.is_kept))[:max_features]
        self.lines_: list[Line2D] = []
        self.mesh_: QuadMesh | None = None
        if kind == "lines":
            ax = axes_for(ax)
            self._draw_lines(ax, shown, kwargs)
            self._name_lines(ax, shown)
            self._draw_legend(ax, shown)
        else:
            ax = axes_for(ax, len(shown))
            self._draw_heat_map(ax, shown, kwargs)
        ax.set_xlabel("Training step")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_lines(self, ax: "Axes", shown: Indices, kwargs: dict[str, Any]) -> None:
        """Draw one line per shown column, the best ranked above the others."""
        marker = "o" if len(self.step) == 1 else None
        n_dropped = int((~self.is_kept[shown]).sum())
        alpha = float(np.clip(12 / max(n_dropped, 1), 0.25, 0.8))
        for index, column in enumerate(shown):
            style: dict[str, Any] = {"marker": marker, "zorder": 3 - index / len(shown)}
            if not self.is_kept[column]:
                style |= _DASHED | {"linewidth": 0.7, "alpha": alpha}
            elif index < len(PALETTE):
                style |= {"color": PALETTE[index], "linewidth": 1.8}
            else:
                style |= {"color": KEPT, "linewidth": 0.9, "alpha": 0.45}
            self.lines_ += ax.plot(self.step, self.gates[:, column], **(style | kwargs))
        ax.axhline(0.5, color=FAINT, linewidth=0.8, zorder=0)
        ax.set(ylabel="Mean gate openness", ylim=(-0.03, 1.13))  # legend on top
        ax.set_yticks(np.linspace(0, 1, 6))
        ax.set_xlim(min(0, self.step[0]), self.step[-1])

    def _name_lines(self, ax: "Axes", shown: Indices) -> None:
        """Write the best ranked kept names right of the axes, where their lines end."""
        named = [column for column in shown if self.is_kept[column]][: len(PALETTE)]
        if not named:
            return
        ends = self.gates[-1, named]
        low, high = ax.get_ylim()
        gap = 1.25 * SMALL / height_in_points(ax) * (high - low)
        heights = spread(ends, gap, 0.0, 1.1)
        right = ax.get_yaxis_transform()
        arrow: dict[str, Any] = {"arrowstyle": "-", "linewidth": 0.8}
        arrow |= {"relpos": (0, 0.5), "shrinkA": 1, "shrinkB": 0}
        for column, end, height, line in zip(
            named, ends, heights, self.lines_, strict=False
        ):
            ax.annotate(
                shortened(str(self.feature_names[column]), 20),
                (1, end),
                xycoords=right,
                xytext=(1.04, height),
                textcoords=right,
                va="center",
                fontsize=SMALL,
                color=line.get_color(),
                parse_math=False,
                annotation_clip=False,
                arrowprops=arrow | {"color": line.get_color()},
            )

    def _draw_legend(self, ax: "Axes", shown: Indices) -> None:
        """Say how many columns are kept and dropped, in the space above the lines."""
        from matplotlib.lines import Line2D

        handles = []
        for name, mask, style in (
            ("kept", self.is_kept, {"color": KEPT, "linewidth": 1.8}),
            ("dropped", ~self.is_kept, _DASHED | {"linewidth": 1}),
        ):
            count = n_shown_of(int(mask[shown].sum()), int(mask.sum()))
            if mask.any():
                handles.append(Line2D([], [], label=f"{name} ({count})", **style))
        ax.legend(
            handles=handles, loc="upper left", ncols=2, frameon=False, fontsize=SMALL
        )

    def _draw_heat_map(
        self, ax: "Axes", shown: Indices, kwargs: dict[str, Any]
    ) -> None:
        """Draw one row per shown column; a record fills the steps up to it."""
        edges = np.concatenate([[min(0, self.step[0] - 1)], self.step])
        style: dict[str, Any] = {"cmap": "Blues", "vmin": 0.0, "vmax": 1.0} | kwargs
        rows = np.arange(len(shown) + 1) - 0.5
        self.mesh_ = ax.pcolormesh(edges, rows, self.gates[:, shown].T, **style)
        ax.figure.colorbar(self.mesh_, ax=ax, label="Mean gate openness", pad=0.02)
        ax.set_ylim(len(shown) - 0.5, -0.5)
        ax.set_ylabel(f"Columns ({n_shown_of(len(shown), len(self.ranking))})")
        self._mark_kept_rows(ax, int(self.is_kept[shown].sum()), len(shown))
        name_rows(ax, self.feature_names[shown], self.is_kept[shown])

    @staticmethod
    def _mark_kept_rows(ax: "Axes", n_kept: int, n_rows: int) -> None:
        """Draw a line under the kept rows, and say above and below what they are."""
        if 0 < n_kept < n_rows:
            ax.axhline(n_kept - 0.5, color=INK, linewidth=1.5)
        sides = {
            "kept": (n_kept > 0, 3, "bottom"),
            "dropped": (n_kept < n_rows, -3, "top"),
        }
        for word, (is_there, offset, alignment) in sides.items():
            if is_there:
                xy, units = (0.99, n_kept - 0.5), ax.get_yaxis_transform()
                style = {"xycoords": units, "ha": "right", "va": alignment}
                note(ax, word, xy, (0, offset), **style)
