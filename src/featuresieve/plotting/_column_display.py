"""What displays ask of an estimator: that it is fitted, and about its columns."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


def check_selector(estimator: Any) -> None:
    """Raise unless `estimator` is a fitted estimator of this library."""
    from featuresieve import AutoNFSClassifier, AutoNFSRegressor  # they load torch

    if not isinstance(estimator, AutoNFSClassifier | AutoNFSRegressor):
        raise TypeError(
            "estimator must be a fitted AutoNFSClassifier or AutoNFSRegressor, got "
            f"{type(estimator).__name__}. Of a pipeline, pass the step itself: "
            "pipeline['name']."
        )
    check_is_fitted(estimator)


class Display(ABC):
    """A picture of a fitted selector."""

    ax_: "Axes"
    figure_: "Figure | SubFigure"

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, ax: "Axes | None" = None, **kwargs: Any
    ) -> Self:
        """Draw a fitted selector.

        Parameters
        ----------
        estimator : AutoNFSClassifier or AutoNFSRegressor
            Fitted.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        **kwargs
            As for `plot`.

        Returns
        -------
        display
        """
        check_selector(estimator)
        return cls(**cls._seen_in(estimator)).plot(ax, **kwargs)

    @staticmethod
    @abstractmethod
    def _seen_in(estimator: Any) -> dict[str, Any]:
        """Return the arguments of the constructor for a fitted selector."""

    @abstractmethod
    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw it."""


class ColumnDisplay(Display):
    """A picture that shows columns."""

    def __init__(
        self,
        is_kept: npt.ArrayLike,
        ranking: npt.ArrayLike,
        feature_names: npt.ArrayLike,
    ) -> None:
        self.is_kept = np.asarray(is_kept, dtype=np.bool_)
        self.ranking = np.asarray(ranking, dtype=np.int64)
        self.feature_names = np.asarray(feature_names, dtype=np.str_)


def columns_of(estimator: Any) -> dict[str, npt.NDArray[Any]]:
    """Return the arguments of `ColumnDisplay` for a fitted selector."""
    ranks = np.argsort(estimator.order_)
    # x0, x1, ... where columns have no names; best ranked first.
    names = np.array([str(name) for name in estimator.feature_table()["name"]])
    return {
        "is_kept": estimator.support_,
        "ranking": ranks + 1,
        "feature_names": names[ranks],
    }
