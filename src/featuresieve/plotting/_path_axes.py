"""The two horizontal axes of a path: columns kept, and balance."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from featuresieve.plotting._canvas import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Counts that differ by more than this factor are shown on a logarithmic axis, and
# those that differ by more than the second one have ticks at powers of ten only.
_LINEAR_RATIO, _DENSE_RATIO = 12, 1000
# Up to so many different balances, the ticks are the balances.
_MOST_TICKS = 8
# Distance between balances if there is only one, as a logarithm.
_LONE_STEP = float(np.log(3.0))


def balance_text(balance: float) -> str:
    """Return λ with three digits, and never with an exponent if it is large."""
    return f"{balance:,.0f}" if balance >= 1000 else f"{balance:.3g}"


def set_count_axis(
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


def set_balance_axis(ax: "Axes", balances: FloatArray) -> None:
    """Make the horizontal axis one of balances: logarithmic, ticks at the balances."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    values = np.unique(balances)
    if values[0] > 0:  # a fixed balance can be zero
        ax.set_xscale("log")
        margin = np.exp(0.6 * _step(values))
        ax.set_xlim(values[0] / margin, values[-1] * margin)
        ax.xaxis.set_minor_locator(NullLocator())
    if len(values) <= _MOST_TICKS:
        ax.xaxis.set_major_locator(FixedLocator(values.tolist()))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: balance_text(value)))
    ax.set_xlabel("Balance λ")


def side_by_side(balances: FloatArray, counts: npt.NDArray[np.int64]) -> FloatArray:
    """Return places on that axis at which candidates do not cover one another.

    Those of one balance share the middle two thirds of the way to the next, most
    columns first, as more columns are kept where λ is small.
    """
    places = balances.copy()
    values = np.unique(balances)
    for value in values[values > 0]:
        own = np.flatnonzero(balances == value)
        own = own[np.argsort(-counts[own], kind="stable")]
        if len(own) > 1:
            width = 0.66 * _step(values) * min(1.0, 0.4 * (len(own) - 1))
            places[own] *= np.exp(width * np.linspace(-0.5, 0.5, len(own)))
    return places


def _step(values: FloatArray) -> float:
    """Return the least distance between sorted balances, as a logarithm."""
    if len(values) == 1:
        return _LONE_STEP
    return float(np.diff(np.log(values)).min())
