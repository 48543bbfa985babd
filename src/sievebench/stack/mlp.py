"""Multi-layer perceptrons of a stack: members that train together on the same rows."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Protocol

import torch
from torch import Tensor
from torch.nn import functional

from sievebench.stack.member_noise import MemberNoise

Activation = Literal["relu", "tanh"]
_LINEAR = ("weight", "bias")

# As in the batch normalisation of TensorFlow, which LSPIN's authors use.
_NORM_MOMENTUM, _NORM_EPSILON = 0.01, 1e-3


@dataclass(frozen=True)
class NormalStart:
    """Normal initial weights, cut off beyond ±bound; biases zero, or like the weights.

    The deviation is that of the normal variable before it is cut off.
    """

    std: float
    bound: float | None = None
    has_biases: bool = False


class StackedNetwork(Protocol):
    """What the trainer needs of a network."""

    n_members: int
    noise: MemberNoise  # what all random numbers of training come from
    trainable: dict[str, Tensor]  # the first axis of each is the member
    state: dict[str, Tensor]  # what a checkpoint keeps: also running statistics
    # Roughly how many numbers the widest layer of all members needs for one row.
    numbers_per_row: int

    def forward(self, batch: Tensor, *, training: bool) -> Tensor:
        """Return outputs, (members, rows, outputs), of a batch, (rows, columns)."""


class StackedMLP:
    """Networks of Linear, activation and dropout blocks with a linear head.

    Shapes: batch (rows, columns), or (members, rows, columns) if every member sees its
    own values; outputs (members, rows, outputs). With a shared batch the first layer of
    all members is one product, and nothing of shape (members, rows, columns) is built.

    The seeds of `noise` decide the number of members. Weights and biases start uniform
    in ±1/sqrt(fan_in), as in torch.nn, unless `start` says otherwise. `batch_norm`
    normalises what comes into each layer, the batch itself included. `is_seen`,
    (members, columns), says which columns each member sees, all by default: a member
    trains as if the others were not there. `first_layer`, (members, rows, hidden), is
    what the first product gave in the last forward pass.
    """

    def __init__(
        self,
        n_columns: int,
        n_outputs: int,
        *,
        hidden_sizes: tuple[int, ...],
        noise: MemberNoise,
        activation: Activation = "relu",
        dropout: float = 0.0,
        batch_norm: bool = False,
        start: NormalStart | None = None,
        dtype: torch.dtype = torch.float32,
        is_seen: Tensor | None = None,
    ) -> None:
        self.n_members = noise.n_members
        self.n_layers = len(hidden_sizes) + 1
        self._widths = hidden_sizes
        self.noise, self._dtype = noise, dtype
        self._activation = {"relu": torch.relu, "tanh": torch.tanh}[activation]
        self._dropout, self._batch_norm = dropout, batch_norm
        self.first_layer = torch.empty(0)
        self.trainable: dict[str, Tensor] = {}
        self._statistics: dict[str, Tensor] = {}
        self._seen: Tensor | None = None
        if is_seen is not None:
            if start is not None:
                raise ValueError("start must be None where is_seen is given.")
            self._seen = is_seen.to(noise.device, dtype)
        sizes = (n_columns, *hidden_sizes, n_outputs)
        for layer, (fan_in, fan_out) in enumerate(pairwise(sizes)):
            self._add_linear(layer, fan_in, fan_out, start)
            if batch_norm:
                self._add_batch_norm(layer, fan_in)
        self.state = {**self.trainable, **self._statistics}
        self.numbers_per_row = n_columns + self.n_members * max(sizes[1:])

    def _add_linear(
        self, layer: int, fan_in: int, fan_out: int, start: NormalStart | None
    ) -> None:
        """Create weight and bias of one layer."""
        if layer == 0 and self._seen is not None:
            first = self.noise.initial_linear(self._seen > 0, fan_out, self._dtype)
            for name, values in zip(("weight0", "bias0"), first, strict=True):
                self.trainable[name] = values.requires_grad_()
            return
        bound = 1.0 / math.sqrt(fan_in)
        for name, shape in zip(_LINEAR, ((fan_in, fan_out), (1, fan_out)), strict=True):
            if start is None:
                values = self.noise.initial_uniform(shape, bound, self._dtype)
            elif name == "weight" or start.has_biases:
                values = self.noise.initial_normal(
                    shape, start.std, self._dtype, bound=start.bound
                )
            else:
                values = self.noise.initial_normal(shape, 0.0, self._dtype)
            self.trainable[f"{name}{layer}"] = values.requires_grad_()

    def _add_batch_norm(self, layer: int, width: int) -> None:
        """Create scale, shift and running statistics of what comes into a layer."""
        shape = (self.n_members, 1, width)
        ones = torch.ones(shape, dtype=self._dtype, device=self.noise.device)
        self.trainable[f"norm_scale{layer}"] = ones.clone().requires_grad_()
        self.trainable[f"norm_shift{layer}"] = torch.zeros_like(ones).requires_grad_()
        self._statistics[f"running_mean{layer}"] = torch.zeros_like(ones)
        self._statistics[f"running_variance{layer}"] = ones

    @property
    def first_weight(self) -> Tensor:
        """Weights of the first layer, (members, columns, hidden)."""
        return self.trainable["weight0"]

    def forward(
        self, batch: Tensor, *, training: bool, column_scale: Tensor | None = None
    ) -> Tensor:
        """Return outputs, (members, rows, outputs).

        `training` drops units, and normalises by the batch's own statistics.
        `column_scale`, (members, columns), are factors on the columns of all rows. They
        are folded into the weights: ``(x * s) W = x (diag(s) W)``.
        """
        weight = self.first_weight
        if self._seen is not None:  # what is not seen stays zero
            seen = self._seen
            column_scale = seen if column_scale is None else seen * column_scale
        if column_scale is not None:
            weight = weight * column_scale.unsqueeze(-1)
        bias = self.trainable["bias0"]
        if self._batch_norm:
            weight, bias = self._with_norm(batch, 0, weight, bias, training)
        hidden = _first_product(batch, weight) + bias
        self.first_layer = hidden
        kept = self._kept_units(hidden) if training else None
        for layer in range(1, self.n_layers):
            hidden = self._activation(hidden)
            if kept is not None:
                hidden = hidden * kept[layer - 1]
            weight, bias = (self.trainable[f"{name}{layer}"] for name in _LINEAR)
            if self._batch_norm:
                weight, bias = self._with_norm(hidden, layer, weight, bias, training)
            hidden = torch.baddbmm(bias, hidden, weight)
        return hidden

    def _kept_units(self, like: Tensor) -> list[Tensor] | None:
        """Return dropout factors of the hidden layers, (members, rows, hidden) each.

        They are drawn at once: on a GPU a step costs what its calls cost.
        """
        if self._dropout == 0.0 or not self._widths:
            return None
        n_rows = like.shape[1]
        sizes = [n_rows * width for width in self._widths]
        factors = self.noise.kept((sum(sizes),), self._dropout, like.dtype)
        return [
            part.view(self.n_members, n_rows, -1)
            for part in factors.split(sizes, dim=1)
        ]

    def _with_norm(
        self, inputs: Tensor, layer: int, weight: Tensor, bias: Tensor, training: bool
    ) -> tuple[Tensor, Tensor]:
        """Return weight and bias of a layer that normalises its inputs first.

        ``((x - m) / d * s + t) W + b = x (diag(s / d) W) + (t - m s / d) W + b``: there
        are fewer weights than inputs of a batch. In training the statistics are those
        of the inputs, (members, rows, width) or (rows, width), and the running ones
        follow.
        """
        mean = self._statistics[f"running_mean{layer}"]
        variance = self._statistics[f"running_variance{layer}"]
        n_rows = inputs.shape[-2]
        if training and n_rows > 1:
            # Plain sums: torch.var_mean is slow along this axis on a CPU.
            batch_mean = inputs.mean(dim=-2, keepdim=True)
            centred = inputs - batch_mean
            batch_variance = centred.square().mean(dim=-2, keepdim=True)
            with torch.no_grad():
                mean.lerp_(batch_mean.expand_as(mean), _NORM_MOMENTUM)
                unbiased = batch_variance * (n_rows / (n_rows - 1))
                variance.lerp_(unbiased.expand_as(variance), _NORM_MOMENTUM)
            mean, variance = batch_mean, batch_variance
        factor = self.trainable[f"norm_scale{layer}"] * torch.rsqrt(
            variance + _NORM_EPSILON
        )
        shift = self.trainable[f"norm_shift{layer}"] - mean * factor
        return weight * factor.transpose(1, 2), torch.baddbmm(bias, shift, weight)


def _first_product(batch: Tensor, weight: Tensor) -> Tensor:
    """Return batch @ weight for each member, (members, rows, hidden)."""
    n_members, n_columns, width = weight.shape
    if batch.dim() == 3:
        return torch.bmm(batch, weight)
    if n_members == 1:
        return functional.linear(batch, weight[0].T).unsqueeze(0)
    # One product of the shared batch with the weights of all members side by side.
    side_by_side = weight.transpose(0, 1).reshape(n_columns, n_members * width)
    stacked = batch @ side_by_side  # (rows, members * hidden)
    return stacked.view(-1, n_members, width).transpose(0, 1)
