import numpy as np
import pytest
import torch
from sklearn.metrics import log_loss, mean_squared_error

from featuresieve.engine import LOSSES, SelectionPenalty

pytestmark = pytest.mark.numeric

N_MEMBERS, N_ROWS, N_OUTPUTS = 3, 7, 4

# Central differences with h = 1e-5 on functions whose third derivative is at most 1:
# h^2 / 6 = 2e-11, and rounding of 1e-15 / h = 1e-10.
STEP = 1e-5
FINITE_DIFFERENCE = {"rtol": 0.0, "atol": 1e-9}
ROUNDING = {"rtol": 1e-12, "atol": 1e-14}
RNG = np.random.default_rng(0)
OUTPUTS = torch.from_numpy(2.0 * RNG.standard_normal((N_MEMBERS, N_ROWS, N_OUTPUTS)))
TARGETS = {
    "classification": RNG.integers(N_OUTPUTS, size=N_ROWS),
    "multilabel": RNG.integers(2, size=(N_ROWS, N_OUTPUTS)).astype(float),
    "regression": RNG.standard_normal((N_ROWS, N_OUTPUTS)),
}
MASK = torch.from_numpy(RNG.uniform(size=(5, N_MEMBERS)))


def of_labels(targets, outputs):
    shares = 1 / (1 + np.exp(-outputs))
    pairs = zip(targets.T, shares.T, strict=True)
    return np.mean([log_loss(y, share, labels=[0, 1]) for y, share in pairs])


BY_SKLEARN = {
    "classification": lambda targets, outputs: log_loss(
        targets, torch.softmax(torch.from_numpy(outputs), -1), labels=range(N_OUTPUTS)
    ),
    "multilabel": of_labels,
    "regression": mean_squared_error,
}


def finite_differences(function, x):
    """Return the central difference of a scalar function by every entry of x."""
    gradient = torch.zeros_like(x)
    for place in np.ndindex(x.shape):
        up, down = x.clone(), x.clone()
        up[place] += STEP
        down[place] -= STEP
        gradient[place] = (function(up) - function(down)) / (2 * STEP)
    return gradient


@pytest.mark.parametrize("task", LOSSES)
def test_loss_is_that_of_scikit_learn(task):
    targets = TARGETS[task]
    means = LOSSES[task].row_losses(OUTPUTS, torch.from_numpy(targets)).mean(dim=1)
    expected = [BY_SKLEARN[task](targets, outputs) for outputs in OUTPUTS.numpy()]
    np.testing.assert_allclose(means, expected, rtol=1e-12)


@pytest.mark.parametrize("is_by_class", [False, True])
@pytest.mark.parametrize("task", LOSSES)
def test_loss_has_the_gradient_of_finite_differences_in_either_layout(
    task, is_by_class
):
    loss, targets = LOSSES[task], torch.from_numpy(TARGETS[task])
    outputs, before = OUTPUTS.clone(), targets.clone()
    if is_by_class:  # the rows of a class side by side
        outputs = outputs.transpose(1, 2).contiguous().transpose(1, 2)
    losses, gradient = loss.losses_and_gradient(outputs, targets)
    np.testing.assert_allclose(losses, loss.row_losses(OUTPUTS, targets), **ROUNDING)
    expected = finite_differences(
        lambda o: float(loss.row_losses(o, targets).sum()), OUTPUTS
    )
    np.testing.assert_allclose(gradient, expected, **FINITE_DIFFERENCE)
    assert torch.equal(outputs, OUTPUTS)  # and the arguments stay as they were
    assert torch.equal(targets, before)


def test_cross_entropy_of_huge_outputs_is_finite():
    outputs = torch.tensor([[[1e4, -1e4]]], dtype=torch.float64)
    loss = LOSSES["classification"]
    losses, gradient = loss.losses_and_gradient(outputs, torch.tensor([1]))
    assert losses.tolist() == [[2e4]]
    assert gradient.tolist() == [[[1.0, -1.0]]]


PENALTIES = [SelectionPenalty("fraction")]
PENALTIES += [SelectionPenalty("target", count) for count in (0.0, 2.0, 4.5)]


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_penalty_is_the_stated_one_and_has_the_gradient_of_finite_differences(penalty):
    mask = MASK.clone()
    expected = MASK.numpy().mean(axis=0)
    if penalty.kind == "target":
        expected = (expected - penalty.target_count / 5) ** 2
    np.testing.assert_allclose(penalty.value(mask), expected, **ROUNDING)
    slope = finite_differences(lambda m: float(penalty.value(m).sum()), MASK)
    gradient = torch.as_tensor(penalty.gradient(mask), dtype=torch.float64)
    found = gradient.expand(MASK.shape)  # the same for all gates of a member
    np.testing.assert_allclose(found, slope, **FINITE_DIFFERENCE)
    assert torch.equal(mask, MASK)
