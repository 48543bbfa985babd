"""More columns than rows, and few rows: which of them the members vote on."""

from dataclasses import replace

import numpy as np
import pytest

from featuresieve.engine import Training
from featuresieve.problem import CountLimits, Gates, Problem
from featuresieve.search import Settings, Unwatched
from featuresieve.search._screen import screen_of
from featuresieve.search._splits import held_out_splits
from featuresieve.search._vote_search import VoteSearch
from quick_selectors import quick_regressor

QUICK = Settings(Training(n_members=20, n_epochs=20))


def wide_problem(seed=0, n_rows=110, n_columns=1700, strength=6.0):
    """Return a problem whose first three columns make the target, if any does."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_columns)).astype(np.float32)
    y = strength * X[:, :3].sum(axis=1) + rng.standard_normal(n_rows)
    y = ((y - y.mean()) / y.std()).astype(np.float32)
    return Problem(X, y[:, None], 1, "regression")


def test_what_a_test_finds_is_what_matters():
    problem = wide_problem()
    screen = screen_of(problem, [], 1)
    assert {0, 1, 2} <= set(np.flatnonzero(screen.is_found))
    assert screen.is_found.sum() <= 6
    assert set(screen.places[:3]) <= set(range(6))


def test_noise_is_seldom_found():
    n_alarms = sum(
        screen_of(wide_problem(seed, strength=0.0), [], 1) is not None
        for seed in range(60)
    )
    assert n_alarms <= 8  # 5 % expected; more in one of 500 runs


@pytest.mark.parametrize(("n_rows", "n_columns"), [(110, 110), (400, 1700)])
def test_all_vote_where_rows_are_many_or_as_many_as_columns(n_rows, n_columns):
    assert screen_of(wide_problem(0, n_rows, n_columns), [], 1) is None


def test_a_part_is_judged_on_rows_that_its_test_has_not_seen():
    problem = wide_problem()
    splits = held_out_splits(problem, 5, 0.2, 0)
    turned = problem.targets.copy()
    turned[splits[0].test_rows] *= -1
    one = screen_of(problem, splits, 1)
    other = screen_of(replace(problem, targets=turned), splits, 1)
    n_found = min(one.is_found.sum(), other.is_found.sum())
    assert n_found >= 1
    both = one.by_split & other.by_split
    assert both[0].sum() == n_found  # the first of the same order
    assert one.by_split.sum(axis=1).tolist() == [one.is_found.sum()] * 5


def test_forced_gates_are_looked_at_and_shut_ones_come_last():
    problem = wide_problem()
    plain = Gates.plain(1700)
    is_forced, is_shut = np.zeros((2, 1700), dtype=bool)
    is_forced[100], is_shut[0] = True, True
    gates = replace(plain, is_forced=is_forced, is_shut=is_shut)
    screen = screen_of(replace(problem, gates=gates), [], 1)
    assert screen.is_found[100]
    assert not screen.is_found[0]
    assert screen.places[0] == 1699


def search(**arguments):
    arguments = {"tolerance": 0.0} | arguments
    limits = arguments.pop("limits", CountLimits())
    return VoteSearch(wide_problem(), QUICK, limits, Unwatched(), **arguments).run()


def test_search_keeps_what_matters_and_ranks_the_rest_by_the_test():
    result, screen = search(), screen_of(wide_problem(), [], 1)
    assert {0, 1, 2} <= set(np.flatnonzero(result.support))
    assert not (result.support & ~screen.is_found).any()
    n_found = screen.is_found.sum()
    rest = screen.places[result.votes.ranked[n_found:]]
    assert rest.tolist() == list(range(n_found, 1700))
    # More than is found is filled up in the order of the test.
    kept = search(limits=CountLimits(20, 20, 20)).support
    assert (screen.places[kept] < 20).all()
    assert (search(goal="all_relevant").support == screen.is_found).all()


@pytest.mark.parametrize("balance", ["auto", "price"])
def test_selector_says_that_it_looked_at_few(balance):
    problem = wide_problem()
    selector = quick_regressor(balance=balance)
    selector.fit(problem.features, problem.targets[:, 0])
    assert selector.support_[:3].all()
    note = next(note for note in selector.notes_ if note["code"] == "screened")
    assert "of 1700 columns that a test" in note["text"]
    assert selector.history_["gates"].shape[1] == 1700
    assert selector.history_["gates"][-1, selector.support_].min() > 0
