"""What displays ask of an estimator: that it is fitted, and about its columns."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Self, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# What is array-like, and becomes an array of a dtype.
Floats = Annotated[Any, np.float64]
Integers = Annotated[Any, np.int64]
Flags = Annotated[Any, np.bool_]
Texts = Annotated[Any, np.str_]


@dataclass(kw_only=True, eq=False, repr=False)
class Display(ABC):
    """A picture of a fitted selector."""

    def __post_init__(self) -> None:
        """Make arrays of what is array-like."""
        for name, kind in get_type_hints(type(self), include_extras=True).items():
            if get_origin(kind) is Annotated:
                (dtype,) = kind.__metadata__
                setattr(self, name, np.asarray(getattr(self, name), dtype=dtype))

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
        from featuresieve import AutoNFSClassifier, AutoNFSRegressor  # they load torch

        if not isinstance(estimator, AutoNFSClassifier | AutoNFSRegressor):
            raise TypeError(
                "estimator must be a fitted AutoNFSClassifier or AutoNFSRegressor, got "
                f"{type(estimator).__name__}. Of a pipeline, pass the step itself: "
                "pipeline['name']."
            )
        check_is_fitted(estimator)
        return cls(**cls._seen_in(estimator)).plot(ax, **kwargs)

    @staticmethod
    @abstractmethod
    def _seen_in(estimator: Any) -> dict[str, Any]:
        """Return the arguments of the constructor for a fitted selector."""

    @abstractmethod
    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw it."""


@dataclass(kw_only=True, eq=False, repr=False)
class ColumnDisplay(Display):
    """A picture that shows columns."""

    is_kept: Flags
    ranking: Integers
    feature_names: Texts


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
