"""LassoNet's gradient steps, as the package takes them but without autograd.

A step of its small network costs the package several times what its matrix products
cost. Here the same operations run in the same order, so that every weight comes out the
same to the last bit.
"""

import math
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, cast

import torch
from torch import Tensor
from torch.optim.adam import adam

Rows = tuple[Tensor, Tensor]  # features and target


def proximal_step(
    beta: Tensor, sizes: Tensor, penalty: Tensor | float, hierarchy: float
) -> tuple[Tensor, Tensor]:
    """Return the package's `prox` of skip weights, and a bound on the other weights.

    The operations are its own, for each column; `sizes` are those of the other weights
    in descending order, (hidden, columns), and the bound is (1, columns).
    """
    divisors = _divisors(len(sizes), hierarchy, beta.device)
    nothing = torch.zeros_like(sizes[:1])
    reach = penalty - hierarchy * torch.cat([nothing, sizes.cumsum(dim=0)])
    norm = torch.linalg.vector_norm(beta, dim=0)
    is_there = norm > 0
    factor = torch.relu(1 - reach / torch.where(is_there, norm, 1.0))
    factor = torch.where(is_there, factor / divisors, 0.0)
    bound = hierarchy * factor * norm
    index = torch.sum(torch.cat([sizes, nothing]) > bound, dim=0, keepdim=True)
    return factor.gather(0, index) * beta, bound.gather(0, index)


@lru_cache(maxsize=4)
def _divisors(n_sizes: int, hierarchy: float, device: torch.device) -> Tensor:
    """Return ``1 + s M²`` for s from 0 to `n_sizes`, (n_sizes + 1, 1)."""
    counts = torch.arange(n_sizes + 1.0).view(-1, 1).to(device)
    return 1 + counts * hierarchy**2


class Network:
    """The package's network without dropout: outputs, gradients, proximal steps."""

    def __init__(self, model: Any) -> None:
        self._layers, self._skip = list(model.layers), model.skip

    def outputs(self, X: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return the outputs, and what came into each layer."""
        *hidden_layers, last = self._layers
        inputs = [X]
        for layer in hidden_layers:
            hidden = torch.addmm(layer.bias, inputs[-1], layer.weight.t())
            inputs.append(hidden.relu_())
        deep = torch.addmm(last.bias, inputs[-1], last.weight.t())
        return torch.mm(X, self._skip.weight.t()) + deep, inputs

    def set_gradients_(self, slope: Tensor, inputs: list[Tensor]) -> None:
        """Set the gradients of all weights; `slope` is that of the outputs."""
        self._skip.weight.grad = slope.t().mm(inputs[0])
        for number in reversed(range(len(self._layers))):
            layer = self._layers[number]
            layer.weight.grad = slope.t().mm(inputs[number])
            layer.bias.grad = slope.sum(dim=0)
            if number > 0:
                slope = torch.ops.aten.threshold_backward(
                    slope.mm(layer.weight), inputs[number], 0
                )

    def take_proximal_step_(self, penalty: float, hierarchy: float) -> None:
        """Shrink skip weights, and cut the first layer's down to what they allow."""
        skip, first = self._skip.weight.data, self._layers[0].weight.data
        sizes = first.abs()
        ordered = sizes.sort(dim=0, descending=True).values
        new_skip, bound = proximal_step(skip, ordered, penalty, hierarchy)
        skip.copy_(new_skip)
        first.copy_(torch.where(first >= 0, 1.0, -1.0) * torch.minimum(sizes, bound))

    def skip_norm(self) -> float:
        """Return the sum of the norms of the columns' skip weights."""
        return float(torch.linalg.vector_norm(self._skip.weight, dim=0).sum())


class Optimizer:
    """What the package and the steps here need of an optimizer of torch.

    Building one of those imports torch's compiler, which takes longer than a hundred
    penalties of a small table.
    """

    def __init__(self, parameters: Iterable[Tensor]) -> None:
        self.parameters = list(parameters)
        self.param_groups = [{"lr": 1e-3}]
        self.memory = [torch.zeros_like(value) for value in self.parameters]

    def gradients(self) -> list[Tensor]:
        """Return those of the parameters."""
        return [cast(Tensor, value.grad) for value in self.parameters]

    def step_(self) -> None:
        """Change the parameters by their gradients."""


class Adam(Optimizer):
    """Adam, as the package trains the dense network."""

    def __init__(self, parameters: Iterable[Tensor]) -> None:
        super().__init__(parameters)
        self._squares = [torch.zeros_like(value) for value in self.parameters]
        self._counts = [torch.zeros(()) for _ in self.parameters]

    def step_(self) -> None:
        adam(
            self.parameters,
            self.gradients(),
            self.memory,
            self._squares,
            [],
            self._counts,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=self.param_groups[0]["lr"],
            weight_decay=0.0,
            eps=1e-8,
            maximize=False,
        )


class Momentum(Optimizer):
    """Gradient descent with a momentum of 0.9, as the package goes along the path."""

    def step_(self) -> None:
        rate = self.param_groups[0]["lr"]
        for value, gradient, velocity in zip(
            self.parameters, self.gradients(), self.memory, strict=True
        ):
            velocity.mul_(0.9).add_(gradient)
            value.add_(velocity, alpha=-rate)


def train(
    estimator: Any,
    learnt: Rows,
    judged: Rows,
    *,
    batch_size: int | None,
    epochs: int,
    penalty: float,
    optimizer: Optimizer,
    patience: int,
) -> tuple[float, float, int]:
    """Train at one penalty; return the last loss, objective, and count of epochs.

    That is the package's `_train` without dropout, groups, backtracking and L2.
    """
    network = Network(estimator.model)

    def objective() -> float:
        outputs, _ = network.outputs(judged[0])
        loss = float(estimator.criterion(outputs, judged[1]))
        return loss + penalty * network.skip_norm()

    with torch.no_grad():
        best = now = objective()
        loss, n_epochs, n_waited = math.nan, 0, 0
        while n_epochs < epochs and n_waited < patience:
            loss = 0.0
            for batch in _batches(learnt, batch_size):
                own = _step(estimator, network, batch, penalty, optimizer)
                loss += own * len(batch[0]) / len(learnt[0])
            n_epochs += 1
            n_waited += 1
            now = objective()
            if now < estimator.tol * best:
                best, n_waited = now, 0
    return loss, now, n_epochs


def _step(
    estimator: Any,
    network: Network,
    batch: Rows,
    penalty: float,
    optimizer: Optimizer,
) -> float:
    """Take a gradient step and a proximal one; return the loss before them."""
    outputs, inputs = network.outputs(batch[0])
    loss, slope = _loss_and_slope(estimator, outputs, batch[1])
    network.set_gradients_(slope, inputs)
    optimizer.step_()
    rate = optimizer.param_groups[0]["lr"]
    network.take_proximal_step_(penalty * rate, estimator.M)
    return loss


def _batches(rows: Rows, batch_size: int | None) -> Iterator[Rows]:
    """Return the full batches of an epoch, in a new order unless all rows are one."""
    X, y = rows
    if batch_size is None:
        yield rows
        return
    size = min(batch_size, len(X))
    order = torch.randperm(len(X))
    for start in range(0, len(X) - size + 1, size):
        some = order[start : start + size]
        yield X[some], y[some]


def _loss_and_slope(
    estimator: Any, outputs: Tensor, target: Tensor
) -> tuple[float, Tensor]:
    """Return the loss, and its gradient with respect to the outputs."""
    with torch.enable_grad():
        outputs = outputs.requires_grad_()
        loss = estimator.criterion(outputs, target)
        (slope,) = torch.autograd.grad(loss, outputs)
    value = float(loss)
    if not math.isfinite(value):
        raise FloatingPointError(f"Loss is {value}.")
    return value, slope
