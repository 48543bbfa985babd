"""Penalties with a strength for each member of a stack: added to the loss, or blended.

What is penalised, P, is said by the subclasses beside the networks they belong to.
"""

from abc import ABC, abstractmethod

import torch
from torch import Tensor

from sievebench.stack.penalized_loss import NetworkT, Penalty


class _StrengthPenalty(Penalty[NetworkT], ABC):
    """A penalty P with one strength a member.

    Parameters
    ----------
    strengths : Tensor of shape (members,)
        Not negative.
    """

    def __init__(self, strengths: Tensor) -> None:
        self._strengths = strengths

    @abstractmethod
    def _penalty(self, task_losses: Tensor, network: NetworkT) -> Tensor:
        """Return P of a network that has just seen a batch with these losses."""


class AddedPenalty(_StrengthPenalty[NetworkT]):
    """Minimise ``L + λ P``; the strengths are λ."""

    def total(self, task_losses: Tensor, network: NetworkT) -> Tensor:
        """Return the penalised losses, (members,)."""
        return task_losses + self._strengths * self._penalty(task_losses, network)


class BlendedPenalty(_StrengthPenalty[NetworkT]):
    """Minimise ``(1 - l) L + l P``; the strengths are l, in [0, 1)."""

    def total(self, task_losses: Tensor, network: NetworkT) -> Tensor:
        """Return the blend, (members,)."""
        penalty = self._penalty(task_losses, network)
        return torch.lerp(task_losses, penalty, self._strengths)
