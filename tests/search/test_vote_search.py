"""The price, the choice where the answer is known, and whole searches."""

import math
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from featuresieve.engine import History, Training
from featuresieve.problem import CountLimits, Problem
from featuresieve.search import Judgement, Settings, Unwatched, _vote_search
from featuresieve.search._one_balance import fit_at_balance
from featuresieve.search._price import balance_at_price, price_of_feature
from featuresieve.search._refit import HeldOutLosses
from featuresieve.search._vote_search import _GATE_SHARE, VoteSearch, n_voters
from featuresieve.search._votes import Votes


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


# The price.


def test_null_loss_is_one_or_the_entropy_of_a_coin():
    assert make_problem(1000).null_loss() == pytest.approx(1.0, abs=1e-6)  # float32
    coin = make_problem(1000, is_classification=True).null_loss()
    assert coin == pytest.approx(math.log(2), rel=1e-12)


def test_price_falls_with_the_rows_to_the_power_of_two_thirds():
    assert price_of_feature(make_problem(1000), Settings()) == pytest.approx(0.01)
    assert price_of_feature(make_problem(8000), Settings()) == pytest.approx(0.0025)
    # The balance is the price times the features.
    assert balance_at_price(make_problem(1000, 10), Settings()) == pytest.approx(0.1)
    # Of a summed loss it is that of a batch.
    settings = Settings(Training(reduction="sum", batch_size=50))
    assert price_of_feature(make_problem(1000), settings) == pytest.approx(0.5)


@pytest.mark.parametrize("copies", [1, 3])
def test_price_of_a_rare_class_is_that_of_its_rows(copies):
    y = np.repeat(np.r_[np.ones(60), np.zeros(1940)].astype(np.int64), copies)
    groups = np.repeat(np.arange(2000), copies) if copies > 1 else None
    features = np.zeros((len(y), 2), dtype=np.float32)
    problem = Problem(features, y, 2, "classification", row_groups=groups)
    found = price_of_feature(problem.with_balanced_classes(), Settings())
    assert found == pytest.approx(1.5 / 60)


def test_price_is_at_most_a_24th_of_the_null_loss_and_positive():
    problem = make_problem(16)
    found = price_of_feature(problem, Settings())
    assert found == pytest.approx(problem.null_loss() / 24)
    constant = replace(problem, targets=np.zeros_like(problem.targets))
    assert price_of_feature(constant, Settings()) > 0


@pytest.mark.parametrize(
    ("n_columns", "wanted", "n_members"),
    [(10, None, 100), (4000, None, 40), (50_000, None, 20), (50_000, 300, 300)],
)
def test_fewer_members_vote_on_wide_tables(n_columns, wanted, n_members):
    settings = Settings(Training(n_members=wanted))
    assert n_voters(n_columns, settings) == n_members


# Classes of the same weight.


def test_balanced_classes_have_the_same_weight():
    targets = np.repeat([0, 1, 2], [70, 20, 10])
    problem = Problem(np.zeros((100, 1), np.float32), targets, 3, "classification")
    weights = problem.with_balanced_classes().row_weights
    assert weights.mean() == pytest.approx(1.0)
    np.testing.assert_allclose(np.bincount(targets, weights), 100 / 3)


def test_weights_of_the_user_stay_in_proportion_within_a_class():
    targets, weights = np.array([0, 0, 0, 1]), np.array([1.0, 2.0, 0.5, 0.5])
    problem = Problem(
        np.zeros((4, 1), np.float32), targets, 2, "classification", row_weights=weights
    )
    balanced = problem.with_balanced_classes().row_weights
    np.testing.assert_allclose(balanced[:3] / balanced[0], weights[:3])
    assert balanced[3] == pytest.approx(balanced[:3].sum())


@pytest.mark.parametrize("is_classification", [False, True])
def test_problems_without_a_rare_class_stay_as_they_are(is_classification):
    problem = make_problem(100, is_classification=is_classification)
    assert problem.with_balanced_classes() is problem


# The choice. Candidate k keeps k of eight columns; a constant loses 1.0.


def choose(means, *, tolerance, elected):
    """Return the size that is chosen; `means` maps a size to its mean loss."""
    sizes = np.array(list(means))
    judgement = Judgement(
        sets=np.arange(8) < sizes[:, None],
        sizes=sizes,
        means=np.array(list(means.values())),
        best_share=np.ones(len(sizes)),
        null_loss=1.0,
        elected=list(means).index(elected),
    )
    return sizes[judgement.choose(tolerance)]


# The elected set gains 0.5; sets of 4, 2 and 1 give up 10 %, 20 % and 100 % of it.
GAINS = {1: 1.0, 2: 0.6, 4: 0.55, 8: 0.5}


@pytest.mark.parametrize(
    ("means", "tolerance", "elected", "size"),
    [
        ({2: 0.4, 4: 0.5, 8: 0.3}, 0, 4, 4),  # the elected set
        (GAINS, 0.05, 8, 8),
        (GAINS, 0.11, 8, 4),
        (GAINS, 0.21, 8, 2),
        (GAINS, 2.0, 8, 1),
        ({2: 0.6, 4: 0.4, 8: 0.5}, 1e-9, 8, 4),  # a better one gives up nothing
        ({2: 0.5, 4: 0.4, 8: 0.1}, 0.5, 4, 2),  # never a larger one
        ({2: 1.3, 8: 1.2}, 0.9, 8, 8),  # worse than a constant: nothing to give up
    ],
)
def test_tolerance_is_the_share_of_the_gain_that_may_be_given_up(
    means, tolerance, elected, size
):
    assert choose(means, tolerance=tolerance, elected=elected) == size


# Whole searches on a target that two of six columns decide.

QUICK = Settings(
    Training(
        n_epochs=40,
        n_members=20,
        batch_size=32,
        mask_learning_rate=0.05,
        task_learning_rate=1e-2,
    )
)


@pytest.mark.parametrize("max_time", [None, 0.0])
def test_fit_at_balance_keeps_the_columns_that_matter_in_its_time(max_time):
    asked = make_problem(200, 6), QUICK, 1.0, CountLimits(), Unwatched(0, max_time)
    result = fit_at_balance(*asked, n_members=2, vote_share=0.5)
    assert result.is_cut_short == (max_time is not None)
    if max_time is None:
        assert np.flatnonzero(result.support).tolist() == [0, 1]
        assert (result.is_collapsed, result.balance) == (False, 1.0)


def make_search(problem=None, limits=None, settings=QUICK, work=None):
    """Return a search on the problem above, or on another."""
    problem = make_problem(200, 6) if problem is None else problem
    limits, work = limits or CountLimits(), work or Unwatched()
    return VoteSearch(problem, settings, limits, work, tolerance=0.0)


@pytest.fixture(scope="module")
def search():
    return make_search()


@pytest.fixture(scope="module")
def result(search):
    return search.run()


def test_columns_that_matter_have_a_tenth_of_the_votes_of_five_parts(search, result):
    assert np.flatnonzero(result.support).tolist() == [0, 1]
    assert not result.is_uninformative
    np.testing.assert_array_equal(result.support, result.votes.frequency() >= 0.1)
    assert len(search.splits) == 5
    assert result.votes.kept.shape == (5 * search.members_per_split, 6)
    assert 5 * search.members_per_split == QUICK.training.n_members


# Judgements of made losses, of 20 rows, where all eight columns are elected.

ALL_KEPT = np.ones((20, 8), dtype=np.float32)
EIGHT = Votes(ALL_KEPT > 0, ALL_KEPT)


def judged(rows, null_loss, problem=None):
    """Return the result of a search whose sets of 1 and 8 columns have these losses."""
    rows = np.array(rows)
    problem = make_problem(rows.shape[1], 8) if problem is None else problem
    search = make_search(problem)
    search._null_losses = lambda: np.full(rows.shape[1], null_loss)
    run = SimpleNamespace(history=History(), is_cut_short=False, gates=None)
    return search._result(run, EIGHT, [1, 8], HeldOutLosses(rows, np.ones(2)))


def test_path_of_an_unrelated_target_marks_only_the_set_that_is_kept():
    result = judged([np.full(20, 4.0), np.full(20, 3.0)], null_loss=1.0)
    assert result.is_uninformative
    assert [(row.n_kept, row.is_chosen) for row in result.path] == [
        (1, True),
        (8, False),
    ]


@pytest.mark.parametrize(
    ("n_errors", "is_doubtful", "n_kept"),
    [(0.9, True, 1), (1.1, True, 8), (1.7, True, 8), (1.8, False, 8)],
)
def test_a_gain_that_may_be_chance_is_doubtful_and_a_smaller_one_is_not_believed(
    n_errors, is_doubtful, n_kept
):
    # Of 20 rows: a t test at one in twenty asks for 1.73 standard errors.
    losses = np.tile([4.0, 2.0], 10)
    gain = n_errors * stats.sem(losses)
    result = judged([losses, losses - gain], null_loss=3.0)
    assert result.is_uninformative == is_doubtful
    assert result.support.sum() == n_kept


@pytest.mark.parametrize(
    ("n_positive", "is_doubtful"), [(100, False), (10, False), (7, True)]
)
def test_a_gain_is_judged_by_the_rows_it_is_made_on(n_positive, is_doubtful):
    # Of 1.9 standard errors: a t test at one in twenty asks for 1.94 of 7 rows, and
    # for 1.83 of 10.
    target = (np.arange(200) < n_positive).astype(np.int64)
    problem = Problem(make_problem(200, 8).features, target, 2, "classification")
    losses = np.tile([4.0, 2.0], 100)
    rows = [losses, losses - 1.9 * stats.sem(losses)]
    assert judged(rows, 3.0, problem).is_uninformative == is_doubtful


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


@pytest.mark.parametrize(("n_uncommon", "is_hardly"), [(None, 0), (4, 1), (5, 0)])
def test_so_few_rows_that_all_may_gain_by_chance_are_hardly_a_judgement(
    result, n_uncommon, is_hardly
):
    # A coin falls on the same side four times in one of sixteen, five in one of 32.
    assert replace(result, n_uncommon=n_uncommon).is_hardly_judged == is_hardly


def test_search_says_when_a_deadline_cut_its_refits_short():
    search = make_search()
    search.work.deadline = lambda share: (
        None if share == _GATE_SHARE else time.monotonic()
    )
    assert search.run().is_cut_short


@pytest.mark.parametrize(
    ("n_columns", "max_time", "is_resumable", "n_members"),
    [
        (5000, 1e-6, False, 2),
        (5000, 1e6, False, 20),
        (5000, 1e-6, True, 20),
        (50, 1e-6, False, 20),
    ],
)
def test_search_of_a_wide_table_is_small_if_its_time_is_over(
    n_columns, max_time, is_resumable, n_members
):
    problem = make_problem(20, n_columns)
    chance = np.random.default_rng(1).standard_normal((20, 1)).astype(np.float32)
    work = Unwatched(max_time=max_time)
    work.is_resumable = is_resumable
    search = make_search(replace(problem, targets=chance), work=work)
    assert len(search.splits) * search.members_per_split == n_members


def test_search_that_was_cut_short_leaves_large_candidates_out(monkeypatch):
    asked = []
    monkeypatch.setattr(
        *(_vote_search, "small_enough"), lambda sizes, _: asked.append(1) or sizes[:1]
    )
    for max_time in (1e-6, 1e6):
        make_search(work=Unwatched(max_time=max_time)).run()
    assert len(asked) == 1
