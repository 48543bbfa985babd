"""The group lasso on the first layer of a network: one group a column."""

import torch
from torch import Tensor

from sievebench.selectors._penalties import BlendedPenalty
from sievebench.stack.mlp import StackedMLP
from sievebench.stack.penalized_loss import Penalty

# Inside the square root, so that the norm has a gradient at zero.
_EPSILON = 1e-8


def column_norms(weight: Tensor) -> Tensor:
    """Return the Euclidean norm of each column's weights.

    Parameters
    ----------
    weight : Tensor of shape (members, columns, hidden)

    Returns
    -------
    Tensor of shape (members, columns)
    """
    norms: Tensor = torch.linalg.vector_norm(weight, dim=-1)
    return norms


def smooth_group_norm(weight: Tensor) -> Tensor:
    """Return the sum over columns of sqrt(|w_j|² + 1e-8), (members,)."""
    return weight.square().sum(dim=-1).add(_EPSILON).sqrt().sum(dim=-1)


def shrink_groups(weight: Tensor, thresholds: Tensor) -> Tensor:
    """Return the proximal step of the group lasso.

    ``argmin_v |v - w_j|² / 2 + t_j |v|``, which is ``max(0, 1 - t_j / |w_j|) w_j``.

    Parameters
    ----------
    weight : Tensor of shape (members, columns, hidden)
    thresholds : Tensor of shape (members, columns)
        Not negative; may be infinite.

    Returns
    -------
    Tensor of shape (members, columns, hidden)
    """
    norms = column_norms(weight)
    factors = torch.where(norms > thresholds, 1.0 - thresholds / norms, 0.0)
    return weight * factors.unsqueeze(-1)


class FirstLayerPenalty(BlendedPenalty[StackedMLP]):
    """Minimise ``(1 - l) L + l sum_j sqrt(|w_j|² + 1e-8)``."""

    def _penalty(self, task_losses: Tensor, network: StackedMLP) -> Tensor:  # noqa: ARG002
        """Return the norms of the groups, summed, (members,)."""
        return smooth_group_norm(network.first_weight)


class ProximalGroupLasso(Penalty[StackedMLP]):
    """Shrink the groups after each gradient step by ``learning rate * t_j``.

    Parameters
    ----------
    thresholds : Tensor of shape (members, columns)
        Strength of the penalty on each group; infinite ones stay shut.
    """

    def __init__(self, thresholds: Tensor) -> None:
        self._thresholds = thresholds

    def after_step_(self, network: StackedMLP, learning_rate: float | Tensor) -> None:
        """Take the proximal step."""
        weight = network.first_weight
        weight.copy_(shrink_groups(weight, self._thresholds * learning_rate))
