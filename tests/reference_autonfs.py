"""AutoNFS as the paper prints it in Algorithm 1: plain loops over float64 numbers.

A slow, literal reference, and nothing here is shared with the library. The mask is
multiplied into the rows, the gradients are accumulated row by row, and Adam updates one
number after another. `autograd_gradients` derives the same gradients once more, from
the printed formula, so that the loops are checked too.
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

    def row_weights(self, n_rows, weights=None):
        """Return what the loss of each row is multiplied by before the sum."""
        weights = [1.0] * n_rows if weights is None else [float(w) for w in weights]
        if self.reduction == "sum":
            return weights
        total = sum(weights)
        return [w / total if total > 0 else 0.0 for w in weights]


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


@dataclass(frozen=True)
class StepRecord:
    """What one step computed before it changed the parameters."""

    task_loss: float
    penalty: float
    mask: list
    gradients: dict


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
        self.parameters = {
            name: np.array(value, dtype=np.float64)
            for name, value in parameters.items()
        }
        self.settings = settings
        self.n_layers = sum(name.startswith("weight") for name in parameters)
        self.n_steps = 0
        self.first_moments = self._zeros()
        self.second_moments = self._zeros()

    def _zeros(self):
        return {name: np.zeros_like(value) for name, value in self.parameters.items()}

    def logits(self):
        """Return w = f(e), the linear masking network."""
        embedding = self.parameters["embedding"]
        return [
            bias + sum(a * b for a, b in zip(weights, embedding, strict=True))
            for weights, bias in zip(
                self.parameters["projection"], self.parameters["gate_bias"], strict=True
            )
        ]

    def step(self, batch):
        """Do lines 6 to 16 of Algorithm 1 on one mini-batch."""
        record = self.loss_and_gradients(batch)
        self._adam(record.gradients)
        return record

    def loss_and_gradients(self, batch):
        """Return losses and the gradient of every parameter."""
        settings, n_rows = self.settings, len(batch.X)
        mask = [
            1.0 / (1.0 + math.exp(-(w + g) / batch.temperature))
            for w, g in zip(self.logits(), batch.noise, strict=True)
        ]
        task_weights = settings.row_weights(n_rows, batch.task_weights)
        gate_weights = task_weights
        if batch.gate_weights is not None:
            gate_weights = settings.row_weights(n_rows, batch.gate_weights)
        gradients = self._zeros()
        by_mask = [0.0] * len(mask)
        task_loss = 0.0
        for i in range(n_rows):
            loss, by_parameter, by_gate = self._row(
                batch.X[i].tolist(), batch.y[i].tolist(), mask
            )
            task_loss += task_weights[i] * loss
            for name, gradient in by_parameter.items():
                gradients[name] += task_weights[i] * np.array(gradient)
            for j in range(len(mask)):
                by_mask[j] += gate_weights[i] * by_gate[j]
        penalty, by_gate = self._penalty(mask)
        for j in range(len(mask)):
            by_mask[j] += settings.balance * batch.scale * by_gate
        self._masking_gradients_(gradients, mask, by_mask, batch.temperature)
        return StepRecord(task_loss, penalty, mask, gradients)

    def _row(self, x, target, mask):
        """Run one masked row forwards and backwards."""
        activations = [[x_j * m_j for x_j, m_j in zip(x, mask, strict=True)]]
        for layer in range(self.n_layers):
            outputs = self._affine(layer, activations[-1])
            if layer < self.n_layers - 1:
                outputs = [max(value, 0.0) for value in outputs]
            activations.append(outputs)
        loss, slope = self._row_loss(activations[-1], target)
        gradients = {}
        for layer in reversed(range(self.n_layers)):
            inputs = activations[layer]
            gradients[f"bias{layer}"] = slope
            gradients[f"weight{layer}"] = [[a * s for s in slope] for a in inputs]
            weight = self.parameters[f"weight{layer}"].tolist()
            slope = [
                sum(w * s for w, s in zip(weight[j], slope, strict=True))
                for j in range(len(inputs))
            ]
            if layer > 0:
                slope = [
                    s if a > 0 else 0.0 for s, a in zip(slope, inputs, strict=True)
                ]
        by_mask = [s * x_j for s, x_j in zip(slope, x, strict=True)]
        return loss, gradients, by_mask

    def _affine(self, layer, inputs):
        weight = self.parameters[f"weight{layer}"].tolist()
        bias = self.parameters[f"bias{layer}"].tolist()
        return [
            bias[k] + sum(inputs[j] * weight[j][k] for j in range(len(inputs)))
            for k in range(len(bias))
        ]

    def _row_loss(self, outputs, target):
        """Return cross-entropy or squared error of a row, and its slope."""
        if self.settings.is_classification:
            total = sum(math.exp(output) for output in outputs)
            shares = [math.exp(output) / total for output in outputs]
            slope = [share - (c == target) for c, share in enumerate(shares)]
            return -math.log(shares[target]), slope
        residuals = [o - t for o, t in zip(outputs, target, strict=True)]
        n = len(residuals)
        return sum(r * r for r in residuals) / n, [2.0 * r / n for r in residuals]

    def _penalty(self, mask):
        """Return the selection loss and its derivative by any one gate."""
        n_columns = len(mask)
        fraction = sum(mask) / n_columns
        if self.settings.penalty == "fraction":
            return fraction, 1.0 / n_columns
        distance = fraction - self.settings.target_count / n_columns
        return distance**2, 2.0 * distance / n_columns

    def _masking_gradients_(self, gradients, mask, by_mask, temperature):
        """Go back from the mask through sigmoid and linear layer to the embedding."""
        embedding, projection = (self.parameters[n] for n in MASK_NAMES[:2])
        for j, m in enumerate(mask):
            by_logit = by_mask[j] * m * (1.0 - m) / temperature
            gradients["gate_bias"][j] = by_logit
            for k in range(len(embedding)):
                gradients["projection"][j, k] = by_logit * embedding[k]
                if self.settings.train_embedding:
                    gradients["embedding"][k] += by_logit * projection[j, k]

    def _adam(self, gradients):
        """Update every number by Adam (Kingma and Ba, Algorithm 1)."""
        self.n_steps += 1
        for name, values in self.parameters.items():
            rate = self.settings.task_learning_rate
            if name in MASK_NAMES:
                rate = self.settings.mask_learning_rate
            first, second = self.first_moments[name], self.second_moments[name]
            for place in np.ndindex(values.shape):
                g = gradients[name][place]
                first[place] = 0.9 * first[place] + 0.1 * g
                second[place] = 0.999 * second[place] + 0.001 * g * g
                mean = first[place] / (1.0 - 0.9**self.n_steps)
                square = second[place] / (1.0 - 0.999**self.n_steps)
                values[place] -= rate * mean / (math.sqrt(square) + 1e-8)


def autograd_gradients(parameters, settings, batch):
    """Return the gradients that torch.autograd finds for the printed formula."""
    p = {
        name: torch.tensor(value, dtype=torch.float64, requires_grad=True)
        for name, value in parameters.items()
    }
    logits = p["projection"] @ p["embedding"] + p["gate_bias"]
    mask = torch.sigmoid((logits + torch.tensor(batch.noise)) / batch.temperature)
    hidden = torch.tensor(batch.X) * mask
    n_layers = sum(name.startswith("weight") for name in p)
    for layer in range(n_layers):
        hidden = hidden @ p[f"weight{layer}"] + p[f"bias{layer}"]
        hidden = hidden.relu() if layer < n_layers - 1 else hidden
    if settings.is_classification:
        losses = functional.cross_entropy(
            hidden, torch.tensor(batch.y), reduction="none"
        )
    else:
        losses = functional.mse_loss(
            hidden, torch.tensor(batch.y), reduction="none"
        ).mean(dim=1)
    task_weights = batch.task_weights
    gate_weights = task_weights if batch.gate_weights is None else batch.gate_weights
    task_loss, gate_loss = (
        losses @ losses.new_tensor(settings.row_weights(len(losses), weights))
        for weights in (task_weights, gate_weights)
    )
    selection = mask.mean()
    if settings.penalty == "target":
        selection = (selection - settings.target_count / len(mask)) ** 2
    total = gate_loss + settings.balance * batch.scale * selection
    found = {}
    for name in p:
        loss = total if name in MASK_NAMES else task_loss
        found[name] = torch.autograd.grad(loss, p[name], retain_graph=True)[0].numpy()
    if not settings.train_embedding:
        found["embedding"] = np.zeros_like(found["embedding"])
    return found
