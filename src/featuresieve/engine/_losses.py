"""What a stack minimises: the task loss and the price of open gates.

Every function returns a value per member together with its gradient, in closed form:
the networks of a stack are so small that an autograd tape would cost more than the
arithmetic. The tests compare each gradient with finite differences.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from featuresieve.engine._training import PenaltyKind, Reduction
from featuresieve.engine._training_data import GateTensors

LossAndGradient = tuple[Tensor, Tensor]


class CrossEntropyLoss:
    """Negative log-likelihood in nats of integer class codes under a softmax."""

    def row_losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        log_probabilities = torch.log_softmax(outputs, dim=-1)
        codes = targets.view(1, -1, 1).expand(outputs.shape[0], -1, 1)
        return -log_probabilities.gather(-1, codes).squeeze(-1)

    def losses_and_gradient(self, outputs: Tensor, targets: Tensor) -> LossAndGradient:
        """Return `row_losses` and their gradient, softmax minus one-hot."""
        is_by_class = outputs.stride(1) == 1  # the rows of a class are side by side
        classes = 1 if is_by_class else 2
        if is_by_class:
            outputs = outputs.transpose(1, 2)
        log_probabilities = torch.log_softmax(outputs, dim=classes)
        codes = targets.expand(outputs.shape[0], -1).unsqueeze(classes)
        losses = log_probabilities.gather(classes, codes).squeeze(classes).neg_()
        gradient = log_probabilities.exp_()
        minus_one = gradient.new_full((), -1.0).expand_as(codes)
        gradient = gradient.scatter_add_(classes, codes, minus_one)
        return losses, gradient.transpose(1, 2) if is_by_class else gradient


class MultilabelLoss:
    """Binary cross-entropy in nats, averaged over the zero-one labels of a row."""

    def row_losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        # log(1 + exp(z)) - t z, in the form that does not overflow
        softplus = torch.nn.functional.softplus(outputs)
        return (softplus - outputs * targets).mean(dim=-1)

    def losses_and_gradient(self, outputs: Tensor, targets: Tensor) -> LossAndGradient:
        """Return `row_losses` and their gradient, probability minus label."""
        losses = self.row_losses(outputs, targets)
        gradient = torch.sigmoid(outputs).sub_(targets)
        return losses, gradient.div_(outputs.shape[-1])


class SquaredErrorLoss:
    """Squared error, averaged over the outputs of a row."""

    def row_losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return (outputs - targets).square_().mean(dim=-1)

    def losses_and_gradient(self, outputs: Tensor, targets: Tensor) -> LossAndGradient:
        """Return `row_losses` and their gradient, twice the residual."""
        residuals = outputs - targets  # (members, rows, outputs)
        losses = residuals.square().mean(dim=-1)
        return losses, residuals.mul_(2.0 / residuals.shape[-1])


# Stacked outputs, (members, rows, outputs), and targets become a loss for each member
# and row, and its gradient by the outputs.
TaskLoss = CrossEntropyLoss | MultilabelLoss | SquaredErrorLoss
LOSSES: dict[str, TaskLoss] = {
    "classification": CrossEntropyLoss(),
    "multilabel": MultilabelLoss(),
    "regression": SquaredErrorLoss(),
}


def reduced(
    losses: Tensor, slope: Tensor, weights: Tensor | None, reduction: Reduction
) -> Tensor:
    """Reduce row losses to one a member; without weights scale `slope` to match."""
    if weights is not None:
        return (losses * weights).sum(dim=-1)
    if reduction == "sum":
        return losses.sum(dim=-1)
    slope.mul_(1.0 / losses.shape[-1])
    return losses.mean(dim=-1)


@dataclass(frozen=True)
class SelectionPenalty:
    """The price of open gates, before it is multiplied by the balance.

    ``mean(m)``, the kept fraction, or "target": ``(mean(m) - target_count / D)^2``,
    with a count of 2 in the authors' code. Without `gates`, each gate of a mask,
    (gates, members), is one feature that costs one.
    """

    kind: PenaltyKind = "fraction"
    target_count: float = 2.0

    def value(self, mask: Tensor, gates: GateTensors | None = None) -> Tensor:
        """Return the penalty of each member."""
        fraction = _fraction(mask, gates)
        if self.kind == "fraction":
            return fraction
        n_features = mask.shape[0] if gates is None else gates.n_features
        return (fraction - self.target_count / n_features).square_()

    def gradient(
        self, mask: Tensor, gates: GateTensors | None = None
    ) -> Tensor | float:
        """Return the gradient by the gates, in a shape that fits (gates, members)."""
        n_features = mask.shape[0] if gates is None else gates.n_features
        share = 1.0 / n_features if gates is None else gates.shares
        if self.kind == "fraction":
            return share
        offset = _fraction(mask, gates) - self.target_count / n_features
        return offset.mul_(2.0) * share


def _fraction(mask: Tensor, gates: GateTensors | None) -> Tensor:
    """Return the cost of the open gates, as a share of all features."""
    return mask.mean(dim=0) if gates is None else (mask * gates.shares).sum(dim=0)
