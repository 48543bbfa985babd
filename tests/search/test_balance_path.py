"""The path of prices by hand, and the choice rule where the answer is known."""

import math
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from featuresieve.engine import History, Training
from featuresieve.monitoring._monitor import FitMonitor
from featuresieve.problem import CountLimits, Gates, Problem
from featuresieve.search import Judgement, Settings, _balance_path
from featuresieve.search._balance_path import _PATH_SHARE, BalanceSearch, fit_at_balance
from featuresieve.search._candidates import Rule, Votes, candidate_rules
from featuresieve.search._penalty_path import (
    PRICE_FACTORS,
    SINGLE_PRICE_FACTOR,
    balance_at_price,
    path_balances,
    price_unit,
)
from featuresieve.search._refit import HeldOutLosses
from featuresieve.search._splits import n_held_out_splits


def make_problem(n_rows, n_columns=10, *, is_classification=False):
    """Return a problem whose first two columns decide a target of variance one."""
    rng = np.random.default_rng(0)
    features = rng.standard_normal((n_rows, n_columns)).astype(np.float32)
    signal = features[:, 0] + features[:, 1]
    if is_classification:
        return Problem(
            features, (signal > np.median(signal)).astype(np.int64), 2, "classification"
        )
    scaled = (signal - signal.mean()) / signal.std()
    return Problem(features, scaled[:, None].astype(np.float32), 1, "regression")


# Prices.


def test_price_unit_is_the_weights_of_a_column_over_the_rows():
    problem = make_problem(1000)
    assert price_unit(problem, Settings(Training(hidden_sizes=(32, 8)))) == 32 / 1000
    assert price_unit(problem, Settings(Training(hidden_sizes=()))) == 1 / 1000


def test_null_loss_of_a_standardised_target_is_one():
    assert make_problem(1000).null_loss() == pytest.approx(1.0, abs=1e-6)  # float32


def test_null_loss_of_two_equal_classes_is_the_entropy_of_a_coin():
    problem = make_problem(1000, is_classification=True)
    assert problem.null_loss() == pytest.approx(math.log(2), rel=1e-12)


def test_path_balances_are_prices_times_columns_where_rows_are_many():
    # The largest price, 0.032 / 2, is below a twelfth of the null loss.
    found = path_balances(make_problem(1000, 10), Settings())
    np.testing.assert_allclose(found, 10 * 0.032 * np.array(PRICE_FACTORS))
    assert (np.diff(found) > 0).all()


def test_path_balances_end_at_a_twelfth_of_the_null_loss_where_rows_are_few():
    # 32 weights over 16 rows: the largest price would be 1, the whole null loss.
    problem = make_problem(16, 10)
    found = path_balances(problem, Settings())
    assert found[-1] == pytest.approx(10 * problem.null_loss() / 12)
    np.testing.assert_allclose(
        found / found[-1], np.array(PRICE_FACTORS) / PRICE_FACTORS[-1]
    )


def test_path_balances_of_a_constant_target_are_positive():
    problem = make_problem(16)
    constant = Problem(
        problem.features, np.zeros_like(problem.targets), 1, "regression"
    )
    assert (path_balances(constant, Settings()) > 0).all()


def test_single_balance_is_its_price_times_the_columns():
    found = balance_at_price(make_problem(1000, 10), Settings())
    assert found == pytest.approx(10 * 0.032 * SINGLE_PRICE_FACTOR)


def test_single_balance_is_at_most_a_48th_of_the_null_loss_a_column():
    problem = make_problem(16, 10)
    found = balance_at_price(problem, Settings())
    assert found == pytest.approx(10 * problem.null_loss() / 48)


def test_fewer_rows_get_more_held_out_parts():
    counts = [n_held_out_splits(n_rows) for n_rows in (20, 200, 800, 2000, 20_000)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] >= 3
    assert counts[-1] == 1


# The choice. Candidate k is the set of the k best ranked of eight columns.

ONE_MEMBER = np.linspace(4.0, -4.0, 8, dtype=np.float32).reshape(1, 1, 8)
VOTES = Votes(ONE_MEMBER > 0, ONE_MEMBER)
NULL_LOSS = 1.0


def choose(candidates, *, n_rows, base=0.5, tolerance=0.01, trusted=8):
    """Return the size that is chosen; sets above `trusted` must gain.

    `candidates` maps a size to the mean and the standard deviation over rows of how
    much more its set loses than `base`; the deviation is alternately plus and minus,
    so that mean and standard error are exact.
    """
    signs = np.where(np.arange(n_rows) % 2, 1.0, -1.0)
    rows = [base + mean + spread * signs for mean, spread in candidates.values()]
    losses = HeldOutLosses(np.array(rows), np.ones(len(rows)))
    sizes = np.array(list(candidates))
    sets = np.arange(8) < sizes[:, None]
    judgement = Judgement.of(losses, sets, sizes, sizes > trusted, NULL_LOSS)
    return sizes[judgement.choose(tolerance)]


# The tolerance is 0.01 of a loss of 0.5: an excess of 0.005 is allowed.


def test_many_rows_allow_a_small_set_that_is_hardly_worse():
    # Excess 0.001, standard error 0.1 / sqrt(10,000) = 0.001: at worst 0.003.
    candidates = {2: (0.001, 0.1), 8: (0.0, 0.0)}
    assert choose(candidates, n_rows=10_000) == 2


def test_few_rows_cannot_show_that_columns_may_go():
    # The same excess with a standard error of 0.014: it may be 0.029.
    candidates = {2: (0.001, 0.1), 8: (0.0, 0.0)}
    assert choose(candidates, n_rows=50) == 8


def test_few_rows_keep_a_large_set_even_if_a_small_one_did_a_little_better():
    candidates = {2: (0.0, 0.1), 8: (0.004, 0.0)}
    assert choose(candidates, n_rows=50) == 8


def test_many_rows_take_the_small_set_if_it_did_better():
    candidates = {2: (0.0, 0.1), 8: (0.02, 0.0)}
    assert choose(candidates, n_rows=10_000) == 2


@pytest.mark.parametrize("n_rows", [50, 10_000])
def test_a_set_significantly_worse_than_the_best_is_not_chosen(n_rows):
    # 0.1 worse with a standard error of at most 0.014.
    candidates = {1: (0.1, 0.1), 4: (0.0, 0.0), 8: (0.1, 0.1)}
    assert choose(candidates, n_rows=n_rows) == 4


def test_a_set_worse_than_the_tolerance_is_not_chosen_however_small():
    candidates = {1: (0.006, 0.0), 2: (0.004, 0.0), 8: (0.0, 0.0)}
    assert choose(candidates, n_rows=100) == 2


def test_a_set_that_must_gain_is_not_the_reference_if_it_is_only_plausible():
    # Trusted, the large set would be kept: it may be as good, and little can be shown.
    candidates = {2: (0.0, 0.0), 4: (0.006, 0.0), 8: (0.004, 0.1)}
    assert choose(candidates, n_rows=50) == 8
    assert choose(candidates, n_rows=50, trusted=4) == 2


def test_a_set_that_must_gain_is_chosen_if_it_is_better_by_a_standard_error():
    # Better by 0.02, with a standard error of 0.014 and then of 0.028.
    candidates = {2: (0.0, 0.0), 4: (0.0, 0.0), 8: (-0.02, 0.1)}
    assert choose(candidates, n_rows=50, trusted=4) == 8
    candidates[8] = (-0.02, 0.2)
    assert choose(candidates, n_rows=50, trusted=4) == 2


def test_the_smallest_of_several_good_sets_is_chosen():
    candidates = {2: (0.002, 0.0), 4: (0.001, 0.0), 8: (0.0, 0.0)}
    assert choose(candidates, n_rows=100) == 2


def test_without_tolerance_a_set_must_be_as_good_as_the_reference():
    candidates = {2: (0.001, 0.0), 4: (0.0, 0.0), 8: (0.0, 0.0)}
    assert choose(candidates, n_rows=100, tolerance=0.0) == 4


def test_a_hard_problem_allows_a_share_of_the_gain_and_not_of_the_loss():
    # Loss 0.9, a gain of 0.1 over a constant: 0.01 x 5 x 0.1 = 0.005 is allowed,
    # where a share of the loss would allow 0.009.
    candidates = {1: (0.007, 0.0), 2: (0.004, 0.0), 8: (0.0, 0.0)}
    assert choose(candidates, n_rows=100, base=0.9) == 2


def test_the_only_candidate_is_chosen():
    assert choose({3: (0.0, 1.0)}, n_rows=10) == 3


def test_candidates_worse_than_a_constant_still_get_an_answer():
    candidates = {2: (0.2, 0.0), 8: (0.1, 0.0)}
    assert choose(candidates, n_rows=100, base=2.0) == 8


# Whole searches on a target that two of six columns decide.

QUICK = Settings(
    Training(batch_size=32, mask_learning_rate=0.05, task_learning_rate=1e-2),
    n_epochs=40,
    n_members=2,
)


def test_fit_at_balance_keeps_the_columns_that_matter():
    result = fit_at_balance(make_problem(200, 6), QUICK, 1.0, CountLimits(), seed=0)
    assert np.flatnonzero(result.support).tolist() == [0, 1]
    assert not result.is_collapsed
    assert result.balances.tolist() == [1.0]


@pytest.mark.parametrize("least", [1, 3])
def test_fit_at_balance_keeps_the_least_count_when_the_price_closes_every_gate(least):
    bounds = CountLimits(least=least)
    result = fit_at_balance(make_problem(100, 6), QUICK, 1e4, bounds, seed=0)
    assert result.is_collapsed
    assert result.support.sum() == least
    assert set(np.flatnonzero(result.support)) == set(result.votes.ranked()[:least])


@pytest.mark.parametrize(
    ("bounds", "n_kept"), [(CountLimits(most=1), 1), (CountLimits(exactly=4), 4)]
)
def test_fit_at_balance_keeps_to_the_bounds_by_rank(bounds, n_kept):
    result = fit_at_balance(make_problem(200, 6), QUICK, 1.0, bounds, seed=0)
    kept = np.flatnonzero(result.support)
    assert set(kept) == set(result.votes.ranked()[:n_kept])


def test_fit_at_balance_says_when_a_deadline_cut_it_short():
    result = fit_at_balance(
        make_problem(200, 6),
        QUICK,
        1.0,
        CountLimits(),
        seed=0,
        deadline=time.monotonic(),
    )
    assert result.is_cut_short


@pytest.fixture(scope="module")
def search():
    return BalanceSearch(
        make_problem(200, 6), QUICK, CountLimits(), tolerance=0.01, seed=0
    )


@pytest.fixture(scope="module")
def result(search):
    return search.run()


def test_search_keeps_the_columns_that_matter(result):
    assert result.support[:2].all()
    assert not result.is_uninformative


def test_search_lists_candidates_by_size_with_one_chosen(result):
    sizes = [row.n_kept for row in result.path]
    assert sizes == sorted(sizes)
    (chosen,) = [row for row in result.path if row.is_chosen]
    assert chosen.n_kept == result.support.sum()
    assert chosen.balance == result.balances[result.balance_index]


def test_search_has_a_vote_of_every_member_at_every_balance(search, result):
    n_members = len(search.splits) * search.members_per_split
    assert result.votes.kept.shape == (len(PRICE_FACTORS), n_members, 6)


def test_search_is_decided_by_its_seed(search, result):
    again = BalanceSearch(
        search.problem, QUICK, CountLimits(), tolerance=0.01, seed=0
    ).run()
    np.testing.assert_array_equal(again.votes.logits, result.votes.logits)
    assert again.path == result.path


def test_search_of_an_exact_size_takes_the_best_ranked_without_refits(search):
    exactly = BalanceSearch(
        search.problem, QUICK, CountLimits(exactly=3), tolerance=0.01, seed=0
    ).run()
    kept = set(np.flatnonzero(exactly.support))
    assert kept == set(exactly.votes.ranked()[:3])
    assert [math.isnan(row.loss) for row in exactly.path] == [True]


def test_search_says_when_the_target_has_nothing_to_do_with_the_columns():
    problem = make_problem(200, 6)
    noise = np.random.default_rng(1).standard_normal((200, 1)).astype(np.float32)
    unrelated = Problem(problem.features, noise, 1, "regression")
    result = BalanceSearch(
        unrelated, QUICK, CountLimits(), tolerance=0.01, seed=0
    ).run()
    assert result.is_uninformative
    assert result.support.sum() == 1


def test_path_of_an_unrelated_target_marks_only_the_set_that_is_kept():
    search = BalanceSearch(
        make_problem(200, 6), QUICK, CountLimits(), tolerance=0.01, seed=0
    )

    def losses_above_those_of_a_constant(_, rules):
        rows = np.linspace(4.0, 3.0, len(rules))[:, None].repeat(20, axis=1)
        return HeldOutLosses(rows, np.ones(len(rules)))  # the largest set is the best

    search._refit = losses_above_those_of_a_constant
    search._null_losses = lambda: np.ones(20)
    result = search.run()
    assert result.is_uninformative
    assert len(result.path) > 1
    assert all(row.n_kept == 1 for row in result.path if row.is_chosen)


@pytest.mark.parametrize(
    ("n_errors", "is_doubtful", "is_kept"),
    [(0.9, True, False), (1.1, True, True), (1.7, True, True), (1.8, False, True)],
)
def test_a_gain_that_may_be_chance_is_doubtful_and_a_smaller_one_is_not_believed(
    n_errors, is_doubtful, is_kept
):
    # Of 20 rows: a t test at one in twenty asks for 1.73 standard errors.
    search = BalanceSearch(
        make_problem(200, 6), QUICK, CountLimits(), tolerance=0.01, seed=0
    )
    losses = np.tile([4.0, 2.0], 10)
    gain = n_errors * stats.sem(losses)

    def made_losses(_, rules):
        # The larger a set the better, and by more than the tolerance.
        rows = losses - gain + np.linspace(1.0, 0.0, len(rules))[:, None]
        return HeldOutLosses(rows, np.ones(len(rules)))

    search._refit, search._null_losses = made_losses, lambda: np.full(20, 3.0)
    result = search.run()
    assert result.is_uninformative == is_doubtful
    most = max(row.n_kept for row in result.path)
    assert result.support.sum() == (most if is_kept else 1) > 0
    assert most > 1


@pytest.mark.parametrize("most_kept", [1, 2])
def test_an_unrelated_target_gets_the_least_count_when_majorities_are_candidates(
    most_kept,
):
    # What all members keep is the first column, or at the lower balance the first two:
    # the set of the best ranked column is a majority too, and listed once.
    kept = np.zeros((2, 3, 8), dtype=bool)
    kept[0, :, :most_kept] = kept[1, :, :1] = True
    votes = Votes(kept, np.where(kept, 1.0, -1.0).astype(np.float32))
    rules = candidate_rules(
        votes, Gates.plain(8), CountLimits(), is_returned_as_judged=True
    )
    search = BalanceSearch(
        make_problem(20, 8), Settings(), CountLimits(), tolerance=0.01, seed=0
    )
    search._null_losses = lambda: np.ones(20)
    losses = HeldOutLosses(np.full((len(rules), 20), 2.0), np.ones(len(rules)))
    run = SimpleNamespace(history=History(), is_cut_short=False)
    result = search._result(run, votes, rules, losses)
    assert result.is_uninformative
    assert np.flatnonzero(result.support).tolist() == [0]


@pytest.mark.parametrize("must_gain", [False, True])
def test_a_set_that_does_not_count_does_not_make_a_target_related(must_gain):
    # The large set is surely better than a constant, by 0.01, but not surely better
    # than the small one, which is no better than a constant.
    rules = [Rule("top", 0, 1), Rule("top", 0, 8, must_gain=must_gain)]
    rows = np.array([np.tile([0.5, 1.5], 10), np.full(20, 0.99)])
    search = BalanceSearch(
        make_problem(20, 8), Settings(), CountLimits(), tolerance=0.01, seed=0
    )
    search._null_losses = lambda: np.ones(20)
    losses = HeldOutLosses(rows, np.ones(2))
    run = SimpleNamespace(history=History(), is_cut_short=False)
    result = search._result(run, VOTES, rules, losses)
    assert result.is_uninformative == must_gain
    assert result.support.sum() == (1 if must_gain else 8)


@pytest.mark.parametrize(
    ("targets", "n_uncommon"),
    [
        ([0, 0, 0, 1, 0], 1),
        ([2, 2, 0, 1, 0], 3),
        ([[0.5], [0.5], [1.5], [2.5]], 2),
        ([[0, 1], [0, 1], [1, 1], [1, 0], [0, 1]], 2),  # two labels a row
    ],
)
def test_uncommon_rows_are_those_without_the_most_common_target(targets, n_uncommon):
    problem = Problem(np.zeros((len(targets), 1)), np.array(targets), 2, "multilabel")
    assert problem.n_uncommon(np.arange(len(targets))) == n_uncommon


@pytest.mark.parametrize(
    ("n_positive", "is_doubtful"), [(100, False), (10, False), (7, True)]
)
def test_a_gain_is_judged_by_the_rows_it_is_made_on(n_positive, is_doubtful):
    # Of 1.9 standard errors: a t test at one in twenty asks for 1.94 of 7 rows, and
    # for 1.83 of 10.
    n_rows = 200
    target = (np.arange(n_rows) < n_positive).astype(np.int64)
    problem = Problem(make_problem(n_rows, 8).features, target, 2, "classification")
    search = BalanceSearch(problem, Settings(), CountLimits(), tolerance=0.01, seed=0)
    losses = np.tile([4.0, 2.0], n_rows // 2)
    search._null_losses = lambda: np.full(n_rows, 3.0)
    rows = np.array([losses - 1.9 * stats.sem(losses)])
    run = SimpleNamespace(history=History(), is_cut_short=False)
    losses = HeldOutLosses(rows, np.ones(1))
    result = search._result(run, VOTES, [Rule("top", 0, 1)], losses)
    assert result.is_uninformative == is_doubtful


@pytest.mark.parametrize(("n_uncommon", "is_hardly"), [(None, 0), (4, 1), (5, 0)])
def test_so_few_rows_that_all_may_gain_by_chance_are_hardly_a_judgement(
    result, n_uncommon, is_hardly
):
    # A coin falls on the same side four times in one of sixteen, five in one of 32.
    assert replace(result, n_uncommon=n_uncommon).is_hardly_judged == is_hardly


def test_search_says_when_a_deadline_cut_its_refits_short():
    search = BalanceSearch(
        make_problem(200, 6), QUICK, CountLimits(), tolerance=0.01, seed=0
    )
    search._deadline = lambda share: None if share == _PATH_SHARE else time.monotonic()
    assert search.run().is_cut_short


@pytest.mark.parametrize(
    ("n_columns", "max_time", "is_resumable", "n_members"),
    [
        (5000, 1e-6, False, 2),
        (5000, 1e6, False, 4 * 5 * 2),
        (5000, 1e-6, True, 4 * 5 * 2),
        (50, 1e-6, False, 4 * 5 * 2),
    ],
)
def test_search_of_a_wide_table_is_small_if_its_time_is_over(
    n_columns, max_time, is_resumable, n_members
):
    search = BalanceSearch(
        make_problem(20, n_columns),
        QUICK,
        CountLimits(),
        tolerance=0.01,
        seed=0,
        max_time=max_time,
        monitor=FitMonitor(checkpoint=object() if is_resumable else None),
    )
    n_splits, n_balances = len(search.splits), len(search.balances)
    assert n_balances * n_splits * search.members_per_split == n_members


def test_search_that_was_cut_short_leaves_large_candidates_out(monkeypatch):
    asked = []
    monkeypatch.setattr(
        *(_balance_path, "small_enough"), lambda rules, *_: asked.append(1) or rules[:1]
    )
    problem = make_problem(200, 6)
    for max_time in (1e-6, 1e6):
        BalanceSearch(
            *(problem, QUICK, CountLimits()), tolerance=0.01, seed=0, max_time=max_time
        ).run()
    assert len(asked) == 1
