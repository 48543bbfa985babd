"""The relaxed mask: noise, Gumbel-Sigmoid, and the two rules that make it hard.

Pure functions of tensors; nothing here knows about networks or training.
"""

from typing import Literal

import torch
from torch import Tensor

NoiseKind = Literal["gumbel", "logistic"]
NOISE_KINDS: tuple[NoiseKind, ...] = ("gumbel", "logistic")


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


def open_probability(logits: Tensor, kind: NoiseKind) -> Tensor:
    """Return the chance that a noisy hard draw keeps a feature.

    ``P(w + g > 0)`` is ``1 - exp(-exp(w))`` for Gumbel noise and ``sigmoid(w)`` for
    logistic noise.
    """
    if kind == "logistic":
        return torch.sigmoid(logits)
    return -torch.expm1(-torch.exp(logits))


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
