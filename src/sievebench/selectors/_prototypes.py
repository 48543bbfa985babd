"""The nearest-neighbour part of ProtoGate: gated rows, and neighbours among them."""

from dataclasses import dataclass

import torch
from torch import Tensor

from sievebench.selectors._local_gates import GatingNetwork
from sievebench.selectors._neural_sort import (
    first_places,
    squared_distances,
    without_diagonal,
)
from sievebench.stack.training import StackRows, evaluation_blocks


class PrototypeNetwork:
    """Rows with their gates on: what neighbours are looked for among.

    Parameters
    ----------
    gating : GatingNetwork

    Attributes
    ----------
    alpha : Tensor of shape (members, rows, columns)
        What the gating network said in the last forward pass.
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


@dataclass(frozen=True)
class NeighbourSettings:
    """How neighbours are counted.

    Attributes
    ----------
    n_neighbors : int
    temperature : float
        Of the relaxed sorting.
    global_penalty : float
        On the sum of absolute first-layer weights.
    local_penalties : Tensor of shape (members,)
        On the expected number of open gates of a row.
    class_weights : Tensor of shape (classes,)
        Of the queries.
    prototypes : Tensor of int
        Training rows among which validation rows look for neighbours.
    """

    n_neighbors: int
    temperature: float
    global_penalty: float
    local_penalties: Tensor
    class_weights: Tensor
    prototypes: Tensor


class NeighbourObjective:
    """Rows of a batch should have neighbours of their own class, and few open gates.

    Parameters
    ----------
    network : PrototypeNetwork
    settings : NeighbourSettings
    """

    is_recordable = False

    def __init__(self, network: PrototypeNetwork, settings: NeighbourSettings) -> None:
        self._network, self._settings = network, settings

    def losses(self, batch: Tensor, targets: Tensor) -> Tensor:
        """Return what each member minimises on a batch, (members,)."""
        settings, network = self._settings, self._network
        gated = network.forward(batch, training=True)
        missed = self._missed_neighbours(gated, targets)  # (members, rows)
        weights = settings.class_weights[targets]
        task_losses = (missed * weights).sum(dim=1) / weights.sum()
        open_gates = network.gating.shape.open_probabilities(network.alpha).sum(dim=2)
        first_weights = network.gating.network.first_weight
        return (
            task_losses
            + settings.global_penalty * first_weights.abs().sum(dim=(1, 2))
            + settings.local_penalties * open_gates.mean(dim=1)
        )

    def _missed_neighbours(self, gated: Tensor, targets: Tensor) -> Tensor:
        """Return k minus the expected number of the k neighbours of the same class."""
        n_neighbors = min(self._settings.n_neighbors, len(targets) - 1)
        if n_neighbors == 0:
            return gated.sum(dim=2) * 0.0  # a single row has no neighbours
        scores = -without_diagonal(squared_distances(gated, gated))
        places = first_places(scores, n_neighbors, self._settings.temperature)
        is_same = (targets.unsqueeze(0) == targets.unsqueeze(1)).to(gated.dtype)
        found = (places.sum(dim=2) * without_diagonal(is_same)).sum(dim=2)
        return n_neighbors - found

    def after_step_(self, learning_rate: float | Tensor) -> None:
        """Change nothing."""

    def validation_scores(self, rows: StackRows) -> Tensor:
        """Return the share of same-class rows among the k nearest prototypes.

        Plain distances and plain sorting, block by block: memory grows with the number
        of prototypes, not with its square. Rows weigh as their classes do.
        """
        settings, network = self._settings, self._network
        features, targets = rows.batch(settings.prototypes)
        prototypes = network.forward(features, training=False)
        n_neighbors = min(settings.n_neighbors, len(targets))
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
        weight = settings.class_weights[rows.targets[rows.validation]]
        return (shares * weight).sum(dim=1) / weight.sum()
