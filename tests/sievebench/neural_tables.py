"""What tests of the neural selectors share: made tables, and twins of networks."""

from dataclasses import fields

import numpy as np
import torch
from torch import nn

from sievebench.stack.member_noise import MemberNoise
from sievebench.stack.mlp import StackedMLP
from sievebench.stack.training import StackRows

CPU = torch.device("cpu")
ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh}


def signed_product(n_rows=400, n_columns=10, seed=0):
    """Return X, y and the informative columns: does a pair have the same sign?"""
    X = np.random.default_rng(seed).normal(size=(n_rows, n_columns))
    return X, X[:, 3] * X[:, 7] > 0, {3, 7}


def curved_sum(n_rows=400, n_columns=10, seed=0):
    """Return X, y and the informative columns: a sine, a square and a line."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    y = np.sin(2 * X[:, 1]) + X[:, 4] ** 2 + X[:, 8]
    return X, y + 0.1 * rng.normal(size=n_rows), {1, 4, 8}


def three_classes(n_rows=400, n_columns=10, seed=0):
    """Return X, y and the informative columns: terciles of a line plus a modulus."""
    X = np.random.default_rng(seed).normal(size=(n_rows, n_columns))
    total = X[:, 2] + 1.5 * np.abs(X[:, 5])
    return X, np.digitize(total, np.quantile(total, [1 / 3, 2 / 3])), {2, 5}


TABLES = {
    "signed_product": signed_product,
    "curved_sum": curved_sum,
    "three_classes": three_classes,
}


def on_device(rows, device):
    """Return the same rows on another device."""
    return StackRows(*(getattr(rows, f.name).to(device) for f in fields(rows)))


def make_stack(n_columns=5, n_outputs=3, seeds=(0, 1), *, noise=None, **arguments):
    """Return small networks, in float64 unless asked otherwise."""
    arguments = {"hidden_sizes": (6, 4), "dtype": torch.float64, **arguments}
    noise = noise or MemberNoise(seeds, CPU)
    return StackedMLP(n_columns, n_outputs, noise=noise, **arguments)


def small_rows(n_rows=24, n_columns=5, n_classes=3, dtype=torch.float64, seed=0):
    """Return rows for training by hand: normal columns, class codes (or values)."""
    generator = torch.Generator().manual_seed(seed)
    features = torch.randn(n_rows, n_columns, generator=generator, dtype=dtype)
    if n_classes:
        targets = torch.randint(n_classes, (n_rows,), generator=generator)
    else:
        targets = torch.randn(n_rows, generator=generator, dtype=dtype)
    n_training = 2 * n_rows // 3
    return StackRows(
        features,
        targets,
        training=torch.arange(n_training),
        validation=torch.arange(n_training, n_rows),
    )


def as_sequential(stack, member, activation="relu", batch_norm=False):
    """Return the same network as one member, of PyTorch's own layers.

    With `batch_norm` each linear layer normalises its input, as TensorFlow does.
    """
    layers, value = [], stack.state
    for layer in range(stack.n_layers):
        weight = value[f"weight{layer}"][member].detach()
        linear = nn.Linear(*weight.shape, dtype=torch.float64)
        linear.weight.data = weight.T.clone()
        linear.bias.data = value[f"bias{layer}"][member, 0].detach().clone()
        if batch_norm:
            norm = nn.BatchNorm1d(len(weight), 1e-3, 0.01, dtype=torch.float64)
            norm.weight.data = value[f"norm_scale{layer}"][member, 0].detach().clone()
            norm.bias.data = value[f"norm_shift{layer}"][member, 0].detach().clone()
            layers.append(norm)
        layers.append(linear)
        if layer == stack.n_layers - 1:
            break
        layers.append(ACTIVATIONS[activation]())
    return nn.Sequential(*layers)
