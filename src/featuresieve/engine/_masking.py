"""The Gumbel-Sigmoid mask: the network of its logits, its noise, the decision."""

import math
from collections.abc import Iterator
from copy import copy

import numpy as np
import torch
from torch import Tensor

from featuresieve.engine._optimizer import FlatParameters, Place
from featuresieve.engine._state import State, array_of
from featuresieve.engine._training import MaskInit, NoiseKind

# Bounds the block of noise that is drawn at once, in numbers.
_BLOCK = 1 << 16
# A logit that no noise opens, so that its mask is zero to the bit.
CLOSED = -1e4


def draw_noise_(out: Tensor, kind: NoiseKind, generator: torch.Generator) -> Tensor:
    """Fill `out` with fresh gate noise.

    Gumbel noise, as the paper prints it, is ``-log(-log u)`` with u uniform. Logistic
    noise, the difference of two Gumbels, is ``log u - log(1 - u)``; it makes the mask
    a binary concrete variable. A draw of u = 0 gives minus infinity, a closed gate.
    """
    out.uniform_(generator=generator)
    if kind == "logistic":
        return out.logit_()
    return out.log_().neg_().log_().neg_()


def relaxed_mask(logits: Tensor, noise: Tensor, temperature: Tensor | float) -> Tensor:
    """Return ``sigmoid((logits + noise) / temperature)``, elementwise in (0, 1)."""
    return torch.add(logits, noise).div_(temperature).sigmoid_()


def relaxed_mask_slope(mask: Tensor, temperature: Tensor | float) -> Tensor:
    """Return the derivative of `relaxed_mask` by its logits, ``m (1 - m) / t``."""
    return torch.addcmul(mask, mask, mask, value=-1.0).div_(temperature)


def threshold_mask(logits: Tensor) -> Tensor:
    """Keep a feature when ``sigmoid(logit) > 0.5``: the paper's deterministic rule."""
    return logits > 0


def vote_mask(
    logits: Tensor, kind: NoiseKind, n_votes: int, generator: torch.Generator
) -> Tensor:
    """Keep a feature when at least one of `n_votes` noisy hard draws keeps it.

    This is the rule of the authors' package, where `n_votes` is the number of
    mini-batches in an epoch, so its answer depends on the batch size.
    """
    kept = torch.zeros_like(logits, dtype=torch.bool)
    noise = torch.empty_like(logits)
    for _ in range(n_votes):
        kept |= logits + draw_noise_(noise, kind, generator) > 0
    return kept


class NoiseBuffer:
    """Hand out noise in the shape and on the device of `like`, step after step."""

    def __init__(
        self, like: Tensor, kind: NoiseKind, generator: torch.Generator
    ) -> None:
        # Of its own, not a view that keeps all parameters in memory.
        self._like = torch.empty_like(like)
        self._kind, self._generator = kind, generator
        self._rest: Iterator[Tensor] = iter(())

    def __call__(self) -> Tensor:
        """Return the next (gates, members) noise, drawing a block when it runs out."""
        noise = next(self._rest, None)
        if noise is not None:
            return noise
        n_steps = max(1, _BLOCK // self._like.numel())
        block = self._like.new_empty(n_steps, *self._like.shape)
        draw_noise_(block, self._kind, self._generator)
        self._rest = iter(block.unbind(0)[1:])
        return block[0]

    def state(self) -> State:
        """Return what is drawn and not handed out, and the state of the generator."""
        left = list(self._rest)
        self._rest = iter(left)
        rest = torch.stack(left) if left else self._like.new_empty(0)
        return {
            "rest": rest.view(len(left), self._like.numel()).cpu().numpy(),
            "generator": self._generator.get_state().numpy(),
        }

    def load_state_dict(self, state: State) -> None:
        """Go on as the source that `state` was taken from would."""
        dtype = self._like.new_empty(0).cpu().numpy().dtype
        rest = array_of(state, "rest", dtype, (None, self._like.numel()))
        generator = array_of(state, "generator", np.uint8, (None,))
        block = torch.from_numpy(rest.copy()).to(self._like.device)
        self._rest = iter(block.view(-1, *self._like.shape).unbind(0))
        self._generator.set_state(torch.from_numpy(generator.copy()))


class MaskingNetwork:
    """Compute the logits ``w = W e + b`` of every member.

    W starts as zeros (no feature has a head start, as in the authors' code, whose bias
    is uniform), or uniform as in a plain linear layer. Whether e learns too, as the
    paper says, is `train_embedding` (the authors' code freezes it). The start is drawn
    on the CPU, so that it does not depend on the device.

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
            member_axes={"bias": 1},
        )
        value = self.parameters.value
        start = torch.randn(n_members, embedding_size, generator=generator)
        value["embedding"].copy_(start)
        bound = 1.0 / math.sqrt(embedding_size)
        for name in ("bias",) if init == "zeros" else ("projection", "bias"):
            draw = torch.rand(value[name].shape, generator=generator)
            value[name].copy_(draw.mul_(2 * bound).sub_(bound))

    def of_members(self, members: slice) -> "MaskingNetwork":
        """Return a copy of some members."""
        part = copy(self)
        part.parameters = self.parameters.of_members(members)
        return part

    def of_gates(self, gates: Tensor) -> "MaskingNetwork":
        """Return a copy of some gates."""
        part = copy(self)
        part.parameters = self.parameters.at(self.places_of(gates))
        return part

    @staticmethod
    def places_of(gates: Tensor) -> dict[str, Place]:
        """Return where the parameters of some gates stand."""
        return {"projection": (1, gates), "bias": (0, gates)}

    def close_(self, is_closed: Tensor) -> None:
        """Close gates for good, (members, gates): a closed gate has no gradient."""
        self.parameters.value["bias"].masked_fill_(is_closed.T, CLOSED)

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
        grad = logit_gradient.T.contiguous()  # (members, gates)
        torch.mul(
            grad.unsqueeze(-1),
            value["embedding"].unsqueeze(1),
            out=gradient["projection"],
        )
        if self.train_embedding:
            by_embedding = gradient["embedding"].unsqueeze(1)
            torch.bmm(grad.unsqueeze(1), value["projection"], out=by_embedding)
        else:
            gradient["embedding"].zero_()
