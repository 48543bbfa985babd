"""Votes whose count is known: the order of the gates, and the sets they elect."""

import numpy as np
import pytest

from featuresieve.problem import CountLimits, Gates
from featuresieve.search import _votes
from featuresieve.search._votes import Votes, elected, nested_sizes, small_enough


def votes_of(kept, logits=None):
    """Return votes from nested lists of shape (members, columns)."""
    kept = np.array(kept, dtype=bool)
    if logits is None:
        logits = np.where(kept, 1.0, -1.0)
    return Votes(kept, np.array(logits, dtype=np.float32))


def votes_with(counts, n_members):
    """Return votes in which column j is kept by `counts[j]` of the members."""
    return votes_of(np.arange(n_members)[:, None] < np.array(counts))


def test_frequency_is_the_share_of_members_that_keep_a_column():
    votes = votes_of([[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 1, 1]])
    np.testing.assert_allclose(votes.frequency(), [1, 2 / 3, 2 / 3, 1 / 3])
    assert votes.of(slice(2, 3)).frequency().tolist() == [1, 0, 1, 1]


@pytest.mark.parametrize(
    ("kept", "logits", "expected"),
    [
        ([[1, 1, 0], [0, 1, 0]], None, [1, 0, 2]),  # by votes
        ([[1, 1], [1, 0]], [[0.1, 9.0], [0.1, -0.1]], [0, 1]),  # before the logits
        # A tie goes to the mean gate: (0.88 + 0.27) / 2 against (0.73 + 0.05) / 2.
        ([[1, 1], [0, 0]], [[1.0, 2.0], [-3.0, -1.0]], [1, 0]),
        ([[0, 0]], [[-300.0, -200.0]], [1, 0]),  # of saturated gates, to the logit
        (np.ones((3, 4)), None, [0, 1, 2, 3]),  # equal ones keep their order
    ],
)
def test_ranking_is_by_votes_then_by_openings(kept, logits, expected):
    assert votes_of(kept, logits).ranked.tolist() == expected


def test_importances_fall_along_the_ranking():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(30, 12)) + np.linspace(1, -3, 12)
    votes = votes_of(logits > 0, logits)
    assert (np.diff(votes.importances()[votes.ranked]) <= 0).all()


@pytest.mark.parametrize(
    ("counts", "n_members", "share", "n_elected"),
    [
        ([100, 10, 9, 0], 100, (), 2),  # a tenth of the members
        ([10, 2, 1, 0], 10, (), 2),  # and two of them at least
        ([2, 1], 2, (), 1),
        ([1, 0], 1, (), 1),  # or the only one
        ([4, 2, 1, 0], 4, (0.5,), 2),
    ],
)
def test_a_share_of_the_votes_elects_a_gate(counts, n_members, share, n_elected):
    assert votes_with(counts, n_members).n_elected(*share) == n_elected


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (CountLimits(), [0, 1]),
        (CountLimits(most=1), [0]),
        (CountLimits(least=3), [0, 1, 2]),
        (CountLimits(exactly=3), [0, 1, 2]),
    ],
)
def test_elected_gates_keep_to_the_limits_by_rank(limits, expected):
    votes = votes_with([20, 5, 1, 0], 20)
    assert elected(votes, Gates.plain(4), limits).tolist() == expected


def test_gates_that_open_more_than_is_allowed_are_not_elected():
    kept = np.ones((4, 2), dtype=bool)
    votes = Votes(kept, np.ones((4, 2), dtype=np.float32), np.array([True, False]))
    assert votes.n_elected() == 1
    assert votes.ranked.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("counts", "limits", "sizes"),
    [
        ([20] * 3 + [0] * 9, CountLimits(), [1, 2, 3, 4, 5, 6]),  # twice the elected
        ([20] * 3 + [0] * 9, CountLimits(least=2, most=4), [2, 3, 4]),
        ([20] * 3 + [0] * 9, CountLimits(least=8), [8, 10, 12]),
        ([0] * 4, CountLimits(), [1, 2]),
    ],
)
def test_nested_sets_go_to_twice_the_elected_ones(counts, limits, sizes):
    votes = votes_with(counts, 20)
    assert nested_sizes(votes, Gates.plain(len(counts)), limits) == sizes


def test_sizes_of_nested_sets_grow_by_about_a_third_and_hold_the_elected_one():
    votes = votes_with([20] * 500 + [0] * 600, 20)
    sizes = np.array(nested_sizes(votes, Gates.plain(1100), CountLimits()))
    assert {1, 500, 1000} <= set(sizes)
    assert (np.diff(sizes) >= 1).all()
    ratios = sizes[1:] / sizes[:-1]
    # Small sizes go one by one; a count rounds by a half at most.
    assert (ratios[sizes[:-1] >= 10] <= 1.3 + 0.05).all()
    assert len(sizes) < 32


def test_votes_are_ranked_once(monkeypatch):
    votes = votes_of([[1, 0, 1], [1, 0, 0]])
    ranked = votes.ranked.tolist()
    monkeypatch.setattr(Votes, "_openings", None)  # not called again
    assert votes.ranked.tolist() == ranked


@pytest.mark.parametrize(
    # The n-th smallest needs n networks, times two, on as many columns as it keeps.
    ("most", "expected"),
    [(10**6, [1, 2, 4]), (24, [1, 2, 4]), (23, [1, 2]), (8, [1, 2]), (0, [1])],
)
def test_sizes_that_are_small_enough_need_few_networks(monkeypatch, most, expected):
    monkeypatch.setattr(_votes, "_MOST_SMALL", most)
    assert small_enough([1, 2, 4], n_networks=2) == expected
