"""The task networks of a stack, of either kind, and their outputs."""

import torch
from torch import Tensor

from featuresieve.engine._module_network import ModuleStack
from featuresieve.engine._task_network import StackedMLP
from featuresieve.engine._training_data import SparseRows

TaskStack = StackedMLP | ModuleStack


def stack_outputs(
    task: TaskStack,
    features: Tensor | SparseRows,
    mask: Tensor | None,
    members: slice | None = None,
) -> Tensor:
    """Return outputs, (members, rows, outputs), in chunks; of all members or some."""
    chunk = max(64, (1 << 22) // (task.n_members * 64))
    if isinstance(task, ModuleStack):
        task.evaluation_mode(True)
    elif members is not None:
        task = task.of_members(members)
        mask = None if mask is None else mask[:, members]
    parts = [task.forward(part, mask) for part in features.split(chunk)]
    outputs = torch.cat(parts, dim=1)
    if isinstance(task, ModuleStack):
        task.evaluation_mode(False)
        return outputs if members is None else outputs[members]
    return outputs
