"""No selection: every column is kept."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sievebench.selectors._scored_selector import FitData, ScoredSelector, Scores


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

    def _score_columns(self, data: FitData) -> Scores:
        return np.zeros(data.X.shape[1])
