"""AutoNFS as the paper prints it in Algorithm 1, for one network in float64.

A literal reference, and nothing here is shared with the library: the mask is multiplied
into the rows, autograd derives the printed formula, and PyTorch's own Adam takes the
steps.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional

MASK_NAMES = ("embedding", "projection", "gate_bias")


@dataclass(frozen=True)
class ReferenceSettings:
    """What Algorithm 1 fixes (the defaults), and the choices the library adds."""

    is_classification: bool = True
    balance: float = 1.0
    penalty: str = "fraction"
    target_count: float = 2.0
    reduction: str = "sum"
    train_embedding: bool = True
    mask_learning_rate: float = 4e-3
    task_learning_rate: float = 3e-4


@dataclass(frozen=True)
class Batch:
    """The rows of one step, the noise of its mask, and its two knobs."""

    X: np.ndarray
    y: np.ndarray
    noise: np.ndarray
    temperature: float = 2.0
    scale: float = 1.0
    task_weights: np.ndarray | None = None
    gate_weights: np.ndarray | None = None


def gumbel(u):
    """Return the noise of Algorithm 1, line 7, from a uniform number."""
    return -math.log(-math.log(u))


def logistic(u):
    """Return the difference of two Gumbel variables, by its quantile function."""
    return math.log(u / (1.0 - u))


def temperature_of_epoch(epoch):
    temperature = 2.0
    for _ in range(epoch):
        temperature *= 0.997
    return temperature


class ReferenceAutoNFS:
    """One network trained as Algorithm 1 says.

    Parameters
    ----------
    parameters : dict of str to array
        embedding (e,), projection (columns, e), gate_bias (columns,), and for every
        layer k of the task network weight{k} (inputs, outputs) and bias{k} (outputs,).
    settings : ReferenceSettings
    """

    def __init__(self, parameters, settings):
        self.settings = settings
        self.parameters = {
            name: torch.tensor(value, dtype=torch.float64, requires_grad=True)
            for name, value in parameters.items()
        }
        groups = {True: [], False: []}
        for name, value in self.parameters.items():
            groups[name in MASK_NAMES].append(value)
        rates = {True: settings.mask_learning_rate, False: settings.task_learning_rate}
        self.optimizer = torch.optim.Adam(
            [{"params": groups[key], "lr": rates[key]} for key in groups]
        )

    def logits(self):
        """Return w = f(e), the linear masking network."""
        p = self.parameters
        return p["projection"] @ p["embedding"] + p["gate_bias"]

    def step(self, batch):
        """Do lines 6 to 16 of Algorithm 1 on one mini-batch.

        Return the task loss, and the gradient of every parameter before the step.
        """
        logits = self.logits() + torch.tensor(batch.noise)
        mask = torch.sigmoid(logits / batch.temperature)
        losses = self._row_losses(torch.tensor(batch.X) * mask, torch.tensor(batch.y))
        task_loss = gate_loss = self._reduced(losses, batch.task_weights)
        if batch.gate_weights is not None:
            gate_loss = self._reduced(losses, batch.gate_weights)
        total = gate_loss + self.settings.balance * batch.scale * self._penalty(mask)
        for name, parameter in self.parameters.items():
            loss = total if name in MASK_NAMES else task_loss
            (parameter.grad,) = torch.autograd.grad(loss, parameter, retain_graph=True)
        if not self.settings.train_embedding:
            self.parameters["embedding"].grad.zero_()
        self.optimizer.step()
        gradients = {name: p.grad.numpy() for name, p in self.parameters.items()}
        return float(task_loss.detach()), gradients

    def _row_losses(self, hidden, targets):
        """Return cross-entropy or squared error of every masked row."""
        n_layers = sum(name.startswith("weight") for name in self.parameters)
        for layer in range(n_layers):
            hidden = hidden @ self.parameters[f"weight{layer}"]
            hidden = hidden + self.parameters[f"bias{layer}"]
            hidden = hidden.relu() if layer < n_layers - 1 else hidden
        if self.settings.is_classification:
            return functional.cross_entropy(hidden, targets, reduction="none")
        return (hidden - targets).square().mean(dim=1)

    def _reduced(self, losses, weights):
        """Return the sum or the mean of the losses, by row weights if there are any."""
        weights = torch.ones(len(losses)) if weights is None else torch.tensor(weights)
        total = losses @ weights.to(losses.dtype)
        if self.settings.reduction == "sum":
            return total
        return total / weights.sum() if weights.sum() > 0 else total * 0.0

    def _penalty(self, mask):
        fraction = mask.mean()
        if self.settings.penalty == "fraction":
            return fraction
        return (fraction - self.settings.target_count / len(mask)) ** 2
