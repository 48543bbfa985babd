"""The neural comparison selectors: speed against their packages, and memory.

Usage (from the repository root)::

    python benchmarks/neural_selectors.py speed     # one training step, ours and theirs
    python benchmarks/neural_selectors.py memory    # peak memory at 500,000 x 272

Needs ``pip install --no-deps captum rtdl_revisiting_models`` for the peers; a peer that
is not there is a row that says so. One thread; the two sides of a ratio are timed in
turns, in one process, and the medians compared. Every measurement of `memory` is a
process of its own.
"""

import argparse
import json
import resource
import statistics
import time
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
import stamp
import torch
from torch import Tensor, nn

from sievebench.selectors.attention_map import FTTransformer
from sievebench.selectors.deep_lasso import DeepLasso
from sievebench.selectors.stochastic_gates import GatedMLP
from sievebench.stack import training as stacked_training
from sievebench.stack.member_noise import MemberNoise
from sievebench.stack.mlp import StackedMLP, StackedNetwork
from sievebench.stack.penalized_loss import PenalizedLoss
from sievebench.stack.task_loss import TaskLoss
from sievebench.stack.training import (
    StackRows,
    TrainingSettings,
    train_stack,
)

CPU = torch.device("cpu")
N_COLUMNS, N_CLASSES, BATCH = 272, 5, 512
LOSS = TaskLoss.for_classes(N_CLASSES)
N_STEPS, N_TURNS = 20, 7
MEMORY_ROWS, MEMORY_STEPS = 500_000, 20

Action = Callable[[], object]


def made_rows(n_columns: int, n_steps: int, batch_size: int) -> StackRows:
    """Return rows for one epoch of so many steps, and no validation rows."""
    generator = torch.Generator().manual_seed(0)
    n_rows = n_steps * batch_size
    return StackRows(
        features=torch.randn(n_rows, n_columns, generator=generator),
        targets=torch.randint(N_CLASSES, (n_rows,), generator=generator),
        training=torch.arange(n_rows),
        validation=torch.arange(0),
    )


def ours(
    network: StackedNetwork,
    penalised: Callable[[Tensor], Tensor] | None,
    rows: StackRows,
    batch: int,
) -> Action:
    """Return one epoch of the stacked trainer."""
    objective = PenalizedLoss(network, LOSS, penalised)
    settings = TrainingSettings(batch_size=batch, max_epochs=1)
    return lambda: train_stack(network, objective, rows, settings, order_seed=0)


def theirs(
    parameters: list[Tensor],
    loss_of: Callable[[Tensor, Tensor], Tensor],
    rows: StackRows,
    batch: int,
) -> Action:
    """Return one epoch of a plain PyTorch loop with AdamW."""
    optimizer = torch.optim.AdamW(parameters, lr=1e-3, weight_decay=2e-4)

    def epoch() -> None:
        for picked in torch.randperm(len(rows.training)).split(batch):
            loss = loss_of(rows.features[picked], rows.targets[picked])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return epoch


def plain_network(hidden_sizes: tuple[int, ...]) -> nn.Sequential:
    """Return an MLP of PyTorch's own layers."""
    sizes, layers = (N_COLUMNS, *hidden_sizes), []
    for fan_in, fan_out in pairwise(sizes):
        layers += [nn.Linear(fan_in, fan_out), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], N_CLASSES))


def in_turns(first: Action, second: Action, n_steps: int) -> tuple[float, float]:
    """Return the median milliseconds a step of two epochs that alternate."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for turn in range(N_TURNS + 1):
        for action, taken in zip((first, second), seconds, strict=True):
            start = time.perf_counter()
            action()
            if turn > 0:  # the first turn warms up
                taken.append(time.perf_counter() - start)
    first_ms, second_ms = (1e3 * statistics.median(s) / n_steps for s in seconds)
    return first_ms, second_ms


def measure_plain() -> dict[str, Any]:
    """Ten seeds of one MLP: a stack of ten, and ten networks one after the other."""
    rows = made_rows(N_COLUMNS, N_STEPS, BATCH)
    stack = StackedMLP(
        N_COLUMNS, N_CLASSES, hidden_sizes=(100, 100), noise=noise(range(10))
    )
    loops = []
    for _ in range(10):
        network = plain_network((100, 100))
        loss_of = lambda X, y, f=network: nn.functional.cross_entropy(f(X), y)  # noqa: E731
        loops.append(theirs(list(network.parameters()), loss_of, rows, BATCH))
    mine, other = in_turns(
        ours(stack, None, rows, BATCH), lambda: [loop() for loop in loops], N_STEPS
    )
    return {"what": "MLP, 10 seeds", "peer": "10 torch loops", **ratio(mine, other)}


def measure_gates() -> dict[str, Any]:
    """STG with 400 and 200 units against captum's gates before the same network."""
    captum = import_module("captum.module")
    rows = made_rows(N_COLUMNS, N_STEPS, BATCH)
    network = StackedMLP(
        N_COLUMNS, N_CLASSES, hidden_sizes=(400, 200), noise=noise((0,))
    )
    gated, strengths = GatedMLP(network, 0.5), torch.tensor([0.1])
    gates = captum.GaussianStochasticGates(N_COLUMNS, reg_weight=0.1)
    plain = plain_network((400, 200))

    def loss_of(X: Tensor, y: Tensor) -> Tensor:
        gated_rows, regularisation = gates(X)
        return nn.functional.cross_entropy(plain(gated_rows), y) + regularisation

    parameters = [*gates.parameters(), *plain.parameters()]
    mine, other = in_turns(
        ours(gated, lambda L: L + strengths * gated.open_share(), rows, BATCH),
        theirs(parameters, loss_of, rows, BATCH),
        N_STEPS,
    )
    return {"what": "STG step", "peer": "captum gates", **ratio(mine, other)}


def measure_deep_lasso() -> dict[str, Any]:
    """Deep Lasso's Gram form against double backward on the input."""
    rows = made_rows(N_COLUMNS, N_STEPS, BATCH)
    stack = StackedMLP(N_COLUMNS, N_CLASSES, hidden_sizes=(100, 100), noise=noise((0,)))
    plain = plain_network((100, 100))

    def loss_of(X: Tensor, y: Tensor) -> Tensor:
        X = X.requires_grad_()
        loss = nn.functional.cross_entropy(plain(X), y)
        (slope,) = torch.autograd.grad(loss, X, create_graph=True)
        return 0.9 * loss + 0.1 * (slope.square().sum(dim=0) + 1e-8).sqrt().sum()

    def penalised(losses: Tensor) -> Tensor:
        return DeepLasso._penalised(losses, stack, torch.tensor([0.1]))

    mine, other = in_turns(
        ours(stack, penalised, rows, BATCH),
        theirs(list(plain.parameters()), loss_of, rows, BATCH),
        N_STEPS,
    )
    without = StackedMLP(
        N_COLUMNS, N_CLASSES, hidden_sizes=(100, 100), noise=noise((0,))
    )
    again, bare = in_turns(
        ours(stack, penalised, rows, BATCH),
        ours(without, None, rows, BATCH),
        N_STEPS,
    )
    return {
        "what": "Deep Lasso step",
        "peer": "double backward",
        **ratio(mine, other),
        "times_a_step_without_penalty": round(again / bare, 2),
    }


def measure_transformer(token_size: int, n_layers: int, n_heads: int) -> dict[str, Any]:
    """Compare with rtdl_revisiting_models: same weights, 64 columns."""
    rtdl = import_module("rtdl_revisiting_models")
    n_columns, batch, n_steps = 64, 64, 3
    network = FTTransformer(
        n_columns,
        N_CLASSES,
        noise=noise((0,)),
        token_size=token_size,
        n_layers=n_layers,
        n_heads=n_heads,
        ffn_factor=4 / 3,
        attention_dropout=0.0,
        ffn_dropout=0.1,
        residual_dropout=0.0,
    )
    peer = rtdl.FTTransformer(
        n_cont_features=n_columns,
        cat_cardinalities=[],
        d_out=N_CLASSES,
        n_blocks=n_layers,
        d_block=token_size,
        attention_n_heads=n_heads,
        attention_dropout=0.0,
        ffn_d_hidden=None,
        ffn_d_hidden_multiplier=4 / 3,
        ffn_dropout=0.1,
        residual_dropout=0.0,
    )
    copy_weights_(peer, network, n_layers)
    rows = made_rows(n_columns, n_steps, batch)
    with torch.no_grad():
        mine_out = network.forward(rows.features[:batch], training=False)[0]
        difference = (peer.eval()(rows.features[:batch], None) - mine_out).abs().max()
    peer.train()
    mine, other = in_turns(
        ours(network, None, rows, batch),
        theirs(
            list(peer.parameters()),
            lambda X, y: nn.functional.cross_entropy(peer(X, None), y),
            rows,
            batch,
        ),
        n_steps,
    )
    return {
        "what": f"FT-Transformer step, tokens of {token_size}",
        "peer": "rtdl_revisiting_models",
        **ratio(mine, other),
        "largest_difference_of_outputs": float(difference),
    }


def copy_weights_(peer: Any, network: FTTransformer, n_layers: int) -> None:
    """Give the peer the weights of our network."""
    value = {name: each[0].detach() for name, each in network.trainable.items()}

    def linear_(layer: Any, name: str) -> None:
        layer.weight.data = value[f"{name}.weight"].T.clone()
        layer.bias.data = value[f"{name}.bias"][0].clone()

    def norm_(layer: Any, name: str) -> None:
        layer.weight.data = value[f"{name}.scale"][0].clone()
        layer.bias.data = value[f"{name}.shift"][0].clone()

    peer.cls_embedding.weight.data = value["cls"][0].clone()
    peer.cont_embeddings.weight.data = value["column"].clone()
    peer.cont_embeddings.bias.data = value["shift"].clone()
    for layer, block in enumerate(peer.backbone.blocks[:n_layers]):
        parts = {"W_q": "query", "W_k": "key", "W_v": "value", "W_out": "mix"}
        for theirs_, mine in parts.items():
            linear_(getattr(block["attention"], theirs_), f"{layer}.{mine}")
        if layer > 0:
            norm_(block["attention_normalization"], f"{layer}.attention_norm")
        norm_(block["ffn_normalization"], f"{layer}.ffn_norm")
        linear_(block["ffn"].linear1, f"{layer}.ffn_in")
        linear_(block["ffn"].linear2, f"{layer}.ffn_out")
    norm_(peer.backbone.output.normalization, "head_norm")
    linear_(peer.backbone.output.linear, "head")


def noise(seeds: Any) -> MemberNoise:
    """Return generators on the CPU."""
    return MemberNoise(tuple(seeds), CPU)


def ratio(mine: float, other: float) -> dict[str, float]:
    """Return both times, in milliseconds a step, and theirs over ours."""
    return {
        "ours_ms": round(mine, 3),
        "theirs_ms": round(other, 3),
        "times_as_fast": round(other / mine, 2),
    }


def run_speed() -> list[dict[str, Any]]:
    """Measure everything in one process, on one thread."""
    torch.set_num_threads(1)
    records = []
    for name, measure in {
        "plain": measure_plain,
        "gates": measure_gates,
        "deep lasso": measure_deep_lasso,
        "small transformer": lambda: measure_transformer(32, 2, 4),
        "published transformer": lambda: measure_transformer(192, 3, 8),
    }.items():
        try:
            records.append(measure())
        except ImportError as error:
            records.append({"what": name, "failed": str(error)})
        print(records[-1], flush=True)
    return records


MEMORY_CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "nothing": ("no_selection", "NoSelection", {}),
    "1l-lasso": ("first_layer_lasso", "FirstLayerLasso", {}),
    "agl": ("adaptive_group_lasso", "AdaptiveGroupLasso", {"n_steps": 1}),
    "deep-lasso": ("deep_lasso", "DeepLasso", {}),
    "stg": ("stochastic_gates", "StochasticGates", {}),
    "lspin": ("lspin", "LSPIN", {}),
    "protogate": ("proto_gate", "ProtoGate", {}),
    # Transformers are slow: few steps, few validation rows.
    "am": ("attention_map", "AttentionMap", {"validation_fraction": 0.004}),
    "am, published": (
        "attention_map",
        "AttentionMap.as_published",
        {"validation_fraction": 0.001},
    ),
}


def measure_memory(name: str) -> dict[str, Any]:
    """Fit one selector with few steps; return the peak memory of this process."""
    module, kind, arguments = MEMORY_CASES[name]
    n_steps = 2 if name.startswith("am") else MEMORY_STEPS
    all_batches = stacked_training.epoch_batches

    def few_batches(training: Tensor, size: int, order: torch.Generator) -> Any:
        yield from list(all_batches(training, size, order))[:n_steps]

    stacked_training.epoch_batches = few_batches
    rng = np.random.default_rng(0)
    X = rng.standard_normal((MEMORY_ROWS, N_COLUMNS), dtype=np.float32)
    y = rng.integers(0, N_CLASSES, MEMORY_ROWS)
    build: Any = import_module(f"sievebench.selectors.{module}")
    for part in kind.split("."):
        build = getattr(build, part)
    if name not in ("nothing", "agl"):
        arguments = {**arguments, "max_epochs": 1}
    start = time.perf_counter()
    build(task="classification", random_state=0, **arguments).fit(X, y)
    return {
        "selector": name,
        "seconds": round(time.perf_counter() - start, 1),
        "peak_gib": round(
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2
        ),
    }


def run_memory() -> list[dict[str, Any]]:
    """Measure each case in a process of its own."""
    records = []
    for name in MEMORY_CASES:
        found = stamp.in_process("one-memory", name, OMP_NUM_THREADS="1")
        records.append({"selector": name, **found})
        print(records[-1], flush=True)
    return records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("speed", "memory", "one-memory"))
    parser.add_argument("name", nargs="?")
    arguments = parser.parse_args()
    if arguments.what == "one-memory":
        print(json.dumps(measure_memory(arguments.name)))
        return
    records = run_speed() if arguments.what == "speed" else run_memory()
    stamp.write(
        f"neural_selectors_{arguments.what}",
        {"stamp": stamp.stamp(), "records": records},
    )


if __name__ == "__main__":
    main()
