"""Losses, row weights and penalties against scikit-learn and finite differences."""

import numpy as np
import pytest
import torch
from sklearn.metrics import log_loss, mean_squared_error
from torch.nn import functional

from featuresieve.engine import REDUCTIONS, SelectionPenalty
from featuresieve.engine._losses import CrossEntropyLoss, SquaredErrorLoss
from featuresieve.engine._training_data import normalized_weights

pytestmark = pytest.mark.numeric

N_MEMBERS, N_ROWS, N_OUTPUTS = 3, 7, 4

# Central differences with h = 1e-5 on functions whose third derivative is at most 1:
# h^2 / 6 = 2e-11, and rounding of 1e-15 / h = 1e-10.
STEP = 1e-5
FINITE_DIFFERENCE = {"rtol": 0.0, "atol": 1e-9}
ROUNDING = {"rtol": 1e-12, "atol": 1e-14}


def make_outputs(seed=0, n_rows=N_ROWS):
    rng = np.random.default_rng(seed)
    return torch.from_numpy(2.0 * rng.standard_normal((N_MEMBERS, n_rows, N_OUTPUTS)))


def make_case(kind, n_rows=N_ROWS):
    """Return a loss with outputs and targets for it."""
    rng = np.random.default_rng(1)
    outputs = make_outputs(n_rows=n_rows)
    if kind == "classification":
        codes = rng.integers(N_OUTPUTS, size=n_rows)
        return CrossEntropyLoss(), outputs, torch.from_numpy(codes)
    values = rng.standard_normal((n_rows, N_OUTPUTS))
    return SquaredErrorLoss(), outputs, torch.from_numpy(values)


def autograd_losses(kind, outputs, targets):
    """Return row losses by torch's own functions, one member at a time."""
    if kind == "classification":
        rows = [functional.cross_entropy(o, targets, reduction="none") for o in outputs]
    else:
        rows = [
            functional.mse_loss(o, targets, reduction="none").mean(-1) for o in outputs
        ]
    return torch.stack(rows)


def finite_differences(function, x):
    """Return the central difference of a scalar function by every entry of x."""
    gradient = torch.zeros_like(x)
    for place in np.ndindex(x.shape):
        up, down = x.clone(), x.clone()
        up[place] += STEP
        down[place] -= STEP
        gradient[place] = (function(up) - function(down)) / (2 * STEP)
    return gradient


KINDS = ["classification", "regression"]


def test_cross_entropy_is_the_log_loss_of_the_softmax():
    loss, outputs, codes = make_case("classification")
    means = loss.row_losses(outputs, codes).mean(dim=1)
    for member in range(N_MEMBERS):
        probabilities = torch.softmax(outputs[member], dim=-1).numpy()
        expected = log_loss(codes.numpy(), probabilities, labels=range(N_OUTPUTS))
        assert float(means[member]) == pytest.approx(expected, rel=1e-12)


def test_squared_error_is_the_mean_over_rows_and_outputs():
    loss, outputs, targets = make_case("regression")
    means = loss.row_losses(outputs, targets).mean(dim=1)
    for member in range(N_MEMBERS):
        expected = mean_squared_error(targets.numpy(), outputs[member].numpy())
        assert float(means[member]) == pytest.approx(expected, rel=1e-12)


def test_cross_entropy_of_huge_outputs_is_finite():
    outputs = torch.tensor([[[1e4, -1e4]]], dtype=torch.float64)
    losses, gradient = CrossEntropyLoss().losses_and_gradient(
        outputs, torch.tensor([1])
    )
    assert losses.tolist() == [[2e4]]
    assert gradient.tolist() == [[[1.0, -1.0]]]


@pytest.mark.parametrize("kind", KINDS)
def test_both_ways_to_the_row_losses_agree(kind):
    loss, outputs, targets = make_case(kind)
    losses, _ = loss.losses_and_gradient(outputs, targets)
    assert losses.shape == (N_MEMBERS, N_ROWS)
    np.testing.assert_allclose(losses, loss.row_losses(outputs, targets), **ROUNDING)


@pytest.mark.parametrize("kind", KINDS)
def test_loss_gradient_is_that_of_finite_differences(kind):
    loss, outputs, targets = make_case(kind)
    _, gradient = loss.losses_and_gradient(outputs, targets)
    expected = finite_differences(
        lambda o: float(loss.row_losses(o, targets).sum()), outputs
    )
    np.testing.assert_allclose(gradient, expected, **FINITE_DIFFERENCE)


@pytest.mark.parametrize("kind", KINDS)
def test_loss_and_gradient_are_those_of_autograd(kind):
    loss, outputs, targets = make_case(kind)
    losses, gradient = loss.losses_and_gradient(outputs, targets)
    leaf = outputs.clone().requires_grad_()
    expected = autograd_losses(kind, leaf, targets)
    expected.sum().backward()
    np.testing.assert_allclose(losses, expected.detach(), **ROUNDING)
    np.testing.assert_allclose(gradient, leaf.grad, **ROUNDING)


@pytest.mark.parametrize("kind", KINDS)
def test_losses_leave_outputs_and_targets_alone(kind):
    loss, outputs, targets = make_case(kind)
    before = outputs.clone(), targets.clone()
    loss.losses_and_gradient(outputs, targets)
    loss.row_losses(outputs, targets)
    assert torch.equal(outputs, before[0])
    assert torch.equal(targets, before[1])


# Row weights.


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_an_integer_weight_counts_like_as_many_copies_of_the_row(kind, reduction):
    loss, outputs, targets = make_case(kind, n_rows=4)
    counts = torch.tensor([1, 3, 0, 2])
    copies = torch.repeat_interleave(torch.arange(4), counts)

    def reduced(rows, row_weights):
        weights = normalized_weights(row_weights.double().expand(3, -1), reduction)
        losses, slope = loss.losses_and_gradient(outputs[:, rows], targets[rows])
        return (losses * weights).sum(-1), slope * weights.unsqueeze(-1)

    value, gradient = reduced(torch.arange(4), counts)
    expected, by_copy = reduced(copies, torch.ones(len(copies)))
    by_row = torch.zeros_like(gradient).index_add_(1, copies, by_copy)
    np.testing.assert_allclose(value, expected, **ROUNDING)
    np.testing.assert_allclose(gradient, by_row, **ROUNDING)


def test_equal_weights_give_the_mean_or_the_sum():
    weights = torch.full((2, 5), 3.0, dtype=torch.float64)
    assert normalized_weights(weights, "mean").tolist() == [[0.2] * 5] * 2
    assert normalized_weights(weights / 3, "sum").tolist() == [[1.0] * 5] * 2


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_member_without_rows_in_a_batch_gets_no_weight(reduction, dtype):
    weights = torch.tensor([[0.0, 0.0], [1.0, 3.0]], dtype=dtype)
    assert normalized_weights(weights, reduction)[0].tolist() == [0.0, 0.0]


# Penalty.

MASK = torch.from_numpy(np.random.default_rng(2).uniform(size=(5, N_MEMBERS)))


def test_fraction_penalty_is_the_mean_of_the_mask():
    found = SelectionPenalty("fraction").value(MASK)
    np.testing.assert_allclose(found, MASK.numpy().mean(axis=0), **ROUNDING)


@pytest.mark.parametrize("target_count", [0.0, 2.0, 4.5])
def test_target_penalty_is_the_squared_distance_of_fractions(target_count):
    found = SelectionPenalty("target", target_count).value(MASK)
    expected = (MASK.numpy().sum(axis=0) / 5 - target_count / 5) ** 2
    np.testing.assert_allclose(found, expected, **ROUNDING)


def test_target_penalty_is_least_when_the_count_is_met():
    mask = torch.tensor([1.0, 1.0, 0.0, 0.0], dtype=torch.float64).unsqueeze(1)
    penalty = SelectionPenalty("target", 2.0)
    assert float(penalty.value(mask)) == 0.0
    assert float(torch.as_tensor(penalty.gradient(mask))) == 0.0


@pytest.mark.parametrize("kind", ["fraction", "target"])
def test_penalty_gradient_is_that_of_finite_differences(kind):
    penalty = SelectionPenalty(kind, 1.0)
    expected = finite_differences(lambda m: float(penalty.value(m).sum()), MASK)
    gradient = torch.as_tensor(penalty.gradient(MASK), dtype=torch.float64)
    found = gradient.expand(MASK.shape)  # the same for all gates of a member
    np.testing.assert_allclose(found, expected, **FINITE_DIFFERENCE)


@pytest.mark.parametrize("kind", ["fraction", "target"])
def test_penalty_leaves_the_mask_alone(kind):
    mask = MASK.clone()
    penalty = SelectionPenalty(kind)
    penalty.value(mask)
    penalty.gradient(mask)
    assert torch.equal(mask, MASK)
