"""Parameters of a stack in one flat buffer, so that one fused step updates them all."""

from collections.abc import Mapping
from math import prod

import torch
from torch import Tensor


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
