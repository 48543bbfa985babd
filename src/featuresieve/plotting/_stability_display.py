"""StabilityDisplay: how many of the networks keep each column."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt

from featuresieve.errors import check_integer
from featuresieve.plotting._canvas import (
    DROPPED,
    INK,
    KEPT,
    SMALL,
    VOTES_NEEDED,
    axes_for,
    n_shown_of,
    name_rows,
)
from featuresieve.plotting._column_display import ColumnDisplay, Floats, columns_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


@dataclass(kw_only=True, eq=False, repr=False)
class StabilityDisplay(ColumnDisplay):
    """Show the selection frequency of the best ranked columns.

    One bar per column, the best ranked on top: filled if the column is kept, hatched
    and with a grey name if it is dropped. Make it with `from_estimator`.

    Parameters
    ----------
    frequency : array-like of shape (n_features,)
        Share of the networks that keep a column.
    is_kept, ranking, feature_names : array-like of shape (n_features,)
        Which columns the selector keeps, their ranks (1 is the best) and their names.
    votes_needed : float, default=0.1
        Share of the networks that is needed to be kept: a tenth, or half at a balance
        that was given.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    bars_ : matplotlib BarContainer
        The bars, best ranked first.
    threshold_line_ : matplotlib Line2D or None
        The line at the threshold.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from featuresieve import AutoNFSClassifier
    >>> from featuresieve.plotting import StabilityDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = AutoNFSClassifier(balance="price", random_state=0).fit(X, y)
    >>> display = StabilityDisplay.from_estimator(selector)
    >>> len(display.bars_)
    13
    """

    frequency: Floats
    votes_needed: float = VOTES_NEEDED

    @staticmethod
    def _seen_in(estimator: Any) -> dict[str, Any]:
        is_automatic = isinstance(estimator.balance, str)
        return {
            "frequency": estimator.selection_frequency_,
            "votes_needed": VOTES_NEEDED if is_automatic else 0.5,
            **columns_of(estimator),
        }

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        max_features: int = 30,
        threshold: float | Literal["auto"] | None = "auto",
        **kwargs: Any,
    ) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        max_features : int, default=30
            Draw so many of the best ranked columns at most.
        threshold : float, "auto" or None, default="auto"
            Where to draw a line; "auto" is `votes_needed`. None draws none.
        **kwargs
            Passed on to `Axes.barh`.

        Returns
        -------
        StabilityDisplay
        """
        check_integer("max_features", max_features, least=1)
        shown = np.argsort(self.ranking)[:max_features]
        if threshold == "auto":
            threshold = self.votes_needed
        if threshold is not None and not 0 <= threshold <= 1:
            raise ValueError(
                f"threshold must be None or a number in [0, 1], got {threshold!r}."
            )
        ax = axes_for(ax, len(shown))
        self._draw_bars(ax, shown, kwargs)
        self._draw_threshold(ax, threshold, len(shown))
        n_all = len(self.ranking)
        ax.set(
            xlabel="Share of networks that keep it",
            ylabel=f"Columns by rank ({n_shown_of(len(shown), n_all)})",
            xlim=(0, 1.02),
            ylim=(len(shown) - 0.4, -0.6 - len(shown) / 11),  # the legend is on top
        )
        ax.spines["left"].set_bounds(len(shown) - 0.4, -0.6)
        name_rows(ax, self.feature_names[shown], self.is_kept[shown])
        self._draw_legend(ax, shown)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_bars(
        self, ax: "Axes", shown: npt.NDArray[np.intp], kwargs: dict[str, Any]
    ) -> None:
        """Draw one bar per shown column, kept ones filled, the others hatched."""
        thickness = 0.72 * min(1.0, (len(shown) + 2) / 8)  # two bars need no wall
        style = {"height": thickness, "linewidth": 0.8} | kwargs
        self.bars_ = ax.barh(np.arange(len(shown)), self.frequency[shown], **style)
        for bar, is_kept in zip(self.bars_, self.is_kept[shown], strict=True):
            if "color" not in kwargs and "facecolor" not in kwargs:
                bar.set_facecolor(KEPT if is_kept else "white")
                bar.set_edgecolor(KEPT if is_kept else DROPPED)
            if not is_kept:
                bar.set_hatch("////")

    def _draw_threshold(self, ax: "Axes", threshold: float | None, n_rows: int) -> None:
        """Draw the line over the bars, if there is one."""
        self.threshold_line_: Line2D | None = None
        if threshold is None:
            return
        known = {VOTES_NEEDED: "a tenth of the networks", 0.5: "half of the networks"}
        name = known.get(threshold, f"{threshold:.0%}")
        style: dict[str, Any] = {"color": INK, "linestyle": "--", "linewidth": 1}
        (self.threshold_line_,) = ax.plot(
            [threshold, threshold], [n_rows - 0.4, -0.6], label=name, **style
        )

    def _draw_legend(self, ax: "Axes", shown: npt.NDArray[np.intp]) -> None:
        """Explain fill, hatch and line, in the space above the bars."""
        from matplotlib.patches import Patch

        handles: list[Any] = []
        is_kept = self.is_kept[shown]
        if is_kept.any():
            handles.append(Patch(facecolor=KEPT, edgecolor=KEPT, label="kept"))
        if not is_kept.all():
            style: dict[str, Any] = {"facecolor": "white", "edgecolor": DROPPED}
            handles.append(Patch(hatch="////", label="dropped", **style))
        if self.threshold_line_ is not None:
            handles.append(self.threshold_line_)
        layout: dict[str, Any] = {"loc": "upper right", "ncols": len(handles)}
        layout |= {"borderaxespad": 0.1, "columnspacing": 1.2}
        ax.legend(handles=handles, frameon=False, fontsize=SMALL, **layout)
