"""What the displays ask of an estimator before they read its attributes."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted


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


def feature_names_of(estimator: Any) -> npt.NDArray[np.str_]:
    """Return the names of all columns in input order, x0, x1, ... if they have none."""
    table = estimator.feature_table()  # best ranked first
    names = np.array([str(name) for name in table["name"]])
    return np.asarray(names[np.argsort(estimator.order_)])
