"""Held-out losses of copied and of weighted rows."""

import numpy as np
import pytest

from featuresieve.search._refit import HeldOutLosses, mean_errors

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
