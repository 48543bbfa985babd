"""What displays of columns share: which are kept, their ranks, their names."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from featuresieve.plotting._fitted import check_selector, feature_names_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class ColumnDisplay:
    """A picture that shows columns."""

    ax_: "Axes"
    figure_: "Figure | SubFigure"

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
    """Return the arguments of `ColumnDisplay` for a fitted selector, or raise."""
    check_selector(estimator)
    return {
        "is_kept": estimator.support_,
        "ranking": np.argsort(estimator.order_) + 1,
        "feature_names": feature_names_of(estimator),
    }
