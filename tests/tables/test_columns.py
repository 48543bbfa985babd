import numpy as np
import pytest
from scipy.stats import norm, rankdata

from encoded_tables import SCALINGS, scaler_of, transformed

pytestmark = pytest.mark.numeric

# The scaled columns are float32: half a unit in the last place of numbers up to 4.
FLOAT32 = {"rtol": 0.0, "atol": 5e-7}


def make_table(n_rows=40, seed=0):
    """Return columns that are normal, long-tailed, tied, and shifted far from zero."""
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [
            rng.standard_normal(n_rows),
            np.exp(3 * rng.standard_normal(n_rows)),
            rng.integers(4, size=n_rows).astype(float),
            1e6 + rng.uniform(size=n_rows),
        ]
    )


def scaled(X, scaling):
    return transformed(scaler_of(X, scaling), X)


def test_normal_scores_are_the_standardised_normal_quantiles_of_mid_ranks():
    X = make_table()
    found = scaled(X, "normal_scores")
    for j in range(X.shape[1]):
        scores = norm.ppf((rankdata(X[:, j]) - 0.5) / len(X))
        expected = (scores - scores.mean()) / scores.std()
        np.testing.assert_allclose(found[:, j], expected, **FLOAT32)


def test_standard_scaling_is_that_of_numpy_and_none_leaves_float32():
    X = make_table()
    expected = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(scaled(X, "standard"), expected, **FLOAT32)
    found = scaled(X, "none")
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, X.astype(np.float32))


@pytest.mark.parametrize("scaling", SCALINGS)
def test_scaling_is_monotone_also_between_and_beyond_the_known_values(scaling):
    scaler = scaler_of(make_table()[:, [1]], scaling)
    grid = np.linspace(-10.0, 1e4, 1001)[:, None]
    found = transformed(scaler, grid)[:, 0]
    assert (np.diff(found) >= 0).all()
    assert found[0] < found[-1]


def test_normal_scores_beyond_the_known_values_are_those_of_the_ends():
    X = make_table()
    scaler = scaler_of(X, "normal_scores")
    ends = np.stack([X.min(axis=0), X.max(axis=0)])
    beyond = np.stack([X.min(axis=0) - 1e3, X.max(axis=0) + 1e3])
    np.testing.assert_array_equal(
        transformed(scaler, beyond), transformed(scaler, ends)
    )


# The mean of equal numbers is off by rounding, for nanoseconds since 1970 by hundreds.
@pytest.mark.parametrize(
    "value", [0.0, 3.0, -0.1, 1e6 + 0.1, 1.7e18 + 12_345, 1.1e60, 1e300, 1e-310]
)
def test_a_constant_column_has_scores_of_zero_and_is_nearly_zero_standardised(value):
    column = np.full((50, 1), value)
    np.testing.assert_array_equal(scaled(column, "normal_scores"), 0.0)
    assert np.abs(scaled(column, "standard")).max() < 1e-9
    if value == 1.7e18 + 12_345:
        # Constant up to 1e-13 of its size: nearly zero or standardised, both will do.
        column += 256.0 * np.random.default_rng(0).integers(1000, size=(50, 1))
        assert np.abs(scaled(column, "standard")).max() < 10


@pytest.mark.parametrize("scaling", ["normal_scores", "standard"])
def test_huge_and_tiny_values_neither_overflow_nor_vanish(scaling):
    # Warnings are errors here, so an overflow on the way would show.
    X = make_table()[:, [0]]
    for size in (1e150, 1e300, 1e-300):
        found = scaled(size * X, scaling)
        np.testing.assert_allclose(found, scaled(X, scaling), **FLOAT32)
    X = make_table().astype(np.float32)
    np.testing.assert_array_equal(
        scaled(X, scaling), scaled(X.astype(np.float64), scaling)
    )
    smallest = np.array([[5e-324], [0.0], [0.0], [0.0]])
    assert np.isfinite(scaled(smallest, scaling)).all()


def test_many_distinct_values_are_summarised_by_few_knots():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((5000, 1))
    scaler = scaler_of(X, "normal_scores")
    assert len(scaler.knots[0]) == 512
    scores = norm.ppf((rankdata(X[:, 0]) - 0.5) / len(X))
    expected = (scores - scores.mean()) / scores.std()
    # Ten ranks lie between two knots, a tenth of a percent of the rows: the score is
    # straight there except in the tails, where neighbours are up to 0.3 apart.
    gap = np.abs(transformed(scaler, X)[:, 0] - expected)
    assert gap.max() < 0.3
    assert np.quantile(gap, 0.98) < 0.03


def test_long_columns_keep_the_shape_of_their_ranks_and_rare_values():
    X = np.arange(40 * 512 + 1, dtype=float)[:, None]
    found = scaled(X, "normal_scores")[:, 0]
    assert found[0] == pytest.approx(-found[-1], rel=0.01)
    assert abs(np.median(found)) < 0.01
    X = np.zeros((50_000, 1))
    X[12_345] = 1.0
    assert len(np.unique(scaled(X, "normal_scores"))) == 2


@pytest.mark.parametrize("scaling", SCALINGS)
def test_take_returns_the_scaler_of_some_columns(scaling):
    X, other = make_table(), make_table(seed=1)
    scaler = scaler_of(X, scaling)
    columns = slice(1, 3)
    found = transformed(scaler.take(columns), other[:, columns])
    np.testing.assert_array_equal(found, transformed(scaler, other)[:, columns])


@pytest.mark.parametrize(
    "weights",
    [np.exp(-np.arange(100.0)), np.r_[np.ones(99), 1e-20], np.full(100, 1e300)],
)
def test_weights_of_very_different_size_leave_scores_finite(weights):
    X = np.random.default_rng(0).permutation(np.arange(100.0))[:, None]
    scaler = scaler_of(X, "normal_scores", weights)
    scores = transformed(scaler, np.sort(X, axis=0))[:, 0]
    assert np.isfinite(scores).all()
    assert (np.diff(scores) >= 0).all()
    assert scores[-1] > scores[0]
