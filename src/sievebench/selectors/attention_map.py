"""AttentionMap: what the [CLS] token of an FT-Transformer attends to."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from sievebench.search_space import Integer, LogUniform, SearchSpace, Uniform, ZeroOr
from sievebench.selectors._neural_selector import (
    EarlyStoppedSelector,
    NeuralProblem,
    ScoredStack,
)
from sievebench.stack.member_noise import MemberNoise
from sievebench.stack.training import StackRows, evaluation_blocks

# A batch is split into passes that keep at most about so many numbers, one GiB.
_PASS_NUMBERS = 1 << 28
_OF_NETWORK = (
    *("token_size", "n_layers", "n_heads", "ffn_factor"),
    *("attention_dropout", "ffn_dropout", "residual_dropout"),
)


@dataclass(kw_only=True, eq=False, repr=False)
class AttentionMap(EarlyStoppedSelector):
    """Score columns by the attention they get in an FT-Transformer.

    Parameters
    ----------
    token_size : int, default=32
        Width of a token; a multiple of `n_heads`.
    n_layers : int, default=2
        Number of layers.
    n_heads : int, default=4
        Heads of attention in each layer.
    ffn_factor : float, default=4 / 3
        Hidden units of the feed-forward parts, as a multiple of `token_size`.
    attention_dropout : float, default=0.0
        Fraction of attention left out in a training step. Above zero the whole
        attention map of a batch has to be stored: memory grows with the square of the
        number of columns, and not with their number.
    ffn_dropout : float, default=0.1
        Fraction of feed-forward units left out in a training step.
    residual_dropout : float, default=0.0
        Fraction of what a layer adds that is left out in a training step.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Mean attention of [CLS] to each column.

    Notes
    -----
    The score of column j is the mean, over validation rows, heads and layers, of the
    attention that the [CLS] token gives to the token of column j, at the epoch that is
    best on the validation rows.

    References
    ----------
    Gorishniy, Rubachev, Khrulkov and Babenko, "Revisiting deep learning models for
    tabular data", NeurIPS 2021.
    """

    published: ClassVar[Mapping[str, Any]] = {
        "token_size": 192,
        "n_layers": 3,
        "n_heads": 8,
        "attention_dropout": 0.2,
        "learning_rate": 1e-3,
        "weight_decay": 2e-4,
        "batch_size": 512,
        "max_epochs": 200,
        "patience": 20,
        "monitor": "score",
    }
    example: ClassVar[Mapping[str, Any]] = {"max_epochs": 5}
    # The benchmark's space.
    space: ClassVar[SearchSpace] = {
        "token_size": Integer(64, 512, 8),
        "n_layers": Integer(1, 4),
        "ffn_factor": Uniform(2 / 3, 8 / 3),
        "attention_dropout": Uniform(0.0, 0.5),
        "ffn_dropout": Uniform(0.0, 0.5),
        "residual_dropout": ZeroOr(Uniform(0.0, 0.2)),
        "learning_rate": LogUniform(1e-5, 1e-3),
        "weight_decay": LogUniform(1e-6, 1e-3),
    }

    token_size: int = 32
    n_layers: int = 2
    n_heads: int = 4
    ffn_factor: float = 4 / 3
    attention_dropout: float = 0.0
    ffn_dropout: float = 0.1
    residual_dropout: float = 0.0
    weight_decay: float = 1e-5
    max_epochs: int = 100
    patience: int = 15

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.token_size % self.n_heads:
            raise ValueError(
                f"token_size must be a multiple of n_heads, {self.n_heads}, "
                f"got {self.token_size!r}."
            )

    def _train_stack(self, problem: NeuralProblem) -> ScoredStack:
        """Train transformers, and look at their attention on validation rows."""
        network = FTTransformer(
            problem.n_columns,
            problem.task_loss.n_outputs,
            noise=problem.noise(),
            **{name: getattr(self, name) for name in _OF_NETWORK},
        )
        numbers_per_row = network.training_numbers_per_row(problem.n_columns)
        rows_per_pass = max(1, _PASS_NUMBERS // numbers_per_row)
        best = self._train(network, problem, rows_per_pass=rows_per_pass)
        return ScoredStack(mean_attention(network, problem.rows), best)


class FTTransformer:
    """Transformers over the columns of a row, read out at a [CLS] token.

    Column j of value x becomes the token ``x w_j + b_j``; [CLS] comes first. A layer is
    ``t + attention(norm(t))``, then ``t + ffn(norm(t))``, with ``ffn(t) =
    (u * relu(v)) W`` (ReGLU), u and v the halves of a linear map of t. The first layer
    has no norm before attention. The head is ``relu(norm(t_cls)) W + b``. The last
    layer is computed for [CLS] only: nothing else is read out.

    Shapes: batch (rows, columns), outputs (members, rows, outputs), tokens (members,
    rows, 1 + columns, token_size).
    """

    def __init__(
        self,
        n_columns: int,
        n_outputs: int,
        *,
        noise: MemberNoise,
        token_size: int,
        n_layers: int,
        n_heads: int,
        ffn_factor: float,
        attention_dropout: float,
        ffn_dropout: float,
        residual_dropout: float,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.n_members, self.noise, self._dtype = noise.n_members, noise, dtype
        self._token_size, self._n_heads, self._n_layers = token_size, n_heads, n_layers
        self._attention_dropout = attention_dropout
        self._ffn_dropout, self._residual_dropout = ffn_dropout, residual_dropout
        self._ffn_size = max(1, int(token_size * ffn_factor))
        self.trainable: dict[str, Tensor] = {}
        for name, rows in (("column", n_columns), ("shift", n_columns), ("cls", 1)):
            self._add_uniform(name, (rows, token_size), fan_in=token_size)
        for layer in range(n_layers):
            self._add_layer(layer)
        self._add_norm("head_norm")
        self._add_linear("head", token_size, n_outputs)
        self.state = self.trainable
        # Queries, keys, values and the feed-forward part are the widest.
        width = max(3 * token_size, 3 * self._ffn_size)
        self.numbers_per_row = self.n_members * (1 + n_columns) * width

    def training_numbers_per_row(self, n_columns: int) -> int:
        """Return roughly how many numbers a row needs until its gradient is taken."""
        n_tokens = 1 + n_columns
        per_token = 10 * self._token_size + 4 * self._ffn_size
        per_layer = n_tokens * per_token
        if self._attention_dropout > 0.0:
            per_layer += 4 * self._n_heads * n_tokens**2
        return self.n_members * self._n_layers * per_layer

    def _add_uniform(self, name: str, shape: tuple[int, ...], *, fan_in: int) -> None:
        """Create a parameter, uniform in ±1/sqrt(fan_in)."""
        values = self.noise.initial_uniform(shape, fan_in**-0.5, self._dtype)
        self.trainable[name] = values.requires_grad_()

    def _add_linear(self, name: str, fan_in: int, fan_out: int) -> None:
        """Create a linear map with a bias that starts at zero."""
        self._add_uniform(f"{name}.weight", (fan_in, fan_out), fan_in=fan_in)
        self._add_constant(f"{name}.bias", fan_out, 0.0)

    def _add_norm(self, name: str) -> None:
        """Create scale and shift of a layer norm."""
        self._add_constant(f"{name}.scale", self._token_size, 1.0)
        self._add_constant(f"{name}.shift", self._token_size, 0.0)

    def _add_constant(self, name: str, width: int, value: float) -> None:
        """Create a (members, 1, width) parameter with one value."""
        values = torch.full((self.n_members, 1, width), value, dtype=self._dtype)
        self.trainable[name] = values.to(self.noise.device).requires_grad_()

    def _add_layer(self, layer: int) -> None:
        """Create the parameters of one layer."""
        size, ffn_size = self._token_size, self._ffn_size
        if layer > 0:
            self._add_norm(f"{layer}.attention_norm")
        for part in ("query", "key", "value", "mix"):
            self._add_linear(f"{layer}.{part}", size, size)
        self._add_norm(f"{layer}.ffn_norm")
        self._add_linear(f"{layer}.ffn_in", size, 2 * ffn_size)
        self._add_linear(f"{layer}.ffn_out", ffn_size, size)

    def forward(
        self, batch: Tensor, *, training: bool, maps: list[Tensor] | None = None
    ) -> Tensor:
        """Return outputs, (members, rows, outputs), of a batch, (rows, columns).

        The [CLS] attention of each layer is appended to `maps`.
        """
        tokens = self._tokens(batch)
        for layer in range(self._n_layers):
            is_last = layer == self._n_layers - 1
            normed = self._norm(f"{layer}.attention_norm", tokens) if layer else tokens
            asking = normed[:, :, :1] if is_last else normed
            mixed = self._attention(layer, asking, normed, training, maps)
            tokens = tokens[:, :, :1] if is_last else tokens
            tokens = tokens + self._drop(mixed, self._residual_dropout, training)
            normed = self._norm(f"{layer}.ffn_norm", tokens)
            added = self._feed_forward(layer, normed, training)
            tokens = tokens + self._drop(added, self._residual_dropout, training)
        read_out = torch.relu(self._norm("head_norm", tokens[:, :, 0]))
        return self._linear("head", read_out)

    def cls_attention(self, batch: Tensor) -> Tensor:
        """Return how much [CLS] attends to each token, itself first, without dropout.

        The shape is (layers, members, rows, heads, 1 + columns).
        """
        maps: list[Tensor] = []
        self.forward(batch, training=False, maps=maps)
        return torch.stack(maps)

    def _tokens(self, batch: Tensor) -> Tensor:
        """Return [CLS] and one token a column."""
        values = self.trainable
        columns = torch.addcmul(
            values["shift"].unsqueeze(1),
            batch.unsqueeze(-1),
            values["column"].unsqueeze(1),
        )
        cls = values["cls"].unsqueeze(1).expand(-1, batch.shape[0], -1, -1)
        return torch.cat([cls, columns], dim=2)

    def _attention(
        self,
        layer: int,
        asking: Tensor,
        tokens: Tensor,
        training: bool,
        maps: list[Tensor] | None,
    ) -> Tensor:
        """Return multi-head attention of some tokens to all tokens."""
        query = self._heads(self._linear(f"{layer}.query", asking))
        key = self._heads(self._linear(f"{layer}.key", tokens))
        value = self._heads(self._linear(f"{layer}.value", tokens))
        if maps is not None:
            maps.append(attention_map(query[..., :1, :], key).squeeze(-2))
        if training and self._attention_dropout > 0.0:
            weights = attention_map(query, key)
            answer = self._drop(weights, self._attention_dropout, training) @ value
        else:
            # The same without ever building the whole map. It wants four axes.
            answer = functional.scaled_dot_product_attention(
                query.flatten(0, 1), key.flatten(0, 1), value.flatten(0, 1)
            ).unflatten(0, query.shape[:2])
        return self._linear(f"{layer}.mix", answer.transpose(2, 3).flatten(3))

    def _heads(self, tokens: Tensor) -> Tensor:
        """Split the width into heads, (members, rows, heads, tokens, width / heads)."""
        split: Tensor = tokens.unflatten(-1, (self._n_heads, -1))
        return split.transpose(2, 3)

    def _feed_forward(self, layer: int, tokens: Tensor, training: bool) -> Tensor:
        """Return the ReGLU part of a layer."""
        wide = self._linear(f"{layer}.ffn_in", tokens)
        gained, gate = wide.chunk(2, dim=-1)
        hidden = self._drop(gained * torch.relu(gate), self._ffn_dropout, training)
        return self._linear(f"{layer}.ffn_out", hidden)

    def _linear(self, name: str, values: Tensor) -> Tensor:
        """Apply a linear map of each member to the last axis."""
        weight, bias = self.trainable[f"{name}.weight"], self.trainable[f"{name}.bias"]
        flat = values.flatten(1, -2)  # (members, rows * tokens, width)
        mapped = torch.baddbmm(bias, flat, weight)
        return mapped.view(*values.shape[:-1], mapped.shape[-1])

    def _norm(self, name: str, values: Tensor) -> Tensor:
        """Apply a layer norm to the last axis."""
        centred = functional.layer_norm(values, values.shape[-1:])
        shape = (self.n_members, *[1] * (values.dim() - 2), self._token_size)
        scale = self.trainable[f"{name}.scale"].view(shape)
        return torch.addcmul(
            self.trainable[f"{name}.shift"].view(shape), centred, scale
        )

    def _drop(self, values: Tensor, fraction: float, training: bool) -> Tensor:
        """Apply dropout in training."""
        if not training or fraction == 0.0:
            return values
        shape = tuple(values.shape[1:])
        return values * self.noise.kept(shape, fraction, values.dtype)


def attention_map(query: Tensor, key: Tensor) -> Tensor:
    """Return ``softmax(Q Kᵀ / sqrt(width))``, (..., asking tokens, tokens)."""
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
    return torch.softmax(scores, dim=-1)


def mean_attention(network: FTTransformer, rows: StackRows) -> Tensor:
    """Return the mean attention of [CLS] on validation rows, (members, columns)."""

    def summed(block: Tensor) -> Tensor:
        maps = network.cls_attention(rows.features.index_select(0, block))
        return maps.mean(dim=(0, 3)).sum(dim=1, dtype=torch.float64)

    blocks = evaluation_blocks(rows.validation, network.numbers_per_row)
    with torch.no_grad():
        total = reduce(torch.add, map(summed, blocks))
    return total[:, 1:] / len(rows.validation)  # without [CLS] itself
