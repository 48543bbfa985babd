"""ProtoGate: local gates learnt through nearest neighbours. Classification only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor

from featuresieve.errors import check_choice
from featuresieve.files import Task
from sievebench.checks import (
    check_integer,
    check_number,
    check_sizes,
    check_strengths,
)
from sievebench.search_space import HiddenSizes, Integer, LogUniform, SearchSpace
from sievebench.selectors._local_gates import GateShape, GatingNetwork, mean_gates
from sievebench.selectors._neural_selector import (
    EarlyStoppedSelector,
    NeuralProblem,
    ScoredStack,
)
from sievebench.selectors._prototypes import (
    NeighbourObjective,
    NeighbourSettings,
    PrototypeNetwork,
)
from sievebench.stack.mlp import StackedMLP
from sievebench.stack.task_loss import Monitor
from sievebench.stack.training import StackRows, TrainingSettings

# Initial weights of the gating network: gates start out nearly indifferent.
_INITIAL_STD = 0.015
_CLIP_NORM = 2.5


@dataclass(kw_only=True, eq=False, repr=False)
class ProtoGate(EarlyStoppedSelector):
    """Score columns by gates that bring rows of a class near to one another.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many columns to keep: a count, or a fraction of the columns.
    penalty : float or sequence of float, default=(1e-3, 1e-2, 3e-2)
        The λ_local below. Several strengths are trained together, and the one with the
        best validation score decides.
    global_penalty : float, default=2e-4
        The λ_global below.
    n_neighbors : int, default=3
        The k below.
    sort_temperature : float, default=16.0
        The temperature of the relaxed sorting.
    gate_slope : float, default=1.0
        The a below.
    gate_spread : float, default=0.5
        The σ below.
    hidden_sizes : sequence of int, default=(200,)
        Hidden layers of the gating network.
    optimizer : {"adam", "sgd"}, default="adam"
        How the gating network is trained.
    learning_rate : float, default=3e-3
        Of the optimizer.
    weight_decay : float, default=1e-4
        Added to the gradient.
    batch_size : int or "auto", default="auto"
        Rows of a training step, among which neighbours are looked for; "auto" aims at
        16 steps an epoch, from 32 to 512 rows.
    max_epochs : int, default=200
        Longest training.
    patience : int, default=40
        Epochs without a better validation score after which a network stops.
    max_prototypes : int, default=2048
        So many training rows, drawn once, serve as prototypes for validation rows.
    validation_fraction, n_networks : various
        As in every neural selector: see the base class `NeuralSelector`.
    task : {"auto", "classification"}, default="auto"
        What the target is; regression is refused.
    random_state, device : various
        As in every neural selector.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Mean over the training rows of the gates without noise.
    support_, network_scores_, penalty_ : various
        As in every neural selector.

    Notes
    -----
    A gating network says α_ij in (-1, 1) for row i and column j; the value there is
    multiplied by ``clip(a (α_ij + σ ε_ij), 0, 1)``, ε standard normal. On the gated
    rows of a batch, NeuralSort gives the expected number of rows of the same class
    among the k nearest, and what is minimised is k minus that number, classes weighing
    the same, ``+ λ_global |W|₁ + λ_local mean_i sum_j Phi(α_ij / σ)``, W the weights of
    the gating network's first layer.

    The published evaluation builds a relaxed permutation of all training rows for
    each query, whose memory grows with the square of their number. Here validation
    rows take plain nearest neighbours among at most `max_prototypes` training rows.
    That a column's score is the mean over rows is a choice of this package: the paper
    ranks within rows only. Columns are standardised first. `as_published` has the
    authors' settings: batches of 64, gradient descent with rate 0.1, λ_local = 1e-3.

    References
    ----------
    Jiang, Margeloiu, Simidjievski and Jamnik, "ProtoGate: prototype-based neural
    networks with global-to-local feature selection for tabular biomedical data", ICML
    2024.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sievebench.selectors.proto_gate import ProtoGate
    >>> X, y = load_wine(return_X_y=True)
    >>> ProtoGate(n_features_to_select=4, random_state=0).fit_transform(X, y).shape
    (178, 4)
    """

    supported_tasks: ClassVar[tuple[Task, ...]] = ("classification",)
    # Not an argument: what validation rows measure is the share of neighbours.
    monitor: Monitor = field(default="score", init=False)
    published: ClassVar[Mapping[str, Any]] = {
        "penalty": 1e-3,
        "optimizer": "sgd",
        "learning_rate": 0.1,
        "batch_size": 64,
        "max_epochs": 5_000,
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

    def _strengths(self) -> tuple[float, ...]:
        """Return the strengths of the local penalty."""
        return check_strengths("penalty", self.penalty)

    def _check_parameters(self) -> None:
        """Raise ValueError for the first argument that is not allowed."""
        super()._check_parameters()
        check_number("global_penalty", self.global_penalty, low=0.0)
        check_integer("n_neighbors", self.n_neighbors, low=1)
        check_number("sort_temperature", self.sort_temperature, above=0.0)
        check_number("gate_slope", self.gate_slope, above=0.0)
        check_number("gate_spread", self.gate_spread, above=0.0)
        check_choice("optimizer", self.optimizer, ("adam", "sgd"))
        check_sizes("hidden_sizes", self.hidden_sizes)
        check_integer("max_prototypes", self.max_prototypes, low=1)

    def _train_stack(self, problem: NeuralProblem) -> ScoredStack:
        """Train the gating network."""
        network = self._build_network(problem)
        rows = problem.rows
        objective = NeighbourObjective(
            network,
            NeighbourSettings(
                n_neighbors=self.n_neighbors,
                temperature=self.sort_temperature,
                global_penalty=self.global_penalty,
                local_penalties=problem.strengths,
                class_weights=_balanced_weights(rows, problem.n_classes),
                prototypes=_draw_prototypes(
                    rows.training, self.max_prototypes, problem.order_seed
                ),
            ),
        )
        schedule = TrainingSettings(
            optimizer=self.optimizer,
            warm_up_epochs=0,
            decay_epochs=(),
            clip_norm=_CLIP_NORM,
        )
        best = self._train(network, objective, problem, schedule)
        return ScoredStack(mean_gates(network, rows), best)

    def _build_network(self, problem: NeuralProblem) -> PrototypeNetwork:
        """Return a fresh gating network."""
        noise = problem.noise()
        network = StackedMLP(
            problem.n_columns,
            problem.n_columns,
            hidden_sizes=tuple(self.hidden_sizes),
            noise=noise,
            activation="tanh",
            initial_std=_INITIAL_STD,
        )
        shape = GateShape(self.gate_slope, self.gate_spread, shift=0.0)
        return PrototypeNetwork(GatingNetwork(network, noise, shape))


def _balanced_weights(rows: StackRows, n_classes: int) -> Tensor:
    """Return n / (classes * count) of each class in the training rows, (classes,)."""
    counts = torch.bincount(rows.targets[rows.training], minlength=n_classes)
    return len(rows.training) / (n_classes * counts.clamp_min(1)).to(torch.float32)


def _draw_prototypes(training: Tensor, largest: int, seed: int) -> Tensor:
    """Return the training rows, or that many of them."""
    if len(training) <= largest:
        return training
    order = torch.randperm(len(training), generator=torch.Generator().manual_seed(seed))
    return training[order[:largest].to(training.device)]
