import numpy as np
import pytest
import torch
from neural_tables import as_sequential, make_stack, small_rows
from torch import nn

from sievebench.selectors.deep_lasso import (
    DeepLasso,
    first_layer_gram,
    squared_column_norms,
    validation_gradient_norms,
)
from sievebench.stack.task_loss import TaskLoss

LOSS = TaskLoss.for_classes(3)


def batch_losses(stack, rows):
    outputs = stack.forward(rows.features, training=True)
    return LOSS.row_losses(outputs, rows.targets).mean(dim=1)


@pytest.mark.parametrize("hidden_sizes", [(), (6,), (6, 4)])
def test_column_norms_are_those_of_finite_differences(hidden_sizes):
    stack = make_stack(hidden_sizes=hidden_sizes, activation="tanh")
    rows, step = small_rows(n_rows=7), 1e-6
    gram = first_layer_gram(batch_losses(stack, rows), stack, differentiable=False)
    norms = squared_column_norms(stack.first_weight, gram).sqrt().detach()

    for member in range(2):
        twin = as_sequential(stack, member, "tanh")
        slopes = torch.zeros(7, 5, dtype=torch.float64)
        for row, column in np.ndindex(7, 5):
            values = []
            for sign in (1, -1):
                moved = rows.features.clone()
                moved[row, column] += sign * step
                loss = nn.functional.cross_entropy(twin(moved), rows.targets)
                values.append(loss.detach())
            slopes[row, column] = (values[0] - values[1]) / (2 * step)
        torch.testing.assert_close(norms[member], slopes.norm(dim=0), rtol=1e-6, atol=0)


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_parameter_gradient_is_that_of_double_backward_on_the_input(activation):
    stack, rows = make_stack(activation=activation), small_rows(n_rows=9)
    strengths = torch.tensor([0.1, 0.4], dtype=torch.float64)
    total = DeepLasso.penalised(batch_losses(stack, rows), stack, strengths)
    mine = torch.autograd.grad(total.sum(), list(stack.trainable.values()))
    mine = dict(zip(stack.trainable, mine, strict=True))

    for member, strength in enumerate(strengths):
        twin = as_sequential(stack, member, activation)
        X = rows.features.clone().requires_grad_()
        loss = nn.functional.cross_entropy(twin(X), rows.targets)
        (slope,) = torch.autograd.grad(loss, X, create_graph=True)
        norm = (slope.square().sum(dim=0) + 1e-8).sqrt().sum()
        expected = (1 - strength) * loss + strength * norm
        torch.testing.assert_close(total[member], expected)
        expected.backward()
        weights = [layer.weight for layer in twin if isinstance(layer, nn.Linear)]
        for layer, weight in enumerate(weights):
            torch.testing.assert_close(mine[f"weight{layer}"][member], weight.grad.T)


def test_scores_are_gradient_norms_over_validation_batches():
    stack, rows = make_stack(activation="tanh"), small_rows(n_rows=2000)
    rows = type(rows)(rows.features, rows.targets, torch.arange(0), torch.arange(1300))
    norms = validation_gradient_norms(stack, LOSS, rows)
    for member in range(2):
        twin, squares = as_sequential(stack, member, "tanh"), torch.zeros(5)
        for start, stop in ((0, 512), (512, 1024), (1024, 1300)):
            X = rows.features[start:stop].clone().requires_grad_()
            nn.functional.cross_entropy(twin(X), rows.targets[start:stop]).backward()
            squares = squares + X.grad.square().sum(dim=0)
        torch.testing.assert_close(norms[member], squares.sqrt())
