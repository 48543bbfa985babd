import numpy as np
import pytest

from sievebench.selectors import ScoredSelector
from sievebench.selectors._scored_selector import held_out_rows, standardised


class Given(ScoredSelector):
    """Scores as given to the constructor."""

    def __init__(
        self, given=(), *, n_features_to_select=0.5, task="auto", random_state=0
    ):
        self.given, self.n_features_to_select = given, n_features_to_select
        self.task, self.random_state = task, random_state

    def _score_columns(self, data):
        self.seen = data.X, data.y, data.task, data.seed
        return np.array(self.given, dtype=float)


class GivenStandardised(Given):
    standardises = True


def fit(scores, wanted=0.5, y=(0, 1, 0, 1), kind=Given):
    X = np.random.default_rng(0).normal(3, 2, size=(len(y), len(scores)))
    return kind(scores, n_features_to_select=wanted).fit(X, np.array(y))


@pytest.mark.parametrize(
    ("wanted", "n_columns", "count"),
    [(1, 6, 1), (6, 6, 6), (1.0, 6, 6), (0.5, 6, 3), (0.5, 1, 1), (0.01, 6, 1)],
)
def test_count_is_int_or_rounded_fraction(wanted, n_columns, count):
    assert fit(list(range(n_columns)), wanted).support_.sum() == count


def test_ties_are_broken_at_random_behind_larger_scores():
    X, y = np.zeros((4, 5)), np.array([0, 1, 0, 1])
    chosen = np.zeros(5)
    for seed in range(300):
        selector = Given([1, 2, 1, 2, 1], n_features_to_select=3, random_state=seed)
        places = selector.fit(X, y).ranking_
        assert sorted(places[[1, 3]]) == [1, 2]
        assert sorted(places[[0, 2, 4]]) == [3, 4, 5]
        assert (selector.support_ == (places <= 3)).all()
        assert (selector.fit(X, y).ranking_ == places).all()
        chosen += selector.support_
    # One of the three equal columns each time: 100 ± 8 of 300 by the binomial law.
    assert (chosen[[1, 3]] == 300).all()
    assert (np.abs(chosen[[0, 2, 4]] - 100) < 4 * 8.2).all()


def test_infinite_scores_are_ends_of_the_order_and_equal_ones_favour_nobody():
    selector = fit([0, -np.inf, np.inf, 1, np.inf], 3)
    assert selector.support_.tolist() == [False, False, True, True, True]
    kept = fit([0.0] * 1000, 500).support_.nonzero()[0]
    # The mean of 500 of 1000 places, drawn without replacement: 499.5 ± 9.1.
    assert abs(kept.mean() - 499.5) < 4 * 9.2


def test_selector_gets_class_codes_and_a_drawn_seed_and_may_be_fitted_again():
    selector = fit([1, 2], y=["b", "c", "a", "c"])
    _, y, task, seed = selector.seen
    assert y.tolist() == [1, 2, 0, 2]
    assert task == "classification"
    assert 0 <= seed < 2**31
    assert selector.classes_.tolist() == ["a", "b", "c"]
    selector.fit(np.eye(2), np.array([0.5, 1.5]))
    assert not hasattr(selector, "classes_")


def test_selector_that_standardises_gets_standard_columns_and_target():
    selector = fit([1, 2, 3], y=(10.5, 11.0, 14.0, 13.0), kind=GivenStandardised)
    X, y, _, _ = selector.seen
    # Four numbers: what rounding leaves is a few units in the last place.
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-14)
    np.testing.assert_allclose(X.std(axis=0), 1, atol=1e-14)
    np.testing.assert_allclose([y.mean(), y.std()], [0, 1], atol=1e-14)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scores": [0.0, np.nan, 1.0]}, "Given found no score"),
        ({"scores": [1, 2], "wanted": "auto"}, "got 'auto'"),
        ({"scores": [1, 2], "y": ("a", "a", "a")}, "got 1 class"),
    ],
)
def test_what_gives_no_order_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        fit(**arguments)
    with pytest.raises(ValueError, match="y must hold numbers"):
        Given([1, 2], task="regression").fit(np.eye(2), np.array(["low", "high"]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_standardised_makes_constant_columns_zero(dtype):
    X = np.full((1000, 2), 0.1, dtype=dtype)
    X[:, 1] = 1e6 + np.arange(1000) % 2
    scaled = standardised(X)
    assert scaled.dtype == dtype
    assert (scaled[:, 0] == 0).all()
    # Half a unit either way of a million, of which float32 keeps sixteenths.
    np.testing.assert_allclose(np.abs(scaled[:, 1]), 1, rtol=0.07)


@pytest.mark.parametrize("fraction", [0.1, 0.25, 0.5])
def test_held_out_rows_are_a_stratified_fraction(fraction):
    y = np.repeat([0, 1, 2], [400, 80, 40])[np.random.default_rng(0).permutation(520)]
    held_out = held_out_rows(y, "classification", fraction, seed=0)
    counts = np.bincount(y[held_out])
    # Every so many rows of the sorted classes: a class gains or loses at most one.
    assert (np.abs(counts - fraction * np.array([400, 80, 40])) <= 1).all()


def test_held_out_rows_never_take_the_only_row_of_a_class_and_follow_the_seed():
    y = np.arange(12)
    assert not held_out_rows(y, "classification", 0.5, seed=0).any()
    y = np.array([0] * 30 + [1])
    for seed in range(20):
        assert not held_out_rows(y, "classification", 0.5, seed)[-1]
    y = np.random.default_rng(0).normal(size=200)
    first = held_out_rows(y, "regression", 0.2, seed=1)
    assert first.sum() in (39, 40)
    assert (first == held_out_rows(y, "regression", 0.2, seed=1)).all()
    assert (first != held_out_rows(y, "regression", 0.2, seed=2)).any()
