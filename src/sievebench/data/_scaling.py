"""What the train part teaches: imputed means and scales."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from sievebench.data._catalog import Scaler
from sievebench.data._dataset import Matrix

_JITTER = 1e-3
_JITTER_SEED = 0
# At most so many quantiles, one for 30 rows, but at least ten.
_MOST_QUANTILES, _ROWS_PER_QUANTILE, _FEWEST_QUANTILES = 1000, 30, 10


def column_means(X: Matrix) -> npt.NDArray[np.float64]:
    """Return the mean of what is there in each column; 0 if nothing is.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        NaN where a value is missing.

    Returns
    -------
    ndarray of shape (n_columns,)
    """
    is_there = ~np.isnan(X)
    n_there = is_there.sum(axis=0)
    totals = np.where(is_there, X, 0.0).sum(axis=0)
    return np.asarray(totals / np.maximum(n_there, 1))


def fit_scaler(kind: Scaler, X: Matrix) -> Any:
    """Return a fitted scikit-learn scaler.

    "standard" is the z-score. "quantile" maps each column to a normal distribution,
    fitted on ``X + e`` with ``e ~ N(0, (1e-3 / max(std, 1e-3))²)`` for each column, as
    in the benchmark; it is then applied to rows without jitter.

    Parameters
    ----------
    kind : {"standard", "quantile"}
    X : ndarray of shape (n_rows, n_columns)
        The train part, without missing values.

    Returns
    -------
    StandardScaler or QuantileTransformer
    """
    if kind == "standard":
        return StandardScaler().fit(X)
    generator = np.random.RandomState(_JITTER_SEED)
    spread = _JITTER / np.maximum(X.std(axis=0), _JITTER)
    jittered = X + spread * generator.standard_normal(X.shape)
    n_quantiles = min(len(X) // _ROWS_PER_QUANTILE, _MOST_QUANTILES)
    return QuantileTransformer(
        output_distribution="normal",
        # Never more than rows: scikit-learn would warn and take that many.
        n_quantiles=min(max(n_quantiles, _FEWEST_QUANTILES), len(X)),
        subsample=None,
        random_state=0,
    ).fit(jittered)
