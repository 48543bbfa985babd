"""Held-out losses of candidate sets, and of copied and of weighted rows."""

import time
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import sem

from featuresieve.engine import Predictor, StackedMLP, Training
from featuresieve.problem import Problem
from featuresieve.search import Settings
from featuresieve.search._refit import HeldOutLosses, mean_errors, refit_candidates
from featuresieve.search._shuffling import Shuffling
from featuresieve.search._splits import held_out_splits

pytestmark = pytest.mark.numeric

QUICK = Settings(Training(n_epochs=40, batch_size=32, task_learning_rate=1e-2))
FIRST, SECOND, BOTH = (np.array(columns) for columns in ([0], [1], [0, 1]))


def make_problem(n_rows=200):
    """Return a problem whose first column decides the target."""
    rng = np.random.default_rng(0)
    features = rng.standard_normal((n_rows, 3)).astype(np.float32)
    return Problem(features, features[:, [0]].copy(), 1, "regression")


def test_held_out_losses_have_the_mean_of_their_rows_and_its_error():
    rows = np.random.default_rng(0).uniform(size=(3, 50))
    losses = HeldOutLosses(rows, np.ones(3))
    np.testing.assert_allclose(losses.means, rows.mean(axis=1))
    np.testing.assert_allclose(losses.errors, sem(rows, axis=1, ddof=0))


@pytest.mark.parametrize("n_splits", [1, 3])
def test_refits_tell_the_column_that_matters_from_one_that_does_not(n_splits):
    problem = make_problem()
    splits = held_out_splits(problem, n_splits, 0.2, seed=0)
    losses = refit_candidates(
        problem, QUICK, [[FIRST, SECOND, BOTH]] * n_splits, splits, seed=0
    )
    assert losses.rows.shape == (3, n_splits * 40)
    with_it, without_it, both = losses.means
    assert with_it < 0.05
    assert both < 0.05
    assert without_it > 0.5  # the target has variance one


def test_each_split_is_refitted_with_its_own_sets():
    problem = make_problem()
    splits = held_out_splits(problem, 2, 0.2, seed=0)
    losses = refit_candidates(problem, QUICK, [[FIRST], [SECOND]], splits, seed=0)
    by_split = losses.rows[0].reshape(2, 40).mean(axis=1)
    assert by_split[0] < 0.05
    assert by_split[1] > 0.5


def test_a_network_never_sees_the_rows_it_is_judged_on():
    # Some held-out targets of the first split are absurd. The networks of the second
    # split learn from them; those of the first would be spoiled if they saw one.
    problem = make_problem()
    splits = held_out_splits(problem, 2, 0.2, seed=0)
    absurd = splits[0].test_rows[::2]
    targets = problem.targets.copy()
    targets[absurd] = 1e3
    losses = refit_candidates(
        replace(problem, targets=targets), QUICK, [[FIRST]] * 2, splits, seed=0
    )
    of_first = losses.rows[0, : len(splits[0].test_rows)]
    of_second = losses.rows[0, len(splits[0].test_rows) :]
    is_absurd = np.isin(splits[0].test_rows, absurd)
    assert of_first[~is_absurd].mean() < 0.1
    assert of_first[is_absurd].min() > 1e5
    assert of_second.mean() > 1.0


@pytest.mark.parametrize(
    ("changes", "n_steps", "is_late"),
    [
        ({}, 200, False),
        ({"n_epochs": 3, "batch_size": 1000}, 3, False),  # of ten moments looked at
        ({"n_epochs": 1000}, 5000, True),
    ],
    ids=["long", "few steps", "shortened"],
)
def test_the_best_moment_of_a_run_is_given_as_a_share_of_it(changes, n_steps, is_late):
    problem = make_problem()
    settings = Settings(replace(QUICK.training, **changes))
    assert settings.schedule(160, 1, 1).n_steps == n_steps
    splits = held_out_splits(problem, 1, 0.2, seed=0)
    deadline = time.monotonic() if is_late else None
    losses = refit_candidates(
        problem, settings, [[FIRST]], splits, seed=0, deadline=deadline
    )
    # The candidate improves to the end of the run: its best moment is the last.
    assert losses.best_share.tolist() == [1.0]


def test_rises_are_those_of_shuffled_columns_in_float64():
    problem = make_problem()
    splits = held_out_splits(problem, 2, 0.2, seed=0)
    shuffling = Shuffling(problem, QUICK, BOTH, splits, seed=5)
    task = StackedMLP(
        *(3, 1, 4),
        hidden_sizes=(8, 8),
        generator=torch.Generator().manual_seed(0),
        dtype=torch.float32,
        device=torch.device("cpu"),
    )
    mask = np.zeros((3, 4), dtype=np.float32)
    mask[BOTH] = 1.0
    shuffling.remember(task, torch.from_numpy(mask), [1, 3])
    networks = Predictor.of(task, 1).members
    task.parameters.flat.zero_()  # what is learnt later does not count
    expected = np.zeros((2, 80))
    for number, (split, member) in enumerate(zip(splits, [1, 3], strict=True)):
        X = problem.features[split.test_rows].astype(np.float64) * mask[:, member]
        y = problem.targets[split.test_rows, 0]

        def losses(table, own=networks[member], y=y):
            return (Predictor([own], 1).outputs(table, None)[0, :, 0] - y) ** 2

        rng = np.random.default_rng([5, number])
        for _ in range(3):
            order = rng.permutation(40)
            for gate in BOTH:
                shuffled = X.copy()
                shuffled[:, gate] = X[order, gate]
                rises = (losses(shuffled) - losses(X)) / 3
                expected[gate, 40 * number : 40 * (number + 1)] += rises
    assert np.abs(expected).max() > 1e-3
    # Differences of float32 losses of up to ten.
    np.testing.assert_allclose(shuffling.rises(), expected, atol=1e-5)


ROWS = np.random.default_rng(0).standard_normal((2, 30))


def test_error_of_a_mean_does_not_shrink_with_copies():
    copies, groups = np.repeat(ROWS, 3, axis=1), np.repeat(np.arange(30), 3)
    expected = mean_errors(ROWS, np.ones(30))
    np.testing.assert_allclose(mean_errors(copies, np.ones(90), groups), expected)
    apart = mean_errors(copies, np.ones(90))
    np.testing.assert_allclose(apart, expected / np.sqrt(3))


def test_copies_are_not_counted_in_the_freedom_of_a_gain():
    once = HeldOutLosses(ROWS[:1], np.ones(1))
    groups = np.tile(np.arange(30), 2)
    twice = HeldOutLosses(np.tile(ROWS[:1], 2), np.ones(1), row_groups=groups)
    assert twice.n_groups == once.n_groups == 30
    gain, error = once.gain_over(np.zeros(30), 0)
    assert twice.gain_over(np.zeros(60), 0) == pytest.approx((gain, error))


def test_held_out_losses_with_weights_are_those_with_copies():
    counts = np.arange(30) % 3 + 1
    weighted = HeldOutLosses(ROWS, np.ones(2), row_weights=counts / counts.mean())
    copied = HeldOutLosses(np.repeat(ROWS, counts, axis=1), np.ones(2))
    np.testing.assert_allclose(weighted.means, copied.means)
