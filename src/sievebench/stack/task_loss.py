"""What the networks of a stack are trained and judged by.

Not the losses of the library, which have closed-form gradients: these networks have
dropout, batch normalisation and penalties, and go through autograd.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

Monitor = Literal["score", "loss"]


@dataclass(frozen=True)
class TaskLoss:
    """Loss and validation score of one task."""

    # Of class codes; of one logit for two classes; of standardised values.
    kind: Literal["cross_entropy", "binary", "squared"]
    n_outputs: int

    @classmethod
    def for_classes(cls, n_classes: int) -> "TaskLoss":
        """Return the loss for so many classes, for real values if there are none."""
        if n_classes > 2:
            return cls("cross_entropy", n_classes)
        return cls("binary" if n_classes == 2 else "squared", 1)

    def row_losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the losses, (members, rows), of (members, rows, outputs)."""
        shared = targets.expand(outputs.shape[0], -1)  # (members, rows)
        if self.kind == "cross_entropy":
            return functional.cross_entropy(
                outputs.transpose(1, 2), shared, reduction="none"
            )
        first = outputs.squeeze(-1)
        if self.kind == "squared":
            return torch.square(first - shared)
        return functional.binary_cross_entropy_with_logits(
            first, shared.to(first.dtype), reduction="none"
        )

    def score(self, outputs: Tensor, targets: Tensor, monitor: Monitor) -> Tensor:
        """Return one score a member, larger = better, of (members, rows, outputs).

        With ``monitor="score"`` accuracy for several classes, area under the ROC curve
        for two, minus the root mean squared error for values; with ``"loss"`` minus
        the mean loss.
        """
        if monitor == "loss":
            return -self.row_losses(outputs, targets).mean(dim=1)
        if self.kind == "squared":
            return -self.row_losses(outputs, targets).mean(dim=1).sqrt()
        if self.kind == "binary":
            return area_under_roc(outputs.squeeze(-1), targets)
        return (outputs.argmax(dim=-1) == targets).to(outputs.dtype).mean(dim=1)


def area_under_roc(logits: Tensor, targets: Tensor) -> Tensor:
    """Return the area under the ROC curve of each row of `logits`.

    The share of (positive, negative) pairs in the right order, ties counting one half,
    from the mean rank of the positives, which are the targets that are 1. NaN if only
    one class is there, or a logit is not finite.
    """
    ordered = logits.sort(dim=1).values
    below = torch.searchsorted(ordered, logits, side="left")
    up_to = torch.searchsorted(ordered, logits, side="right")
    ranks = (below + up_to + 1).double() / 2  # mean rank of ties, from 1
    is_positive = targets == 1
    n_positive = is_positive.sum().double()
    n_negative = is_positive.numel() - n_positive
    # Picking the positives would have the host wait for the GPU.
    excess = (ranks * is_positive).sum(dim=1) - n_positive * (n_positive + 1) / 2
    areas = excess / (n_positive * n_negative)
    is_finite = logits.isfinite().all(dim=1)
    return torch.where(is_finite, areas, torch.nan).to(logits.dtype)
