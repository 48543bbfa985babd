"""What a training step reads besides the networks: rows and their weights."""

from dataclasses import dataclass

from torch import Tensor

from featuresieve.engine._gate_tensors import GateTensors
from featuresieve.engine._losses import Reduction, normalized_weights
from featuresieve.engine._sparse_rows import SparseRows


@dataclass(frozen=True)
class TrainingData:
    """Rows on the training device.

    Attributes
    ----------
    features : Tensor or SparseRows of shape (rows, columns)
    targets : Tensor of shape (rows,) of class codes, or (rows, outputs)
    task_weights : Tensor of shape (sets, rows) or None
        Alternative weightings of the rows in the loss that trains the task networks:
        sample weights, and zero for rows a member must not see.
    mask_weights : Tensor of shape (sets, rows) or None
        The same for the loss that trains the mask, where it is another: with disjoint
        rows a gate stays open only if its feature helps on rows that the task network
        has not learnt from.
    set_of_member : Tensor of shape (members,) or None
        Which of the sets each member uses.
    gates : GateTensors or None
        None means one plain gate for each column.
    """

    features: Tensor | SparseRows
    targets: Tensor
    task_weights: Tensor | None = None
    mask_weights: Tensor | None = None
    set_of_member: Tensor | None = None
    gates: GateTensors | None = None

    def weights_of(
        self, rows: Tensor, reduction: Reduction
    ) -> tuple[Tensor | None, Tensor | None]:
        """Return task and mask weights of some rows, (members, rows) each."""
        picked: list[Tensor | None] = []
        for weights in (self.task_weights, self.mask_weights):
            if weights is None:
                picked.append(None)
            else:
                by_set = normalized_weights(weights[:, rows], reduction)
                picked.append(by_set[self.set_of_member])
        return picked[0], picked[1]
