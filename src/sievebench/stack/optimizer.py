"""AdamW, Adam and SGD for the parameters of a stack.

The updates are PyTorch's own, reached through its functional forms: they are
element-wise, so members do not touch one another. PyTorch's optimiser classes are left
out because building the first one imports its compiler, which takes longer than many a
fit here.
"""

from collections.abc import Iterable
from typing import Literal, cast

import torch
from torch import Tensor
from torch.optim.adam import adam
from torch.optim.adamw import adamw
from torch.optim.sgd import sgd

OptimizerName = Literal["adamw", "adam", "sgd"]


class StackedOptimizer:
    """Update parameters from their gradients.

    Parameters
    ----------
    parameters : iterable of Tensor
        The first axis of each is the member.
    name : {"adamw", "adam", "sgd"}
        AdamW decouples weight decay from the gradient, Adam and SGD (no momentum) add
        it to the gradient, as PyTorch's classes of these names do.
    weight_decay : float
    clip_norm : float or None, default=None
        Upper bound on the norm of a member's whole gradient.
    """

    def __init__(
        self,
        parameters: Iterable[Tensor],
        name: OptimizerName,
        *,
        weight_decay: float,
        clip_norm: float | None = None,
    ) -> None:
        self._parameters = list(parameters)
        self._name: OptimizerName = name
        self._weight_decay, self._clip_norm = weight_decay, clip_norm
        if name != "sgd":
            self._averages = [torch.zeros_like(value) for value in self._parameters]
            self._squares = [torch.zeros_like(value) for value in self._parameters]
            self._steps = [
                torch.zeros((), dtype=torch.float32, device=value.device)
                for value in self._parameters
            ]

    def step_(self, gradients: list[Tensor], learning_rate: float | Tensor) -> None:
        """Change the parameters.

        Parameters
        ----------
        gradients : list of Tensor
            In the order of the parameters; scaled in place if they are clipped.
        learning_rate : float or Tensor of shape ()
        """
        # The fused updates read memory in order, whatever the strides say.
        gradients = [value.contiguous() for value in gradients]
        if self._clip_norm is not None:
            _clip_(gradients, self._clip_norm)
        with torch.no_grad():
            if self._name == "sgd":
                self._sgd_step_(gradients, learning_rate)
            else:
                self._adam_step_(gradients, learning_rate)

    def _sgd_step_(
        self, gradients: list[Tensor], learning_rate: float | Tensor
    ) -> None:
        """Go down the gradient."""
        sgd(
            self._parameters,
            gradients,
            [None] * len(gradients),
            fused=True,
            weight_decay=self._weight_decay,
            momentum=0.0,
            # The fused form takes a tensor too, which its annotation does not say.
            lr=cast(float, learning_rate),
            dampening=0.0,
            nesterov=False,
            maximize=False,
        )

    def _adam_step_(
        self, gradients: list[Tensor], learning_rate: float | Tensor
    ) -> None:
        """Take a step of Adam or AdamW with the usual betas."""
        update = adamw if self._name == "adamw" else adam
        update(
            self._parameters,
            gradients,
            self._averages,
            self._squares,
            [],
            self._steps,
            fused=True,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=learning_rate,
            weight_decay=self._weight_decay,
            eps=1e-8,
            maximize=False,
        )


def _clip_(gradients: list[Tensor], largest: float) -> None:
    """Scale each member's gradient down to a norm of at most `largest`."""
    squares = torch.stack([value.flatten(1).square().sum(1) for value in gradients])
    norms = squares.sum(dim=0).sqrt()  # (members,)
    factors = (largest / (norms + 1e-6)).clamp(max=1.0)
    for value in gradients:
        value.mul_(factors.view(-1, *[1] * (value.dim() - 1)))
