"""Columns ranked many at a time against each alone, with numpy's own functions."""

import numpy as np
import pytest
from scipy.special import ndtri

from featuresieve.tables import ColumnScaler


def scores_of(column, weights):
    """Return the known values and scores of one column, and the column as scores."""
    is_known = ~np.isnan(column)
    values, index = np.unique(column[is_known], return_inverse=True)
    sums = np.bincount(index, weights[is_known])
    shares = (np.cumsum(sums) - sums / 2) / sums.sum()
    n_knots = min(len(values), 512)
    chosen = np.rint(np.linspace(0, len(values) - 1, n_knots)).astype(int)
    knots, scores = values[chosen], ndtri(shares[chosen])
    return knots, scores, np.where(is_known, np.interp(column, knots, scores), np.nan)


def columns(rng, n_rows):
    """Return columns of all sorts, of which no two have equally many values."""
    normal = rng.standard_normal((10, n_rows))
    normal[1] = normal[1].astype(np.float32)
    normal[2] = np.round(normal[2] * 100)
    normal[3] *= rng.random(n_rows) < 0.3  # zeros of both signs
    normal[4, 1:][rng.random(n_rows - 1) < 0.4] = np.nan
    normal[5] = normal[5].astype(np.float16)
    normal[5, 1:][rng.random(n_rows - 1) < 0.1] = np.nan
    normal[6] = 3.0
    normal[7] *= 1e300
    normal[8] = rng.integers(3, 40, n_rows)
    normal[9] = rng.integers(0, 512, n_rows)
    return normal


@pytest.mark.parametrize("n_rows", [1, 2, 40, 700, 3000])
@pytest.mark.parametrize("some", [slice(None), [1, 2], [2], [5, 6], [7], [8, 9]])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_columns_are_ranked_together_as_each_alone(n_rows, some, is_weighted):
    rng = np.random.default_rng(n_rows)
    block = columns(rng, n_rows)[some]
    weights = rng.integers(1, 4, n_rows) if is_weighted else np.ones(n_rows)
    given = weights.astype(float) if is_weighted else None
    scaler, scaled = ColumnScaler.fit_transform(block.copy(), "normal_scores", given)
    for k, column in enumerate(block):
        knots, scores, expected = scores_of(column, weights)
        np.testing.assert_array_equal(scaler.knots[k], knots)
        np.testing.assert_allclose(scaler.scores[k], scores, rtol=1e-12, atol=1e-15)
        found = scaled[k] * scaler.spreads[k] + scaler.means[k]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_knots_too_far_apart_for_a_slope_are_interpolated_as_numpy_does():
    rng = np.random.default_rng(0)
    far = np.sign(rng.standard_normal(900)) * rng.uniform(1.6e308, 1.7e308, 900)
    block = np.vstack([far, rng.standard_normal(900)])
    scaler, scaled = ColumnScaler.fit_transform(block.copy(), "normal_scores")
    np.testing.assert_array_equal(scaled, scaler.transform_(block))
