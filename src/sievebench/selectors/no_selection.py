"""No selection: every column is kept."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from featuresieve.files import Task
from sievebench.selectors._scored_selector import FloatArray, ScoredSelector, Scores


@dataclass(kw_only=True, eq=False, repr=False)
class NoSelection(ScoredSelector):
    """Keep every column: what the other selectors are compared with.

    Parameters
    ----------
    n_features_to_select : int or float, default=1.0
        As in the other selectors; all scores are equal, so fewer columns than all are
        drawn at random.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Zeros.
    """

    allows_nan: ClassVar[bool] = True

    n_features_to_select: int | float = 1.0

    def _score_columns(
        self,
        X: FloatArray,
        y: npt.NDArray[Any],  # noqa: ARG002
        *,
        task: Task,  # noqa: ARG002
        seed: int,  # noqa: ARG002
    ) -> Scores:
        """Return zeros."""
        return np.zeros(X.shape[1])
