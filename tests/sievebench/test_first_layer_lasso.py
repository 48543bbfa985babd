import numpy as np
import torch
from neural_tables import make_stack

from sievebench.selectors.first_layer_lasso import (
    FirstLayerLasso,
    column_norms,
    smooth_group_norm,
)


def test_group_norm_is_the_sum_over_columns():
    weight = make_stack().first_weight.detach()
    expected = [
        sum(np.sqrt(np.sum(column**2) + 1e-8) for column in member)
        for member in weight.numpy()
    ]
    np.testing.assert_allclose(smooth_group_norm(weight).numpy(), expected, rtol=1e-12)


def test_objective_blends_loss_and_penalty_member_by_member():
    stack, strengths = make_stack(), torch.tensor([0.2, 0.5], dtype=torch.float64)
    losses = torch.tensor([1.0, 3.0], dtype=torch.float64)
    total = FirstLayerLasso.penalised(losses, stack, strengths)
    norms = smooth_group_norm(stack.first_weight)
    expected = [0.8 * 1.0 + 0.2 * norms[0], 0.5 * 3.0 + 0.5 * norms[1]]
    torch.testing.assert_close(total, torch.stack(expected))


def test_penalty_gradient_is_that_of_finite_differences_and_finite_at_zero():
    stack = make_stack()
    assert torch.autograd.gradcheck(smooth_group_norm, (stack.first_weight,))
    weight = torch.zeros(1, 4, 3, dtype=torch.float64, requires_grad=True)
    smooth_group_norm(weight).sum().backward()
    assert torch.equal(weight.grad, torch.zeros_like(weight))


def test_score_is_the_norm_of_a_columns_weights():
    weight = make_stack().first_weight.detach()
    expected = np.linalg.norm(weight.numpy(), axis=2)
    np.testing.assert_allclose(column_norms(weight).numpy(), expected)
