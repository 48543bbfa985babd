"""The objective of the MLP family: a task loss, and what a selector adds to it."""

from typing import Generic, TypeVar

import torch
from torch import Tensor

from sievebench.stack.mlp import StackedNetwork
from sievebench.stack.task_loss import Monitor, TaskLoss
from sievebench.stack.training import StackRows, evaluation_blocks

NetworkT = TypeVar("NetworkT", bound=StackedNetwork)


class Penalty(Generic[NetworkT]):
    """What a selector adds to plain training; this one adds nothing.

    A new penalty overrides one of the two methods, or both.
    """

    def total(self, task_losses: Tensor, network: NetworkT) -> Tensor:  # noqa: ARG002
        """Return what each member minimises.

        Parameters
        ----------
        task_losses : Tensor of shape (members,)
            Mean loss of a batch that `network` has just seen, differentiable.
        network : StackedNetwork

        Returns
        -------
        Tensor of shape (members,)
        """
        return task_losses

    def after_step_(self, network: NetworkT, learning_rate: float | Tensor) -> None:
        """Change the parameters after a gradient step, without recording gradients.

        Parameters
        ----------
        network : StackedNetwork
        learning_rate : float or Tensor of shape ()
            Of the step.
        """


class PenalizedLoss(Generic[NetworkT]):
    """Mean task loss of a batch with a penalty; judged by the task alone.

    Parameters
    ----------
    network : StackedNetwork
    task_loss : TaskLoss
    penalty : Penalty or None, default=None
        None is plain training.
    monitor : {"score", "loss"}, default="score"
        What validation rows measure: accuracy, area under the ROC curve or minus the
        root mean squared error; or minus the mean loss.
    """

    is_recordable = True

    def __init__(
        self,
        network: NetworkT,
        task_loss: TaskLoss,
        penalty: Penalty[NetworkT] | None = None,
        *,
        monitor: Monitor = "score",
    ) -> None:
        self._network, self._task_loss = network, task_loss
        self._penalty: Penalty[NetworkT] = penalty or Penalty()
        self._monitor: Monitor = monitor

    def losses(self, batch: Tensor, targets: Tensor) -> Tensor:
        """Return what each member minimises on a batch, (members,)."""
        outputs = self._network.forward(batch, training=True)
        task_losses = self._task_loss.row_losses(outputs, targets).mean(dim=1)
        return self._penalty.total(task_losses, self._network)

    def after_step_(self, learning_rate: float | Tensor) -> None:
        """Let the penalty change the parameters."""
        self._penalty.after_step_(self._network, learning_rate)

    def validation_scores(self, rows: StackRows) -> Tensor:
        """Return one score a member, larger = better, (members,)."""
        loss, monitor, network = self._task_loss, self._monitor, self._network
        # Small results between large ones that come and go would scatter the memory.
        marks = rows.features.new_empty(network.n_members, len(rows.validation))
        start = 0
        for block in evaluation_blocks(rows.validation, network.numbers_per_row):
            batch, targets = rows.batch(block)
            outputs = network.forward(batch, training=False)
            stop = start + len(block)
            marks[:, start:stop] = loss.row_marks(outputs, targets, monitor)
            start = stop
        targets = rows.targets.index_select(0, rows.validation)
        return loss.score(marks, targets, monitor)


def stack_outputs(network: StackedNetwork, features: Tensor, rows: Tensor) -> Tensor:
    """Return the outputs of all members for some rows, block by block.

    Parameters
    ----------
    network : StackedNetwork
    features : Tensor of shape (all rows, columns)
    rows : Tensor of int

    Returns
    -------
    Tensor of shape (members, rows, outputs)
    """
    with torch.no_grad():
        blocks = [
            network.forward(features.index_select(0, block), training=False)
            for block in evaluation_blocks(rows, network.numbers_per_row)
        ]
    return torch.cat(blocks, dim=1)
