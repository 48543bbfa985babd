"""Small stacks for the tests, and their numbers as plain arrays.

The one place in the tests that knows how a stack lays its parameters out.
"""

import threading
from contextlib import nullcontext

import numpy as np
import torch

from featuresieve.engine import (
    LOSSES,
    MaskingNetwork,
    ModuleStack,
    Schedule,
    StackedMLP,
    TrainingData,
)

CPU = torch.device("cpu")


def build_networks(
    n_columns,
    n_outputs,
    n_members,
    *,
    hidden_sizes=(4, 3),
    init="uniform",
    train_embedding=True,
    dtype=torch.float64,
    device=CPU,
):
    """Return the task networks and the masking network of a stack."""
    drawn = {"generator": torch.Generator().manual_seed(0)}
    drawn |= {"dtype": dtype, "device": device}
    task = StackedMLP(
        n_columns, n_outputs, n_members, hidden_sizes=hidden_sizes, **drawn
    )
    options = {"embedding_size": 3, "init": init, "train_embedding": train_embedding}
    return task, MaskingNetwork(n_columns, n_members, **options, **drawn)


def module_stack(factory, n_columns, n_outputs, n_members, dtype=torch.float64):
    return ModuleStack(
        *(factory, n_columns, n_outputs, n_members),
        generator=torch.Generator().manual_seed(0),
        dtype=dtype,
        device=CPU,
    )


def member_views(task, masking, member, kind="value"):
    """Return the parameters ("value") or gradients ("gradient") of one member.

    Views in the layout of one network: weight{k} (inputs, outputs), bias{k} (outputs,),
    embedding (e,), projection (columns, e), gate_bias (columns,).
    """
    views = {}
    for name, tensor in getattr(task.parameters, kind).items():
        own = tensor[:, member] if name == "weight0" else tensor[member]
        views[name] = own.view(-1) if name.startswith("bias") else own
    if masking is not None:
        tensors = getattr(masking.parameters, kind)
        views["embedding"] = tensors["embedding"][member]
        views["projection"] = tensors["projection"][member]
        views["gate_bias"] = tensors["bias"][:, member]
    return views


def member_arrays(task, masking, member, kind="value"):
    """Return copies of `member_views` as numpy arrays."""
    views = member_views(task, masking, member, kind)
    return {name: view.cpu().numpy().copy() for name, view in views.items()}


def make_rows(n_rows, n_columns, *, is_classification, seed=0, n_classes=3):
    """Return features and targets in which the first two columns matter."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_columns))
    signal = X[:, 0] - 2.0 * X[:, 1]
    if is_classification:
        cuts = np.quantile(signal, np.arange(1, n_classes) / n_classes)
        return X, np.searchsorted(cuts, signal).astype(np.int64)
    return X, signal[:, None] + 0.1 * rng.standard_normal((n_rows, 1))


def as_data(X, y, dtype=torch.float64, device=CPU, **weights):
    """Return rows, and row weights by name, as training data."""
    y = torch.from_numpy(y)
    return TrainingData(
        torch.from_numpy(X).to(device, dtype),
        (y.to(dtype) if y.is_floating_point() else y).to(device),
        **{name: torch.from_numpy(w).to(device) for name, w in weights.items()},
    )


def whole_epochs(n_epochs, n_rows, batch_size):
    """Return the schedule of some passes over the rows, with the paper's annealing."""
    per_epoch = -(-n_rows // batch_size)
    return Schedule(n_epochs * per_epoch, per_epoch, batch_size)


def loss_for(is_classification):
    return LOSSES["classification" if is_classification else "regression"]


class StopsAt:
    """A monitor that takes the state after some steps, and ends the run."""

    def __init__(self, step):
        self._step, self.state, self.n_threads = step, None, 0

    def following(self, trainer):  # noqa: ARG002
        return nullcontext()

    def after_step(self, trainer):
        if trainer.step == self._step:
            names = [thread.name for thread in threading.enumerate()]
            self.n_threads = sum("featuresieve" in name for name in names)
            self.state = trainer.state()
            raise KeyboardInterrupt
        return False
