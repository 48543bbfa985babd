"""Noise, relaxed masks and hard masks against closed forms."""

import math

import numpy as np
import pytest
import torch

from featuresieve.engine import NOISE_KINDS, threshold_mask, vote_mask
from featuresieve.engine._masking import (
    draw_noise_,
    relaxed_mask,
    relaxed_mask_slope,
)

pytestmark = pytest.mark.numeric

N_DRAWS = 200_000
EULER_GAMMA = 0.5772156649015329
# kind -> mean, variance, excess kurtosis
MOMENTS = {
    "gumbel": (EULER_GAMMA, math.pi**2 / 6, 12 / 5),
    "logistic": (0.0, math.pi**2 / 3, 6 / 5),
}
# Standard errors within which a Monte Carlo estimate must lie. The seeds are fixed, so
# this is decided once: a correct sampler fails with a chance of 6e-5.
CAUTION = 4.0

LOGITS = torch.tensor([-3.0, -1.0, -0.2, 0.0, 0.3, 1.5], dtype=torch.float64)


def open_probability(logits, kind):
    """Return the chance that a noisy hard draw keeps a feature, P(w + g > 0)."""
    if kind == "logistic":
        return torch.sigmoid(logits)
    return -torch.expm1(-torch.exp(logits))


def draw(kind, shape=(N_DRAWS,), seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return draw_noise_(torch.empty(shape, dtype=dtype), kind, generator)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", NOISE_KINDS)
def test_noise_has_the_mean_and_the_variance_of_its_distribution(kind, dtype):
    mean, variance, excess_kurtosis = MOMENTS[kind]
    noise = draw(kind, dtype=dtype).double()
    error = math.sqrt(variance / N_DRAWS)
    assert abs(float(noise.mean()) - mean) < CAUTION * error
    error = variance * math.sqrt((excess_kurtosis + 2) / N_DRAWS)
    assert abs(float(noise.var()) - variance) < CAUTION * error


def test_logistic_noise_is_distributed_like_the_difference_of_two_gumbels():
    difference = draw("gumbel", seed=1) - draw("gumbel", seed=2)
    logistic = draw("logistic", seed=3)
    levels = torch.linspace(0.05, 0.95, 19, dtype=torch.float64)
    # The share of a sample below a fixed point has a standard error of at most
    # 0.5 / sqrt(n); the points are quantiles of the other sample, hence sqrt(2).
    standard_error = math.sqrt(2) * 0.5 / math.sqrt(N_DRAWS)
    for level in levels:
        share = float((difference <= torch.quantile(logistic, level)).double().mean())
        assert abs(share - float(level)) < CAUTION * standard_error


@pytest.mark.parametrize("kind", NOISE_KINDS)
def test_noise_depends_on_its_generator_alone(kind):
    before = torch.get_rng_state()
    first, second = draw(kind, (5,)), draw(kind, (5,))
    assert torch.equal(first, second)
    assert not torch.equal(first, draw(kind, (5,), seed=1))
    assert torch.equal(torch.get_rng_state(), before)


def test_noise_fills_the_tensor_it_is_given():
    out = torch.empty(3)
    assert draw_noise_(out, "gumbel", torch.Generator().manual_seed(0)) is out


def test_relaxed_mask_is_the_sigmoid_of_the_noisy_logit_over_the_temperature():
    noise = torch.tensor([0.5, -2.0, 1.0, 0.0, 3.0, -1.0], dtype=torch.float64)
    found = relaxed_mask(LOGITS, noise, 0.7)
    expected = [
        1 / (1 + math.exp(-(w + g) / 0.7)) for w, g in zip(LOGITS, noise, strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_relaxed_mask_leaves_its_arguments_alone():
    logits, noise = LOGITS.clone(), torch.ones_like(LOGITS)
    relaxed_mask(logits, noise, 0.5)
    assert torch.equal(logits, LOGITS)
    assert torch.equal(noise, torch.ones_like(LOGITS))


def test_relaxed_mask_closes_a_gate_whose_noise_is_minus_infinity():
    noise = torch.tensor([-math.inf, math.inf])
    mask = relaxed_mask(torch.zeros(2), noise, 1.0)
    assert mask.tolist() == [0.0, 1.0]
    assert relaxed_mask_slope(mask, 1.0).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.0])
def test_relaxed_mask_slope_is_the_derivative_by_the_logit(temperature):
    noise = draw("gumbel", LOGITS.shape)
    h = 1e-5
    difference = relaxed_mask(LOGITS + h, noise, temperature) - relaxed_mask(
        LOGITS - h, noise, temperature
    )
    slope = relaxed_mask_slope(relaxed_mask(LOGITS, noise, temperature), temperature)
    # Central differences: h^2 |f'''| / 6 < 1e-10 with f''' below 1 / (8 t^3) = 5,
    # and rounding of 1e-16 / h = 1e-11.
    np.testing.assert_allclose(slope, difference / (2 * h), atol=2e-10, rtol=0)


@pytest.mark.parametrize("kind", NOISE_KINDS)
def test_noisy_logits_are_above_zero_with_the_stated_chance(kind):
    noise = draw(kind, (N_DRAWS, 1))
    shares = (LOGITS + noise > 0).double().mean(dim=0)
    chances = open_probability(LOGITS, kind)
    standard_errors = (chances * (1 - chances) / N_DRAWS).sqrt()
    assert ((shares - chances).abs() < CAUTION * standard_errors).all()


def test_threshold_mask_keeps_what_has_a_sigmoid_above_one_half():
    kept = threshold_mask(LOGITS)
    assert torch.equal(kept, torch.sigmoid(LOGITS) > 0.5)
    assert kept.dtype == torch.bool
    assert not kept[3]  # a logit of zero is not above


@pytest.mark.parametrize("n_votes", [1, 3, 10])
@pytest.mark.parametrize("kind", NOISE_KINDS)
def test_vote_mask_keeps_with_the_chance_of_at_least_one_open_draw(kind, n_votes):
    n_copies = 40_000
    logits = LOGITS[:4].expand(n_copies, -1).clone()
    kept = vote_mask(logits, kind, n_votes, torch.Generator().manual_seed(1))
    chances = 1 - (1 - open_probability(LOGITS[:4], kind)) ** n_votes
    standard_errors = (chances * (1 - chances) / n_copies).sqrt()
    shares = kept.double().mean(dim=0)
    # The smallest chance is 0.047 and the largest 1 - 5e-5, which happens not to be
    # normal: one draw more or less in 40,000 is allowed on top.
    allowed = CAUTION * standard_errors + 1 / n_copies
    assert ((shares - chances).abs() < allowed).all()


def test_vote_mask_keeps_nothing_without_votes():
    assert not vote_mask(LOGITS, "gumbel", 0, torch.Generator()).any()
