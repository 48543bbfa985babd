"""The noise of a stack's masks, drawn for many steps at once."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from featuresieve.engine._gumbel_sigmoid import NoiseKind, draw_noise_
from featuresieve.engine._state import State, array_of

# Bounds the block that is drawn at once, in numbers.
_BLOCK = 1 << 16


class NoiseBuffer:
    """Hand out the noise of one step after another.

    Parameters
    ----------
    like : Tensor of shape (gates, members)
        Tells shape, dtype and device.
    kind : {"gumbel", "logistic"}
    generator : torch.Generator
        On the same device.
    """

    def __init__(
        self, like: Tensor, kind: NoiseKind, generator: torch.Generator
    ) -> None:
        self._like, self._kind, self._generator = like, kind, generator
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
