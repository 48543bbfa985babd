"""The objective of the MLP family: a task loss, and what a selector adds to it."""

from collections.abc import Callable

import torch
from torch import Tensor

from sievebench.stack.mlp import StackedNetwork
from sievebench.stack.task_loss import Monitor, TaskLoss
from sievebench.stack.training import Objective, StackRows, evaluation_blocks


class PenalizedLoss(Objective):
    """Mean task loss of a batch, and what a selector adds; judged by the task alone.

    `penalised` makes what each member minimises of the task losses, (members,), of the
    batch that the network has just seen. `after_step_` changes the parameters after a
    gradient step of a learning rate. `monitor` is what validation rows measure: a score
    of the task, or minus the mean loss.
    """

    def __init__(
        self,
        network: StackedNetwork,
        task_loss: TaskLoss,
        penalised: Callable[[Tensor], Tensor] | None = None,
        *,
        after_step_: Callable[[float | Tensor], None] | None = None,
        monitor: Monitor = "score",
    ) -> None:
        self._network, self._task_loss = network, task_loss
        self._penalised, self._after_step_ = penalised, after_step_
        self._monitor: Monitor = monitor

    def losses(self, batch: Tensor, targets: Tensor) -> Tensor:
        """Return what each member minimises on a batch, (members,)."""
        outputs = self._network.forward(batch, training=True)
        task_losses = self._task_loss.row_losses(outputs, targets).mean(dim=1)
        return task_losses if self._penalised is None else self._penalised(task_losses)

    def after_step_(self, learning_rate: float | Tensor) -> None:
        """Let the selector change the parameters."""
        if self._after_step_ is not None:
            self._after_step_(learning_rate)

    def validation_scores(self, rows: StackRows) -> Tensor:
        """Return one score a member, larger = better, (members,)."""
        outputs = stack_outputs(self._network, rows.features, rows.validation)
        targets = rows.targets.index_select(0, rows.validation)
        return self._task_loss.score(outputs, targets, self._monitor)


def stack_outputs(network: StackedNetwork, features: Tensor, rows: Tensor) -> Tensor:
    """Return outputs for some rows, block by block, (members, rows, outputs)."""
    with torch.no_grad():
        blocks = [
            network.forward(features.index_select(0, block), training=False)
            for block in evaluation_blocks(rows, network.numbers_per_row)
        ]
    return torch.cat(blocks, dim=1)
