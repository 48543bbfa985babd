"""Rules that turn votes into sets, on votes whose answer is known."""

import numpy as np
import pytest

from featuresieve.problem import CountLimits, Gates
from featuresieve.search import _candidates
from featuresieve.search._candidates import Rule, Votes, candidate_rules, small_enough


def votes_of(kept, logits=None):
    """Return votes from nested lists of shape (balances, members, columns)."""
    kept = np.array(kept, dtype=bool)
    if logits is None:
        logits = np.where(kept, 1.0, -1.0)
    return Votes(kept, np.array(logits, dtype=np.float32))


def list_rules(votes, is_returned_as_judged, least, most):
    """Return the candidate rules for gates of one column each."""
    return candidate_rules(
        votes,
        Gates.plain(votes.kept.shape[-1]),
        CountLimits(least, most),
        is_returned_as_judged=is_returned_as_judged,
    )


# Two balances, three members, four columns; a higher balance keeps less.
VOTES = votes_of(
    [
        [[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 1, 1]],
        [[1, 1, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]],
    ]
)


def test_frequency_is_the_share_of_members_that_keep_a_column():
    expected = [[1, 2 / 3, 2 / 3, 1 / 3], [1, 1 / 3, 0, 0]]
    np.testing.assert_allclose(VOTES.frequency(), expected)


def test_votes_of_some_members_are_theirs_at_every_balance():
    own = VOTES.of(np.array([2]))
    assert own.kept.shape == (2, 1, 4)
    assert own.frequency().tolist() == [[1, 0, 1, 1], [1, 0, 0, 0]]


def test_ranking_puts_columns_first_that_are_kept_most_often():
    # Kept by 6, 3, 2 and 1 of the six networks.
    assert VOTES.ranked().tolist() == [0, 1, 2, 3]


def test_ranking_breaks_ties_by_the_mean_gate():
    # Both kept once. Gates: (0.88 + 0.27) / 2 against (0.73 + 0.05) / 2.
    votes = votes_of([[[1, 1], [0, 0]]], [[[1.0, 2.0], [-3.0, -1.0]]])
    assert votes.ranked().tolist() == [1, 0]


def test_ranking_prefers_votes_to_large_logits():
    votes = votes_of([[[1, 1], [1, 0]]], [[[0.1, 9.0], [0.1, -0.1]]])
    assert votes.ranked().tolist() == [0, 1]


def test_ranking_breaks_ties_of_saturated_gates_by_the_logit():
    votes = votes_of([[[0, 0]]], [[[-300.0, -200.0]]])
    assert votes.ranked().tolist() == [1, 0]


def test_ranking_of_equal_columns_keeps_their_order():
    votes = votes_of(np.ones((2, 3, 4)))
    assert votes.ranked().tolist() == [0, 1, 2, 3]


def test_majority_rule_keeps_what_at_least_half_of_the_members_keep():
    assert Rule("majority", 0).gates(
        VOTES, Gates.plain(VOTES.kept.shape[-1])
    ).tolist() == [0, 1, 2]
    assert Rule("majority", 1).gates(
        VOTES, Gates.plain(VOTES.kept.shape[-1])
    ).tolist() == [0]


def test_top_rule_keeps_the_best_ranked_in_ascending_order():
    votes = votes_of([[[0, 1, 1], [0, 0, 1]]])
    assert Rule("top", 0, 2).gates(
        votes, Gates.plain(votes.kept.shape[-1])
    ).tolist() == [1, 2]


def sets_of(rules, votes):
    return [
        rule.gates(votes, Gates.plain(votes.kept.shape[-1])).tolist() for rule in rules
    ]


def test_candidates_go_up_to_what_a_member_keeps_at_the_lowest_balance():
    rules = list_rules(VOTES, False, 1, 4)
    # 8 votes of 3 members at the first balance: 2.67 columns, rounded up.
    assert sets_of(rules, VOTES) == [[0], [0, 1], [0, 1, 2]]


def test_candidates_far_beyond_what_a_member_keeps_must_gain():
    # Ten kept by the only member: trusted to 16, asked up to 25.
    votes = votes_of([[np.arange(40) < 10]])
    rules = list_rules(votes, True, 1, 40)
    sizes = [len(columns) for columns in sets_of(rules, votes)]
    assert max(sizes) == 25
    assert [rule.must_gain for rule in rules] == [size > 16 for size in sizes]


@pytest.mark.parametrize("least", [1, 30])
def test_some_candidate_need_not_gain(least):
    votes = votes_of([[np.arange(40) < 2]])
    rules = list_rules(votes, True, least, 40)
    assert not rules[0].must_gain
    assert not any(rule.must_gain for rule in list_rules(votes, False, least, 40))


def test_candidates_keep_to_the_bounds():
    rules = list_rules(VOTES, True, 2, 2)
    assert sets_of(rules, VOTES) == [[0, 1]]


def test_candidates_reach_the_least_count_even_if_members_keep_less():
    rules = list_rules(VOTES, False, 4, 4)
    assert sets_of(rules, VOTES) == [[0, 1, 2, 3]]


def test_candidates_exist_when_no_member_keeps_anything():
    votes = votes_of(np.zeros((2, 3, 4)))
    rules = list_rules(votes, True, 1, 4)
    assert sets_of(rules, votes) == [[0]]


@pytest.mark.parametrize("is_returned_as_judged", [False, True])
def test_candidates_are_distinct_sets(is_returned_as_judged):
    rng = np.random.default_rng(0)
    votes = votes_of(rng.uniform(size=(4, 5, 30)) < np.linspace(0.9, 0.1, 30))
    rules = list_rules(votes, is_returned_as_judged, 1, 30)
    sets = [tuple(columns) for columns in sets_of(rules, votes)]
    assert len(set(sets)) == len(sets)
    assert {len(columns) for columns in sets} >= {1, 2, 3}


def test_majorities_are_candidates_beside_ranked_sets():
    # At the second balance all members agree on a column that is not the best ranked.
    votes = votes_of([[[1, 1, 1]], [[1, 0, 1]], [[0, 1, 0]]])
    with_them = list_rules(votes, True, 1, 3)
    without = list_rules(votes, False, 1, 3)
    assert [0, 2] in sets_of(with_them, votes)
    assert [0, 2] not in sets_of(without, votes)


def test_a_ranked_candidate_names_the_balance_nearest_in_count():
    rules = list_rules(VOTES, False, 1, 4)
    nearest = {rule.size: rule.balance_index for rule in rules}
    # Mean counts are 2.67 and 1.33.
    assert nearest[1] == 1
    assert nearest[3] == 0


def test_sizes_of_ranked_candidates_grow_by_about_a_third():
    votes = votes_of(np.ones((1, 1, 1000)))
    rules = list_rules(votes, False, 1, 1000)
    sizes = np.array([rule.size for rule in rules])
    assert sizes[0] == 1
    assert sizes[-1] == 1000
    assert (np.diff(sizes) >= 1).all()
    ratios = sizes[1:] / sizes[:-1]
    # Small sizes go one by one; a count rounds by a half at most.
    assert (ratios[sizes[:-1] >= 10] <= 1.3 + 0.05).all()
    assert len(sizes) < 30


def test_votes_are_ranked_once(monkeypatch):
    votes = votes_of([[[1, 0, 1], [1, 0, 0]]])
    ranked = votes.ranked().tolist()
    monkeypatch.setattr(Votes, "_openings", None)  # not called again
    rules = [Rule("top", 0, size) for size in (1, 2)]
    gates = [rule.gates(votes, Gates.plain(3)).tolist() for rule in rules]
    assert gates == [sorted(ranked[:1]), sorted(ranked[:2])]


@pytest.mark.parametrize(
    # The n-th smallest needs n networks, times two, on as many columns as it keeps.
    ("most", "expected"),
    [(10**6, [1, 4, 2]), (24, [1, 4, 2]), (23, [1, 2]), (8, [1, 2]), (0, [1])],
)
def test_rules_that_are_small_enough_are_those_of_small_sets(
    monkeypatch, most, expected
):
    monkeypatch.setattr(_candidates, "_MOST_SMALL", most)
    rules = [Rule("top", 0, size) for size in (1, 4, 2)]
    kept = small_enough(rules, VOTES, Gates.plain(4), n_networks=2)
    assert [rule.size for rule in kept] == expected
