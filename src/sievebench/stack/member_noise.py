"""Random numbers of a stack: every member draws from a generator of its own.

A member therefore trains the same way whatever other members are in its stack, and
nothing is drawn from, or written to, torch's global generator.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.init import trunc_normal_

# Training noise must not repeat the numbers that the initial weights were made from.
_TRAINING_OFFSET = 1 << 32


class MemberNoise:
    """Draw noise for all members of a stack, from one seed each.

    The noise of training is drawn on the device, initial weights always on the CPU, so
    that they are the same everywhere.
    """

    def __init__(self, seeds: Sequence[int], device: torch.device) -> None:
        self.device, self.n_members = device, len(seeds)
        self._initial = [torch.Generator().manual_seed(seed) for seed in seeds]
        # What the noise of training is drawn from, one for each different seed: members
        # of one seed have the same noise, which is drawn once.
        different = list(dict.fromkeys(seeds))
        self.generators = [
            torch.Generator(device).manual_seed(seed + _TRAINING_OFFSET)
            for seed in different
        ]
        indices = [different.index(seed) for seed in seeds]
        self._indices = torch.tensor(indices, device=device)

    def initial_uniform(
        self, shape: tuple[int, ...], bound: float, dtype: torch.dtype
    ) -> Tensor:
        """Return initial weights, uniform in ±bound, (members, *shape)."""
        draws = [torch.rand(shape, generator=source) for source in self._initial]
        return torch.stack(draws).mul_(2 * bound).sub_(bound).to(self.device, dtype)

    def initial_linear(
        self, is_seen: Tensor, width: int, dtype: torch.dtype
    ) -> tuple[Tensor, Tensor]:
        """Return weights and biases of a layer whose members see different columns.

        Each member starts as it would without the columns that it does not see, whose
        weights are zero. Of (members, columns), with at least one column a member, it
        makes (members, columns, width) and (members, 1, width).
        """
        weights = torch.zeros((*is_seen.shape, width))
        biases = torch.empty((self.n_members, 1, width))
        is_seen = is_seen.cpu()
        for member, source in enumerate(self._initial):
            n_seen = int(is_seen[member].sum())
            bound = 1.0 / math.sqrt(n_seen)
            seen = torch.rand((n_seen, width), generator=source)
            weights[member, is_seen[member]] = seen.mul_(2 * bound).sub_(bound)
            bias = torch.rand((1, width), generator=source)
            biases[member] = bias.mul_(2 * bound).sub_(bound)
        return weights.to(self.device, dtype), biases.to(self.device, dtype)

    def initial_normal(
        self,
        shape: tuple[int, ...],
        std: float,
        dtype: torch.dtype,
        *,
        bound: float | None = None,
    ) -> Tensor:
        """Return initial weights, normal with mean 0, (members, *shape).

        Values beyond ±bound are drawn again.
        """
        if bound is None:
            draws = [torch.randn(shape, generator=source) for source in self._initial]
            return torch.stack(draws).mul_(std).to(self.device, dtype)
        cut_off = torch.empty((self.n_members, *shape))
        for member, source in zip(cut_off, self._initial, strict=True):
            trunc_normal_(member, std=std, a=-bound, b=bound, generator=source)
        return cut_off.to(self.device, dtype)

    def normal(self, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        """Return standard normal noise, (members, *shape)."""
        noise = self._empty(shape, dtype)
        for member, source in zip(noise, self.generators, strict=True):
            member.normal_(generator=source)
        return self._of_members(noise)

    def kept(
        self, shape: tuple[int, ...], drop_fraction: float, dtype: torch.dtype
    ) -> Tensor:
        """Return dropout factors, 0 or 1 / (1 - drop_fraction), (members, *shape)."""
        factors = self._empty(shape, dtype)
        for member, source in zip(factors, self.generators, strict=True):
            member.bernoulli_(1.0 - drop_fraction, generator=source)
        return self._of_members(factors.mul_(1.0 / (1.0 - drop_fraction)))

    def _empty(self, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        """Return room for what the generators draw, (generators, *shape)."""
        size = (len(self.generators), *shape)
        return torch.empty(size, dtype=dtype, device=self.device)

    def _of_members(self, drawn: Tensor) -> Tensor:
        """Return what is drawn by the generators for each member."""
        if len(drawn) == self.n_members:
            return drawn
        if len(drawn) == 1:
            return drawn.expand(self.n_members, *drawn.shape[1:])
        return drawn[self._indices]
