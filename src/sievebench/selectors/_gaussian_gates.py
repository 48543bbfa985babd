"""Clipped Gaussian gates: their values, and the probability that they are open."""

import math

import torch
from torch import Tensor


def clipped_gate(location: Tensor, noise: Tensor | None, spread: float) -> Tensor:
    """Return ``clip(location + spread * noise, 0, 1)``; without noise the clipped mean.

    Parameters
    ----------
    location : Tensor
        Where the Gaussian is centred.
    noise : Tensor or None
        Standard normal, of a shape that `location` broadcasts to.
    spread : float
        Standard deviation of the Gaussian.

    Returns
    -------
    Tensor
    """
    raw = location if noise is None else location + spread * noise
    return raw.clamp(0.0, 1.0)


def open_probability(location: Tensor, spread: float) -> Tensor:
    """Return the probability that a gate is above zero, Phi(location / spread)."""
    return 0.5 * (1.0 + torch.erf(location / (spread * math.sqrt(2.0))))
