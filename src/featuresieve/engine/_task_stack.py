"""The task networks of a stack, of either kind, and their outputs."""

import torch
from torch import Tensor

from featuresieve.engine._module_network import ModuleStack
from featuresieve.engine._task_network import StackedMLP
from featuresieve.engine._training_data import SparseRows

TaskStack = StackedMLP | ModuleStack


def stack_outputs(
    task: TaskStack, features: Tensor | SparseRows, mask: Tensor | None
) -> Tensor:
    """Return the outputs of all members, (members, rows, outputs), in chunks."""
    chunk = max(64, (1 << 22) // (task.n_members * 64))
    if isinstance(task, ModuleStack):
        task.evaluation_mode(True)
    parts = [task.forward(part, mask) for part in features.split(chunk)]
    if isinstance(task, ModuleStack):
        task.evaluation_mode(False)
    return torch.cat(parts, dim=1)
