"""BalancePathDisplay: the candidate sets, their held-out losses, the one chosen."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier

from featuresieve.plotting._canvas import (
    DROPPED,
    FAINT,
    INK,
    KEPT,
    VOTES_NEEDED,
    FloatArray,
    axes_for,
    note,
)
from featuresieve.plotting._column_display import Display, Flags, Floats, Integers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer

# Counts that differ by more than this factor are shown on a logarithmic axis, and
# those that differ by more than the second one have ticks at powers of ten only.
_LINEAR_RATIO, _DENSE_RATIO = 12, 1000


@dataclass(kw_only=True, eq=False, repr=False)
class BalancePathDisplay(Display):
    """Show the held-out loss of the candidate sets, and which was chosen.

    One point per candidate set with its standard error, against the number of columns
    kept. Make it with `from_estimator`.

    The loss is that of the search: log loss in nats of a classifier, of a regressor
    the squared error of the target in the units the networks see.

    A fit at a fixed balance, or with a fixed number of columns, compares no
    candidates; then only the number of columns kept is shown, and a note says why.

    Parameters
    ----------
    balance : array-like of shape (n_candidates,)
        The weight λ a candidate belongs to.
    n_kept : array-like of shape (n_candidates,) of int
        Number of columns in the candidate.
    loss : array-like of shape (n_candidates,)
        Mean held-out loss; NaN if it was not measured.
    loss_error : array-like of shape (n_candidates,)
        Its standard error.
    is_chosen : array-like of shape (n_candidates,) of bool
        True for one candidate.
    n_features : int or None, default=None
        Number of columns of the table.
    loss_name : str, default="Held-out loss"
        What the loss is, for the vertical axis.
    is_elected : bool, default=False
        Whether votes chose, whatever the losses say; the label says so.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    errorbar_ : matplotlib ErrorbarContainer or None
        All candidates; None if no losses were measured.
    chosen_ : matplotlib ErrorbarContainer or None
        The chosen one, drawn over the others.
    chosen_line_ : matplotlib Line2D
        The vertical line through the chosen one.
    chosen_label_ : matplotlib Text
        The words at this line.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from featuresieve import AutoNFSClassifier
    >>> from featuresieve.plotting import BalancePathDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = AutoNFSClassifier(random_state=0).fit(X, y)
    >>> display = BalancePathDisplay.from_estimator(selector)
    >>> display.ax_.get_xlabel()
    'Columns kept'
    """

    balance: Floats
    n_kept: Integers
    loss: Floats
    loss_error: Floats
    is_chosen: Flags
    n_features: int | None = None
    loss_name: str = "Held-out loss"
    is_elected: bool = False

    @staticmethod
    def _seen_in(estimator: Any) -> dict[str, Any]:
        path = estimator.path_
        loss_name = "log loss" if is_classifier(estimator) else "squared error"
        has_votes = estimator.selection_frequency_ >= VOTES_NEEDED
        is_elected = np.array_equal(has_votes, estimator.support_)
        return {
            **{name: path[name] for name in path.dtype.names},
            "n_features": estimator.n_features_in_,
            "loss_name": f"Held-out {loss_name}",
            # Nothing else is kept than what the networks elected.
            "is_elected": estimator.balance == "auto" and is_elected,
        }

    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw the candidates.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        **kwargs
            Passed on to `Axes.errorbar`, for the candidates.

        Returns
        -------
        BalancePathDisplay
        """
        ax = axes_for(ax)
        is_measured = bool(np.isfinite(self.loss).any())
        xs = self.n_kept.astype(np.float64)
        _set_count_axis(ax, self.n_kept, None if is_measured else self.n_features)
        ax.set_ylabel(f"{self.loss_name} ± std. error")
        self.errorbar_: ErrorbarContainer | None = None
        self.chosen_: ErrorbarContainer | None = None
        if is_measured:
            self._draw_candidates(ax, xs, kwargs)
        else:
            _note_that_nothing_was_compared(ax)
        self._label_chosen(ax, float(xs[self.is_chosen][0]))
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_candidates(
        self, ax: "Axes", xs: FloatArray, kwargs: dict[str, Any]
    ) -> None:
        """Draw all candidates with their errors, the chosen one larger and above."""
        style: dict[str, Any] = {"fmt": "o", "color": DROPPED, "ecolor": "#BFBFBF"}
        style |= {"markersize": 5, "elinewidth": 1.2}
        self.errorbar_ = ax.errorbar(xs, self.loss, self.loss_error, **(style | kwargs))
        chosen = self.is_chosen
        style = {"fmt": "D", "color": KEPT, "markersize": 8}
        style |= {"elinewidth": 2, "zorder": 4}
        self.chosen_ = ax.errorbar(
            xs[chosen], self.loss[chosen], self.loss_error[chosen], **style
        )
        low = np.nanmin(self.loss - self.loss_error)
        high = np.nanmax(self.loss + self.loss_error)
        span = high - low or abs(high) or 1.0
        ax.set_ylim(low - 0.05 * span, high + 0.2 * span)  # words go above the points
        ax.grid(axis="y", color=FAINT, linewidth=0.6)
        ax.set_axisbelow(True)

    def _label_chosen(self, ax: "Axes", x: float) -> None:
        """Draw a line through the chosen candidate and say at its top what it is."""
        (chosen,) = np.flatnonzero(self.is_chosen)
        verb = "kept" if self.chosen_ is None else "chosen"
        if self.is_elected:
            verb = "elected by votes"
        total = "" if self.n_features is None else f" of {self.n_features:,}"
        self.chosen_line_ = ax.axvline(
            x, color=KEPT, linewidth=1, linestyle=":", zorder=1
        )
        on_screen = ax.transData.transform((x, ax.get_ylim()[0]))
        is_left = ax.transAxes.inverted().transform(on_screen)[0] < 0.5
        words = f"{verb}: {self.n_kept[chosen]:,}{total}"
        balance = self.balance[chosen]  # never with an exponent if it is large
        shown = f"{balance:,.0f}" if balance >= 1000 else f"{balance:.3g}"
        self.chosen_label_ = note(
            *(ax, f"{words}\nλ = {shown}", (x, 1)),
            (5 if is_left else -5, -2),
            xycoords=ax.get_xaxis_transform(),
            ha="left" if is_left else "right",
            va="top",
            color=KEPT,
            pad=1.0,
        )


def _note_that_nothing_was_compared(ax: "Axes") -> None:
    """Say why there are no points."""
    ax.set_yticks([])
    ax.set_ylabel("")
    ax.spines["left"].set_visible(False)
    text = "This fit compared no candidate sets,\nso there is no held-out loss to show."
    style: dict[str, Any] = {"ha": "center", "va": "center", "color": INK}
    box = {"facecolor": "white", "edgecolor": FAINT, "boxstyle": "round,pad=0.6"}
    ax.text(0.5, 0.5, text, transform=ax.transAxes, bbox=box, **style)


def _set_count_axis(
    ax: "Axes", counts: npt.NDArray[np.int64], n_features: int | None
) -> None:
    """Make the horizontal axis one of numbers of columns, 1 to `n_features` if given.

    Logarithmic if the numbers differ much, with ticks 1, 2, 5, 10, ...
    """
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

    low, high = int(counts.min()), int(counts.max())
    if n_features is not None:
        low, high = 1, max(high, n_features)
    if high > _LINEAR_RATIO * low:
        ax.set_xscale("log")
        margin = (high / low) ** 0.05
        ax.set_xlim(low / margin, high * margin)
        digits = (1.0,) if high > _DENSE_RATIO * low else (1.0, 2.0, 5.0)
        ax.xaxis.set_major_locator(LogLocator(subs=digits, numticks=99))
        ax.xaxis.set_minor_locator(NullLocator())
    else:
        margin = max(0.05 * (high - low), 0.5)
        ax.set_xlim(low - margin, high + margin)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlabel("Columns kept")
