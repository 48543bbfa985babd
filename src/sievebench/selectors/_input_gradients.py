"""Norms of the gradient of the loss with respect to the input columns.

With Δ the gradient with respect to the first layer's values (rows × hidden) and W its
weights (columns × hidden), the gradient with respect to the input is ``Δ Wᵀ``. Its
column norms need only the Gram matrix ``Δᵀ Δ``: ``|Δ W_jᵀ|² = W_j (Δᵀ Δ) W_jᵀ``. So
nothing of shape (members, rows, columns) is built, and the second derivative runs
through the layers above the first one only.
"""

import torch
from torch import Tensor

from sievebench.selectors._penalties import BlendedPenalty
from sievebench.stack.mlp import StackedMLP
from sievebench.stack.task_loss import TaskLoss
from sievebench.stack.training import StackRows

# Inside the square root, so that the norm has a gradient at zero.
_EPSILON = 1e-8
# As in the benchmark, whose mean losses are those of batches of this size.
_BATCH_ROWS = 512


def first_layer_gram(
    losses: Tensor, network: StackedMLP, *, differentiable: bool
) -> Tensor:
    """Return ``Δᵀ Δ`` of the batch the network has just seen.

    Parameters
    ----------
    losses : Tensor of shape (members,)
        Of that batch.
    network : StackedMLP
    differentiable : bool
        Whether the result can itself be differentiated.

    Returns
    -------
    Tensor of shape (members, hidden, hidden)
    """
    (delta,) = torch.autograd.grad(
        losses.sum(), network.first_layer, create_graph=differentiable
    )
    return torch.bmm(delta.transpose(1, 2), delta)


def squared_column_norms(weight: Tensor, gram: Tensor) -> Tensor:
    """Return ``W_j G W_jᵀ``, not below zero, (members, columns)."""
    return (torch.bmm(weight, gram) * weight).sum(dim=-1).clamp_min(0.0)


class InputGradientPenalty(BlendedPenalty[StackedMLP]):
    """Minimise ``(1 - l) L + l sum_j sqrt(sum_i (dL/dx_ij)² + 1e-8)``."""

    def _penalty(self, task_losses: Tensor, network: StackedMLP) -> Tensor:
        """Return the norms of the columns' gradients, summed, (members,)."""
        gram = first_layer_gram(task_losses, network, differentiable=True)
        squares = squared_column_norms(network.first_weight, gram)
        return squares.add(_EPSILON).sqrt().sum(dim=-1)


def validation_gradient_norms(
    network: StackedMLP, task_loss: TaskLoss, rows: StackRows
) -> Tensor:
    """Return the norm of dL/dX_:j over the validation rows, (members, columns).

    L is the mean loss of a batch of 512 rows, so that rows of a shorter last batch
    weigh more, as in the benchmark.
    """
    total: Tensor | None = None
    for block in rows.validation.split(_BATCH_ROWS):
        batch, targets = rows.batch(block)
        outputs = network.forward(batch, training=False)
        losses = task_loss.row_losses(outputs, targets).mean(dim=1)
        gram = first_layer_gram(losses, network, differentiable=False)
        total = gram if total is None else total + gram
    assert total is not None
    return squared_column_norms(network.first_weight.detach(), total).sqrt()
