"""Scores of predictions, larger = better, for all members of a stack at once."""

from collections.abc import Callable

import torch
from torch import Tensor

from sievebench.data import Metric
from sievebench.stack.task_loss import area_under_roc


def score(metric: Metric, outputs: Tensor, targets: Tensor) -> Tensor:
    """Return one score a member, (members,) float64; NaN if an output is none.

    `outputs` (members, rows, outputs) has one value a row for regression; for two
    classes one number that is positive for the second; else one number a class, the
    largest of which is the prediction. `targets` (rows,) are class codes, or values.
    """
    scores = _METRICS[metric](outputs, targets).double()
    is_finite = outputs.isfinite().flatten(1).all(dim=1)
    return torch.where(is_finite, scores, torch.nan)


def _predicted(outputs: Tensor) -> Tensor:
    """Return class codes, (members, rows)."""
    if outputs.shape[-1] == 1:
        return (outputs.squeeze(-1) > 0).long()
    return outputs.argmax(dim=-1)


def _accuracy(outputs: Tensor, targets: Tensor) -> Tensor:
    return (_predicted(outputs) == targets).double().mean(dim=1)


def _balanced_accuracy(outputs: Tensor, targets: Tensor) -> Tensor:
    is_right = (_predicted(outputs) == targets).double()
    shares = [
        is_right[:, targets == code].mean(dim=1) for code in targets.unique().tolist()
    ]
    return torch.stack(shares).mean(dim=0)


def _roc_auc(outputs: Tensor, targets: Tensor) -> Tensor:
    return area_under_roc(outputs.squeeze(-1).double(), targets)


def _negative_rmse(outputs: Tensor, targets: Tensor) -> Tensor:
    errors = outputs.squeeze(-1).double() - targets.double()
    return -errors.square().mean(dim=1).sqrt()


_METRICS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "accuracy": _accuracy,
    "balanced_accuracy": _balanced_accuracy,
    "roc_auc": _roc_auc,
    "negative_rmse": _negative_rmse,
}
