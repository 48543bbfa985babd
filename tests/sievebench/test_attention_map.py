import numpy as np
import pytest
import torch
from neural_tables import CPU, small_rows
from torch import nn

from sievebench.selectors.attention_map import (
    FTTransformer,
    attention_map,
    mean_attention,
)
from sievebench.stack.member_noise import MemberNoise

N_COLUMNS, TOKEN_SIZE, N_HEADS = 5, 8, 2


def make_network(seeds=(0, 1), n_layers=3, **arguments):
    settings = {
        "ffn_factor": 4 / 3,
        "attention_dropout": 0.0,
        "ffn_dropout": 0.0,
        "residual_dropout": 0.0,
        **arguments,
    }
    network = FTTransformer(
        N_COLUMNS,
        3,
        noise=MemberNoise(seeds, CPU),
        token_size=TOKEN_SIZE,
        n_layers=n_layers,
        n_heads=N_HEADS,
        dtype=torch.float64,
        **settings,
    )
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():  # biases and norms that start at 0 and 1 would hide errors
        for value in network.trainable.values():
            noise = torch.randn(value.shape, generator=generator, dtype=value.dtype)
            value.add_(noise, alpha=0.1)
    return network


def torch_attention(network, member, layer):
    """Return nn.MultiheadAttention with the weights of one member and layer."""
    twin = nn.MultiheadAttention(
        TOKEN_SIZE, N_HEADS, batch_first=True, dtype=torch.float64
    )
    value = {name: each[member].detach() for name, each in network.trainable.items()}
    parts = [f"{layer}.{part}" for part in ("query", "key", "value")]
    twin.in_proj_weight.data = torch.cat([value[f"{p}.weight"].T for p in parts])
    twin.in_proj_bias.data = torch.cat([value[f"{p}.bias"][0] for p in parts])
    twin.out_proj.weight.data = value[f"{layer}.mix.weight"].T
    twin.out_proj.bias.data = value[f"{layer}.mix.bias"][0]
    return twin


def slow_forward(network, member, batch, n_layers):
    """Compute one member token by token; return outputs and [CLS] attention."""
    value = {name: each[member].detach() for name, each in network.trainable.items()}

    def linear(name, tokens):
        return tokens @ value[f"{name}.weight"] + value[f"{name}.bias"][0]

    def norm(name, tokens):
        scale, shift = value[f"{name}.scale"][0], value[f"{name}.shift"][0]
        return nn.functional.layer_norm(tokens, (TOKEN_SIZE,), scale, shift)

    columns = [
        batch[:, j, None] * value["column"][j] + value["shift"][j]
        for j in range(N_COLUMNS)
    ]
    cls = value["cls"].expand(len(batch), TOKEN_SIZE)
    tokens, maps = torch.stack([cls, *columns], dim=1), []
    for layer in range(n_layers):
        seen = norm(f"{layer}.attention_norm", tokens) if layer else tokens
        mixed, weights = torch_attention(network, member, layer)(
            seen, seen, seen, average_attn_weights=False
        )
        maps.append(weights[:, :, 0])  # (rows, heads, tokens)
        tokens = tokens + mixed
        wide = linear(f"{layer}.ffn_in", norm(f"{layer}.ffn_norm", tokens))
        gained, gate = wide[..., :10], wide[..., 10:]
        tokens = tokens + linear(f"{layer}.ffn_out", gained * gate.relu())
    return linear("head", norm("head_norm", tokens[:, 0]).relu()), torch.stack(maps)


@pytest.mark.parametrize("n_layers", [1, 3])
def test_outputs_and_attention_are_those_of_torch_parts(n_layers):
    network, batch = make_network(n_layers=n_layers), small_rows().features
    outputs = network.forward(batch, training=True)
    maps = network.cls_attention(batch)
    for member in range(2):
        expected, attention = slow_forward(network, member, batch, n_layers)
        torch.testing.assert_close(outputs[member], expected)
        torch.testing.assert_close(maps[:, member], attention)


def test_explicit_attention_is_the_fused_one_when_nothing_is_dropped():
    # A drop fraction this small takes the explicit way, and drops nothing here.
    fused, explicit = make_network(), make_network(attention_dropout=1e-12)
    batch = small_rows().features
    torch.testing.assert_close(
        explicit.forward(batch, training=True), fused.forward(batch, training=True)
    )


@pytest.mark.parametrize(
    "name", ["attention_dropout", "ffn_dropout", "residual_dropout"]
)
def test_dropout_acts_in_training_only(name):
    network, batch = make_network(**{name: 0.5}), small_rows().features
    plain = network.forward(batch, training=False)
    torch.testing.assert_close(plain, make_network().forward(batch, training=False))
    assert not torch.allclose(plain, network.forward(batch, training=True))


def test_attention_map_is_a_softmax_of_scaled_products():
    generator = torch.Generator().manual_seed(0)
    query = torch.randn(4, 3, generator=generator).double()
    key = torch.randn(6, 3, generator=generator).double()
    products = np.exp(query.numpy() @ key.numpy().T / np.sqrt(3))
    expected = products / products.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(attention_map(query, key).numpy(), expected)


def test_scores_are_the_mean_over_validation_rows_heads_and_layers():
    network, rows = make_network(), small_rows(n_rows=30)
    maps = network.cls_attention(rows.features[rows.validation]).detach().numpy()
    expected = maps.mean(axis=(0, 2, 3))[:, 1:]
    network.numbers_per_row = 1 << 21  # four rows a block
    np.testing.assert_allclose(mean_attention(network, rows).numpy(), expected)


def test_passes_over_a_batch_bound_what_a_row_needs():
    narrow = make_network().training_numbers_per_row(100)
    wide = make_network().training_numbers_per_row(1000)
    assert wide < 11 * narrow  # linear in the columns without attention dropout
    dropping = make_network(attention_dropout=0.1)
    assert dropping.training_numbers_per_row(1000) > 2 * wide
