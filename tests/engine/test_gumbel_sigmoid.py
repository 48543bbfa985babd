"""Hard masks against closed forms; test_reference.py has the noise and the soft mask.

There the noise is the quantile function of its distribution at the same uniform
numbers.
"""

import math

import pytest
import torch

from featuresieve.engine import (
    StackTrainer,
    Training,
    threshold_mask,
    vote_mask,
)
from small_stacks import as_data, build_networks, loss_for, make_rows

pytestmark = pytest.mark.numeric

# Standard errors within which a Monte Carlo estimate must lie. The seeds are fixed, so
# this is decided once: a correct sampler fails with a chance of 6e-5.
CAUTION = 4.0
LOGITS = torch.tensor([-3.0, -1.0, -0.2, 0.0, 0.3, 1.5], dtype=torch.float64)


def open_probability(logits, kind):
    """Return the chance that a noisy hard draw keeps a feature, P(w + g > 0)."""
    if kind == "logistic":
        return torch.sigmoid(logits)
    return -torch.expm1(-torch.exp(logits))


def test_threshold_mask_keeps_what_has_a_sigmoid_above_one_half():
    kept = threshold_mask(LOGITS)
    assert torch.equal(kept, torch.sigmoid(LOGITS) > 0.5)
    assert kept.dtype == torch.bool
    assert not kept[3]  # a logit of zero is not above


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("n_votes", [0, 1, 3, 10])
@pytest.mark.parametrize("kind", ["gumbel", "logistic"])
def test_vote_mask_keeps_with_the_chance_of_at_least_one_open_draw(
    kind, n_votes, dtype
):
    n_copies, before = 40_000, torch.get_rng_state()
    logits = LOGITS.to(dtype).expand(n_copies, -1).clone()
    kept, again, other = (
        vote_mask(logits, kind, n_votes, torch.Generator().manual_seed(seed))
        for seed in (1, 1, 2)
    )
    chances = 1 - (1 - open_probability(LOGITS, kind)) ** n_votes
    standard_errors = (chances * (1 - chances) / n_copies).sqrt()
    # The smallest chance is 0.047 and the largest nearly 1, which happens not to be
    # normal: one draw more or less in 40,000 is allowed on top.
    allowed = CAUTION * standard_errors + 1 / n_copies
    assert ((kept.double().mean(dim=0) - chances).abs() < allowed).all()
    # The generator decides it, and only that.
    assert torch.equal(kept, again)
    assert torch.equal(kept, other) == (n_votes == 0)
    assert torch.equal(torch.get_rng_state(), before)


def test_noise_without_end_closes_or_opens_a_gate_and_nothing_is_learnt_from_it():
    X, y = make_rows(6, 2, is_classification=True)
    task, masking = build_networks(2, 3, 1)
    noise = torch.tensor([[-math.inf], [math.inf]], dtype=torch.float64)
    trainer = StackTrainer(
        *(as_data(X, y), loss_for(True), Training(), task),
        masking=masking,
        balances=torch.ones(1, dtype=torch.float64),
        noise_source=lambda: noise,
    )
    trainer.train_step(torch.arange(6), 1.0, 1.0)
    assert not masking.parameters.flat.grad.any()
    slope = task.parameters.gradient["weight0"]  # (columns, members, hidden)
    assert not slope[0].any()
    assert slope[1].any()
