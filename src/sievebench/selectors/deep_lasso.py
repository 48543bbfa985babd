"""Deep Lasso: an MLP whose input gradient is penalised column by column.

With Δ the gradient with respect to the first layer's values (rows × hidden) and W its
weights (columns × hidden), the gradient with respect to the input is ``Δ Wᵀ``. Its
column norms need only the Gram matrix ``Δᵀ Δ``: ``|Δ W_jᵀ|² = W_j (Δᵀ Δ) W_jᵀ``. So
nothing of shape (members, rows, columns) is built, and the second derivative runs
through the layers above the first one only.
"""

from collections.abc import Mapping
from functools import reduce
from typing import Any, ClassVar

import torch
from torch import Tensor

from sievebench.selectors._neural_selector import (
    PUBLISHED_MLP,
    NeuralProblem,
    PenalizedMLPSelector,
)
from sievebench.stack.mlp import StackedMLP
from sievebench.stack.task_loss import TaskLoss
from sievebench.stack.training import StackRows

# As in the benchmark, whose mean losses are those of batches of this size.
_BATCH_ROWS = 512


class DeepLasso(PenalizedMLPSelector):
    """Score columns by the gradient of the loss with respect to them.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Norms of the input gradients on the validation rows.

    Notes
    -----
    Minimises ``(1 - l) L + l sum_j sqrt(sum_i (dL/dx_ij)² + 1e-8)``, L the mean loss of
    a batch; the score of column j is the norm of ``dL/dX_:j`` over the validation rows
    at the epoch that is best on them.

    References
    ----------
    Cherepanova et al., "A performance-driven benchmark for feature selection in tabular
    deep learning", NeurIPS 2023.
    """

    published: ClassVar[Mapping[str, Any]] = {**PUBLISHED_MLP, "penalty": 0.1}

    @staticmethod
    def _penalty(losses: Tensor, network: StackedMLP) -> Tensor:
        """Return the norms of the columns' gradients, summed, (members,)."""
        gram = first_layer_gram(losses, network, differentiable=True)
        squares = squared_column_norms(network.first_weight, gram)
        # Inside the square root, so that the norm has a gradient at zero.
        return squares.add(1e-8).sqrt().sum(dim=-1)

    def _importances(self, network: StackedMLP, problem: NeuralProblem) -> Tensor:
        return validation_gradient_norms(network, problem.task_loss, problem.rows)


def first_layer_gram(
    losses: Tensor, network: StackedMLP, *, differentiable: bool
) -> Tensor:
    """Return ``Δᵀ Δ`` of the batch just seen, (members, hidden, hidden)."""
    (delta,) = torch.autograd.grad(
        losses.sum(), network.first_layer, create_graph=differentiable
    )
    return torch.bmm(delta.transpose(1, 2), delta)


def squared_column_norms(weight: Tensor, gram: Tensor) -> Tensor:
    """Return ``W_j G W_jᵀ``, not below zero, (members, columns)."""
    return (torch.bmm(weight, gram) * weight).sum(dim=-1).clamp_min(0.0)


def validation_gradient_norms(
    network: StackedMLP, task_loss: TaskLoss, rows: StackRows
) -> Tensor:
    """Return the norm of dL/dX_:j over the validation rows, (members, columns).

    L is the mean loss of a batch of 512 rows, so that rows of a shorter last batch
    weigh more, as in the benchmark.
    """

    def gram(block: Tensor) -> Tensor:
        batch, targets = rows.batch(block)
        outputs = network.forward(batch, training=False)
        losses = task_loss.row_losses(outputs, targets).mean(dim=1)
        return first_layer_gram(losses, network, differentiable=False)

    total = reduce(torch.add, map(gram, rows.validation.split(_BATCH_ROWS)))
    return squared_column_norms(network.first_weight.detach(), total).sqrt()
