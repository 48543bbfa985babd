"""The masking network of a stack: an embedding per member, one logit per gate."""

import math
from typing import Literal

import torch
from torch import Tensor

from featuresieve.engine._parameters import FlatParameters

MaskInit = Literal["zeros", "uniform"]
MASK_INITS: tuple[MaskInit, ...] = ("zeros", "uniform")


class MaskingNetwork:
    """Compute ``w = W e + b`` for every member.

    Parameters
    ----------
    n_gates, n_members, embedding_size : int
    init : {"zeros", "uniform"}
        Start of the projection W: zeros (no feature has a head start, as in the
        authors' code, whose bias is uniform), or uniform as in a plain linear layer.
    train_embedding : bool
        Whether e learns too, as the paper says (the authors' code freezes it).
    generator : torch.Generator
        On the CPU, whatever the device, so that the start does not depend on it.
    dtype, device
        Where the parameters live.

    Notes
    -----
    Logits, masks and biases have the gate axis first, (gates, members), the layout in
    which the mask is folded into the first layer of the task network.
    """

    def __init__(
        self,
        n_gates: int,
        n_members: int,
        *,
        embedding_size: int,
        init: MaskInit,
        train_embedding: bool,
        generator: torch.Generator,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        self.train_embedding = train_embedding
        self.parameters = FlatParameters(
            {
                "embedding": (n_members, embedding_size),
                "projection": (n_members, n_gates, embedding_size),
                "bias": (n_gates, n_members),
            },
            dtype=dtype,
            device=device,
        )
        value = self.parameters.value
        start = torch.randn(n_members, embedding_size, generator=generator)
        value["embedding"].copy_(start)
        bound = 1.0 / math.sqrt(embedding_size)
        names = ("bias",) if init == "zeros" else ("projection", "bias")
        for name in names:
            draw = torch.rand(value[name].shape, generator=generator)
            value[name].copy_(draw.mul_(2 * bound).sub_(bound))

    def logits(self) -> Tensor:
        """Return the logit of every gate and member, (gates, members)."""
        value = self.parameters.value
        # The row times the matrix: the matrix times the column takes a CPU several
        # times as long for more than one member.
        projected = torch.bmm(
            value["embedding"].unsqueeze(1), value["projection"].transpose(1, 2)
        )
        return value["bias"] + projected.squeeze(1).T

    def backward(self, logit_gradient: Tensor) -> None:
        """Write the gradients that follow from d loss / d logits, (gates, members)."""
        value, gradient = self.parameters.value, self.parameters.gradient
        gradient["bias"].copy_(logit_gradient)
        slope = logit_gradient.T.contiguous()  # (members, gates)
        torch.mul(
            slope.unsqueeze(-1),
            value["embedding"].unsqueeze(1),
            out=gradient["projection"],
        )
        if self.train_embedding:
            by_embedding = gradient["embedding"].unsqueeze(1)
            torch.bmm(slope.unsqueeze(1), value["projection"], out=by_embedding)
