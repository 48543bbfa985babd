"""ProtoGate: local gates learnt through nearest neighbours. Classification only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from featuresieve.files import Task
from sievebench.search_space import HiddenSizes, Integer, LogUniform, SearchSpace
from sievebench.selectors._neural_selector import (
    EarlyStoppedSelector,
    NeuralProblem,
    ScoredStack,
)
from sievebench.selectors.lspin import GatingNetwork, mean_gates
from sievebench.stack.mlp import NormalStart, StackedMLP
from sievebench.stack.penalized_loss import stack_outputs
from sievebench.stack.task_loss import Monitor
from sievebench.stack.training import Objective, StackRows, evaluation_blocks

# Of the gating network: gates start out nearly indifferent.
_START = NormalStart(0.015, bound=0.03)
_CLIP_NORM = 2.5


@dataclass(kw_only=True, eq=False, repr=False)
class ProtoGate(EarlyStoppedSelector):
    """Score columns by gates that bring rows of a class near to one another.

    Parameters
    ----------
    global_penalty : float, default=2e-4
        The λ_global below.
    n_neighbors : int, default=3
        The k below.
    sort_temperature : float, default=16.0
        The temperature of the relaxed sorting.
    hidden_sizes : sequence of int, default=(200,)
        Hidden layers of the gating network.
    max_steps : int or None, default=None
        Longest training in steps instead, rounded up to whole epochs.
    max_prototypes : int, default=2048
        So many training rows, drawn once, serve as prototypes for validation rows.
    task : {"auto", "classification"}, default="auto"
        What the target is; regression is refused.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Mean over the training rows of the gates without noise.

    Notes
    -----
    A gating network says α_ij in (-1, 1) for row i and column j; the value there is
    multiplied by ``clip(a (α_ij + σ ε_ij), 0, 1)``, ε standard normal. On the gated
    rows of a batch, NeuralSort gives the expected number of rows of the same class
    among the k nearest, the row itself being one of them as in the authors' code, and
    what is minimised is k minus that number ``+ λ_global |W|₁ + λ_local mean_i sum_j
    Phi(α_ij / σ)``, W the weights of the gating network's first layer, λ_local the
    penalty.
    Validation rows take plain nearest neighbours among `max_prototypes` training rows.

    References
    ----------
    Jiang, Margeloiu, Simidjievski and Jamnik, "ProtoGate: prototype-based neural
    networks with global-to-local feature selection for tabular biomedical data", ICML
    2024.
    """

    supported_tasks: ClassVar[tuple[Task, ...]] = ("classification",)
    published: ClassVar[Mapping[str, Any]] = {
        "penalty": 1e-3,
        "optimizer": "sgd",
        "learning_rate": 0.1,
        "batch_size": 64,
        "max_steps": 8_000,
        "patience": 500,
    }
    # Our proposal; the paper's space was not published.
    space: ClassVar[SearchSpace] = {
        "penalty": LogUniform(1e-4, 1e-1),
        "global_penalty": LogUniform(1e-5, 1e-3),
        "n_neighbors": Integer(1, 5),
        "hidden_sizes": HiddenSizes(Integer(1, 2), Integer(50, 500)),
        "learning_rate": LogUniform(1e-3, 1e-1),
    }

    penalty: float | Sequence[float] = (1e-3, 1e-2, 3e-2)
    global_penalty: float = 2e-4
    n_neighbors: int = 3
    sort_temperature: float = 16.0
    gate_slope: float = 1.0
    gate_spread: float = 0.5
    hidden_sizes: Sequence[int] = (200,)
    optimizer: Literal["adam", "sgd"] = "adam"
    max_prototypes: int = 2048
    max_steps: int | None = None
    # Not an argument: what validation rows measure is the share of neighbours.
    monitor: Monitor = field(default="score", init=False)

    def _train_stack(self, problem: NeuralProblem) -> ScoredStack:
        """Train the gating network on the loss of `NeighbourObjective`."""
        gating = StackedMLP(
            problem.n_columns,
            problem.n_columns,
            hidden_sizes=tuple(self.hidden_sizes),
            noise=problem.noise(),
            activation="tanh",
            start=_START,
        )
        network = PrototypeNetwork(
            GatingNetwork(gating, self.gate_slope, self.gate_spread, shift=0.0)
        )
        rows = problem.rows
        objective = NeighbourObjective(
            network,
            n_neighbors=self.n_neighbors,
            temperature=self.sort_temperature,
            global_penalty=self.global_penalty,
            local_penalties=problem.strengths,
            prototypes=_draw_prototypes(
                rows.training, self.max_prototypes, problem.order_seed
            ),
        )
        best = self._train(
            network,
            problem,
            objective=objective,
            max_epochs=self._n_epochs(problem),
            optimizer=self.optimizer,
            clip_norm=_CLIP_NORM,
            warm_up_epochs=0,
            decay_epochs=(),
        )
        gates = mean_gates(network.gating, rows, network.numbers_per_row)
        return ScoredStack(gates, best)

    def _n_epochs(self, problem: NeuralProblem) -> int:
        """Return the epochs of `max_steps`, rounded up, or `max_epochs` without it."""
        if self.max_steps is None:
            return self.max_epochs
        steps_per_epoch = max(1, len(problem.rows.training) // problem.batch_size)
        return -(-self.max_steps // steps_per_epoch)


def _draw_prototypes(training: Tensor, largest: int, seed: int) -> Tensor:
    """Return the training rows, or that many of them."""
    if len(training) <= largest:
        return training
    order = torch.randperm(len(training), generator=torch.Generator().manual_seed(seed))
    return training[order[:largest].to(training.device)]


class PrototypeNetwork:
    """Rows with their gates on: what neighbours are looked for among.

    `alpha`, (members, rows, columns), is what the gating network said in the last
    forward pass.
    """

    def __init__(self, gating: GatingNetwork) -> None:
        self.gating = gating
        self.n_members, self.noise = gating.network.n_members, gating.network.noise
        self.trainable: dict[str, Tensor] = gating.network.trainable
        self.state: dict[str, Tensor] = gating.network.state
        self.numbers_per_row = gating.network.numbers_per_row
        self.alpha = torch.empty(0)

    def forward(self, batch: Tensor, *, training: bool) -> Tensor:
        """Return gated rows, (members, rows, columns)."""
        self.alpha, gates = self.gating.forward(batch, training=training)
        return batch * gates


@dataclass(eq=False)
class NeighbourObjective(Objective):
    """Rows of a batch should have neighbours of their own class, and few open gates."""

    network: PrototypeNetwork
    n_neighbors: int
    temperature: float  # of the relaxed sorting
    global_penalty: float  # on the sum of absolute first-layer weights
    local_penalties: Tensor  # on the expected number of open gates of a row, (members,)
    prototypes: Tensor  # training rows among which validation rows look for neighbours

    is_recordable = False

    def losses(self, batch: Tensor, targets: Tensor) -> Tensor:
        """Return what each member minimises on a batch, (members,)."""
        gated = self.network.forward(batch, training=True)
        gating, alpha = self.network.gating, self.network.alpha
        n_neighbors = min(self.n_neighbors, len(targets))
        scores = -squared_distances(gated, gated)
        ranks = relaxed_ranks(scores, n_neighbors, self.temperature)
        is_same = (targets.unsqueeze(0) == targets.unsqueeze(1)).to(gated.dtype)
        found = (ranks.sum(dim=2) * is_same).sum(dim=2)  # (members, rows)
        size = gating.network.first_weight.abs().sum(dim=(1, 2))
        n_open = gating.open_probabilities(alpha).sum(dim=2)  # (members, rows)
        return (
            n_neighbors
            - found.mean(dim=1)
            + self.global_penalty * size
            + self.local_penalties * n_open.mean(dim=1)
        )

    def validation_scores(self, rows: StackRows) -> Tensor:
        """Return the share of same-class rows among the k nearest prototypes.

        Plain distances and plain sorting, block by block: memory grows with the number
        of prototypes, not with its square.
        """
        network = self.network
        prototypes = stack_outputs(network, rows.features, self.prototypes)
        targets = rows.targets.index_select(0, self.prototypes)
        n_neighbors = min(self.n_neighbors, len(targets))
        numbers_per_row = network.numbers_per_row + network.n_members * len(targets)
        # Small results between large ones that come and go would scatter the memory.
        shares = prototypes.new_empty(network.n_members, len(rows.validation))
        start = 0
        for block in evaluation_blocks(rows.validation, numbers_per_row):
            batch, wanted = rows.batch(block)
            queries = network.forward(batch, training=False)
            distances = squared_distances(queries, prototypes)
            nearest = distances.topk(n_neighbors, dim=2, largest=False).indices
            is_same = targets[nearest] == wanted.view(1, -1, 1)
            shares[:, start : start + len(block)] = is_same.to(batch.dtype).mean(dim=2)
            start += len(block)
        return shares.mean(dim=1)


def distance_sums(scores: Tensor) -> Tensor:
    """Return ``sum_l |s_j - s_l|`` for each j, along the last axis.

    By sorting, so that memory grows with the number of scores and not its square.
    """
    n = scores.shape[-1]
    ordered, order = _sorted(scores)
    up_to = ordered.cumsum(dim=-1)  # the score itself included
    rank = torch.arange(1, n + 1, dtype=scores.dtype, device=scores.device)
    sums = (2 * rank - n) * ordered + up_to[..., -1:] - 2 * up_to
    return torch.empty_like(sums).scatter(-1, order, sums)


def _sorted(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Return scores in ascending order along the last axis, and that order."""
    if scores.device.type == "cpu":
        # Ten times faster than torch, but equal scores come in any order.
        order = torch.from_numpy(np.argsort(scores.detach().numpy(), axis=-1))
        ordered = scores.gather(-1, order)
        if (ordered[..., 1:] > ordered[..., :-1]).all():
            return ordered, order
    ordered, order = scores.sort(dim=-1)
    return ordered, order


def relaxed_ranks(scores: Tensor, n_ranks: int, temperature: float) -> Tensor:
    """Return the first rows of the relaxed permutation that sorts in descending order.

    Row i is ``softmax(((n + 1 - 2 i) s - sum_l |s - s_l|) / temperature)``: how much
    each item is the i-th largest. Rows sum to one; with a low temperature they are
    the rows of the permutation matrix. Shapes: (..., n) to (..., n_ranks, n).
    """
    n = scores.shape[-1]
    rank = torch.arange(1, n_ranks + 1, dtype=scores.dtype, device=scores.device)
    factors = (n + 1 - 2 * rank).unsqueeze(-1)  # (n_ranks, 1)
    raised = factors * scores.unsqueeze(-2) - distance_sums(scores).unsqueeze(-2)
    return torch.softmax(raised / temperature, dim=-1)


def squared_distances(queries: Tensor, items: Tensor) -> Tensor:
    """Return squared distances, (members, queries, items), without a third axis."""
    cross = torch.bmm(queries, items.transpose(1, 2))
    lengths = items.square().sum(dim=-1).unsqueeze(1)
    return queries.square().sum(dim=-1, keepdim=True) + lengths - 2 * cross
