"""What a stack minimises: the task loss and the price of open gates.

Every function returns a value per member together with its gradient, in closed form:
the networks of a stack are so small that an autograd tape would cost more than the
arithmetic. The tests compare each gradient with finite differences.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

import torch
from torch import Tensor

from featuresieve.engine._gate_tensors import GateTensors

Reduction = Literal["mean", "sum"]
REDUCTIONS: tuple[Reduction, ...] = ("mean", "sum")
PenaltyKind = Literal["fraction", "target"]
PENALTY_KINDS: tuple[PenaltyKind, ...] = ("fraction", "target")


class TaskLoss(Protocol):
    """Loss of stacked outputs, one value a row, and its gradient."""

    def row_losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the loss of every member and row, (members, rows)."""
        ...

    def losses_and_gradient(
        self, outputs: Tensor, targets: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return `row_losses` and their gradient by the outputs."""
        ...


class CrossEntropyLoss:
    """Negative log-likelihood in nats of integer class codes under a softmax."""

    def row_losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the loss of every member and row, (members, rows)."""
        log_probabilities = torch.log_softmax(outputs, dim=-1)
        codes = targets.view(1, -1, 1).expand(outputs.shape[0], -1, 1)
        return -log_probabilities.gather(-1, codes).squeeze(-1)

    def losses_and_gradient(
        self, outputs: Tensor, targets: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return `row_losses` and their gradient, softmax minus one-hot."""
        if outputs.stride(1) == 1:  # the rows of a class are side by side
            losses, gradient = _entropy_and_gradient(
                outputs.transpose(1, 2), targets, 1
            )
            return losses, gradient.transpose(1, 2)
        return _entropy_and_gradient(outputs, targets, 2)


def _entropy_and_gradient(
    outputs: Tensor, targets: Tensor, class_axis: int
) -> tuple[Tensor, Tensor]:
    """Return losses, (members, rows), and gradient, with classes on the given axis."""
    log_probabilities = torch.log_softmax(outputs, dim=class_axis)
    codes = targets.expand(outputs.shape[0], -1).unsqueeze(class_axis)
    losses = log_probabilities.gather(class_axis, codes).squeeze(class_axis).neg_()
    gradient = log_probabilities.exp_()
    minus_one = gradient.new_full((), -1.0).expand_as(codes)
    return losses, gradient.scatter_add_(class_axis, codes, minus_one)


class MultilabelLoss:
    """Binary cross-entropy in nats, averaged over the labels of a row.

    For multilabel targets: one output a label, zero or one in the target.
    """

    def row_losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the loss of every member and row, (members, rows)."""
        # log(1 + exp(z)) - t z, in the form that does not overflow
        softplus = torch.nn.functional.softplus(outputs)
        return (softplus - outputs * targets).mean(dim=-1)

    def losses_and_gradient(
        self, outputs: Tensor, targets: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return `row_losses` and their gradient, probability minus label."""
        losses = self.row_losses(outputs, targets)
        gradient = torch.sigmoid(outputs).sub_(targets)
        return losses, gradient.div_(outputs.shape[-1])


class SquaredErrorLoss:
    """Squared error, averaged over the outputs of a row."""

    def row_losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the loss of every member and row, (members, rows)."""
        return (outputs - targets).square_().mean(dim=-1)

    def losses_and_gradient(
        self, outputs: Tensor, targets: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return `row_losses` and their gradient, twice the residual."""
        residuals = outputs - targets  # (members, rows, outputs)
        losses = residuals.square().mean(dim=-1)
        return losses, residuals.mul_(2.0 / residuals.shape[-1])


# The loss of each kind of task.
LOSSES: dict[str, TaskLoss] = {
    "classification": CrossEntropyLoss(),
    "multilabel": MultilabelLoss(),
    "regression": SquaredErrorLoss(),
}


def normalized_weights(row_weights: Tensor, reduction: Reduction) -> Tensor:
    """Return weights whose weighted sum of row losses is the reduced loss.

    Parameters
    ----------
    row_weights : Tensor of shape (members, rows)
        Weight of each row of a batch for each member. For a member whose weights are
        all zero in this batch, loss and gradient are zero.
    reduction : {"mean", "sum"}
        Weighted mean over the rows of the batch, or weighted sum.
    """
    if reduction == "sum":
        return row_weights
    totals = row_weights.sum(dim=-1, keepdim=True)
    return row_weights / totals.clamp_min(torch.finfo(totals.dtype).tiny)


@dataclass(frozen=True)
class SelectionPenalty:
    """The price of open gates, before it is multiplied by the balance.

    Parameters
    ----------
    kind : {"fraction", "target"}
        ``mean(m)``, the kept fraction, or ``(mean(m) - target_count / D)^2``.
    target_count : float
        The count that "target" pulls towards; 2 in the authors' code.
    """

    kind: PenaltyKind = "fraction"
    target_count: float = 2.0

    def value(self, mask: Tensor, gates: GateTensors | None = None) -> Tensor:
        """Return the penalty of each member.

        Parameters
        ----------
        mask : Tensor of shape (gates, members)
        gates : GateTensors or None
            Costs of the gates; None means that each is one feature that costs one.
        """
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
