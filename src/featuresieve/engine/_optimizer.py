"""Flat parameters of a stack, and the Adam that updates all of them at once."""

from collections.abc import Mapping
from math import prod

import torch
from torch import Tensor
from torch.optim.adam import adam


class FlatParameters:
    """Named views, and their gradients, into one contiguous tensor.

    Parameters
    ----------
    shapes : mapping of str to tuple of int
        Name and shape of every parameter, in the order in which they are laid out.
    dtype : torch.dtype
    device : torch.device

    Attributes
    ----------
    flat : Tensor
        All values; its ``.grad`` holds all gradients.
    value, gradient : dict of str to Tensor
        The views by name.
    """

    def __init__(
        self,
        shapes: Mapping[str, tuple[int, ...]],
        *,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        sizes = [prod(shape) for shape in shapes.values()]
        self.flat = torch.zeros(sum(sizes), dtype=dtype, device=device)
        self.flat.grad = torch.zeros_like(self.flat)
        self.value = _views(self.flat, shapes, sizes)
        self.gradient = _views(self.flat.grad, shapes, sizes)


def _views(
    flat: Tensor, shapes: Mapping[str, tuple[int, ...]], sizes: list[int]
) -> dict[str, Tensor]:
    """Cut a flat tensor into named views."""
    parts = torch.split(flat, sizes)
    return {
        name: part.view(shape)
        for (name, shape), part in zip(shapes.items(), parts, strict=True)
    }


class StackAdam:
    """Adam with default betas and no weight decay, as PyTorch's fused kernel does it.

    The kernel is reached through PyTorch's functional ``adam``; what is left out is
    the bookkeeping of its optimiser class, which costs more than the update when the
    networks are small (63 against 32 µs for two tensors of 3,000 numbers).

    Parameters
    ----------
    groups : sequence of (tensors, learning rate)
    """

    def __init__(self, groups: list[tuple[list[Tensor], float]]) -> None:
        self._states = [
            _TensorState(tensor, rate) for tensors, rate in groups for tensor in tensors
        ]

    @property
    def state_tensors(self) -> list[Tensor]:
        """What is remembered from step to step."""
        return [tensor for state in self._states for tensor in state.remembered]

    def step(self) -> None:
        """Update every tensor from its ``.grad``, if it has one."""
        for state in self._states:
            state.update()


class _TensorState:
    """One tensor and its running averages."""

    def __init__(self, tensor: Tensor, learning_rate: float) -> None:
        self._tensor, self._learning_rate = tensor, learning_rate
        self._average = torch.zeros_like(tensor, requires_grad=False)
        self._square = torch.zeros_like(tensor, requires_grad=False)
        self._steps = torch.zeros((), dtype=torch.float32, device=tensor.device)

    @property
    def remembered(self) -> tuple[Tensor, Tensor, Tensor]:
        """The averages, and the number of steps they are of."""
        return self._average, self._square, self._steps

    def update(self) -> None:
        """Take one step."""
        if self._tensor.grad is None:
            return
        adam(
            [self._tensor],
            [self._tensor.grad],
            [self._average],
            [self._square],
            [],
            [self._steps],
            fused=True,
            capturable=self._tensor.is_cuda,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=self._learning_rate,
            weight_decay=0.0,
            eps=1e-8,
            maximize=False,
        )
