import numpy as np
import pytest
from scipy.stats import f_oneway, pearsonr

from made_tables import value_table
from sievebench.selectors import Univariate


@pytest.mark.parametrize("n_classes", [2, 4])
def test_scores_are_those_of_one_way_analysis_of_variance(n_classes):
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=90)
    X = rng.normal(size=(90, 5)) * 10.0 ** np.arange(5) + y[:, None]
    groups = [X[y == label] for label in range(n_classes)]
    np.testing.assert_allclose(
        Univariate().fit(X, y).scores_, f_oneway(*groups).statistic, rtol=1e-9
    )


def test_scores_of_regression_follow_from_the_correlation():
    X, y = value_table()
    r = np.array([pearsonr(column, y).statistic for column in X.T])
    expected = (len(y) - 2) * r**2 / (1 - r**2)
    np.testing.assert_allclose(Univariate().fit(X, y).scores_, expected, rtol=1e-8)


def test_constant_column_scores_zero_and_perfect_column_infinite():
    y = np.repeat([0, 1], 10)
    X = np.column_stack([np.full(20, 0.1), y, np.random.default_rng(0).normal(size=20)])
    scores = Univariate().fit(X, y).scores_
    assert scores[0] == 0
    assert scores[1] == np.inf
    assert 0 <= scores[2] < np.inf


@pytest.mark.parametrize("seed", range(5))
def test_column_that_tells_the_class_is_first_whatever_the_rounding(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=200)
    X = np.column_stack([rng.normal(size=(200, 3)), (y - y.mean()) / y.std()])
    assert Univariate().fit(X, y).ranking_[3] == 1


def test_target_that_does_not_vary_tells_nothing():
    X = np.random.default_rng(0).normal(size=(20, 3))
    selector = Univariate(task="regression").fit(X, np.full(20, 2.5))
    assert (selector.scores_ == 0).all()
