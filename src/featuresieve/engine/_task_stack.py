"""The task networks of a stack, of either kind, and their outputs."""

import torch
from torch import Tensor

from featuresieve.engine._module_network import ModuleStack
from featuresieve.engine._task_network import StackedMLP
from featuresieve.engine._training_data import SparseRows

TaskStack = StackedMLP | ModuleStack
# Hidden values of a chunk of rows; on CUDA, where calling takes as long as computing,
# many, and the cells of a chunk, which a sparse table has dense.
_HIDDEN, _HIDDEN_ON_CUDA, _CELLS_ON_CUDA = 1 << 22, 1 << 26, 1 << 28


def stack_outputs(
    task: TaskStack,
    features: Tensor | SparseRows,
    mask: Tensor | None,
    members: slice | None = None,
) -> Tensor:
    """Return outputs, (members, rows, outputs), in chunks; of all members or some."""
    chunk = _HIDDEN // (task.n_members * 64)
    if isinstance(task, ModuleStack):
        task.evaluation_mode(True)
    elif members is not None:
        task = task.of_members(members)
        mask = None if mask is None else mask[:, members]
    if isinstance(task, StackedMLP) and features.device.type == "cuda":
        chunk = _HIDDEN_ON_CUDA // (task.n_members * 64)
        chunk = min(chunk, _CELLS_ON_CUDA // features.shape[1])
    parts = [task.forward(part, mask) for part in features.split(max(64, chunk))]
    outputs = torch.cat(parts, dim=1)
    if isinstance(task, ModuleStack):
        task.evaluation_mode(False)
        return outputs if members is None else outputs[members]
    return outputs
