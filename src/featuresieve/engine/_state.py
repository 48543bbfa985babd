"""What a stack records and a checkpoint holds of its training: plain arrays."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from featuresieve.errors import TrainingDivergedError

if TYPE_CHECKING:
    from featuresieve.engine._trainer import StackTrainer

State = dict[str, npt.NDArray[Any]]

# Start of the names of what a finished stage has no more use for.
RUNNING = "running."


class Resumable(Protocol):
    """Something whose state can be taken, and put back later into one built alike."""

    def state(self) -> State:
        """Return all that its future depends on, arrays with two axes at most."""

    def load_state_dict(self, state: State) -> None:
        """Become what `state` was taken from; a ValueError if that does not fit."""


class Monitor(Protocol):
    """What follows the training of one stack: progress, callbacks, a checkpoint."""

    def add(self, name: str, part: Resumable) -> None:
        """Keep something in the checkpoint beside the trainer."""

    def following(self, trainer: "StackTrainer") -> AbstractContextManager[None]:
        """Resume the trainer, follow it, and keep what it found."""

    def after_step(self, trainer: "StackTrainer") -> bool:
        """Hear of a step; return whether to stop."""


def with_prefix(prefix: str, state: State) -> State:
    """Return a state with longer names."""
    return {f"{prefix}{name}": array for name, array in state.items()}


def without_prefix(prefix: str, state: State) -> State:
    """Return the part of a state whose names start so, by the rest of the names."""
    return {
        name.removeprefix(prefix): array
        for name, array in state.items()
        if name.startswith(prefix)
    }


def array_of(
    state: State, name: str, dtype: npt.DTypeLike, shape: tuple[int | None, ...]
) -> npt.NDArray[Any]:
    """Return an array of a state, if it is of this dtype and shape (None: any)."""
    if name not in state:
        raise ValueError(f"{name} is missing.")
    array = state[name]
    is_shape = len(shape) == array.ndim and all(
        wanted in (None, found)
        for wanted, found in zip(shape, array.shape, strict=True)
    )
    if array.dtype != dtype or not is_shape:
        raise ValueError(
            f"{name} should be {np.dtype(dtype)} of shape {shape}, and is "
            f"{array.dtype} of shape {array.shape}."
        )
    return array


def number_array(number: int) -> npt.NDArray[np.int64]:
    """Return a whole number as a state holds it."""
    return np.array([number], dtype=np.int64)


def number_of(state: State, name: str, least: int, most: int) -> int:
    """Return a whole number of a state."""
    number = int(array_of(state, name, np.int64, (1,))[0])
    if not least <= number <= most:
        raise ValueError(f"{name} should be from {least} to {most}, and is {number}.")
    return number


def tensor_state(tensors: Sequence[Tensor]) -> State:
    """Return the numbers of some tensors, one array for each dtype."""
    return {
        str(dtype).removeprefix("torch."): torch.cat([t.reshape(-1) for t in group])
        .cpu()
        .numpy()
        for dtype, group in by_dtype(tensors).items()
    }


def load_tensors_(tensors: Sequence[Tensor], state: State) -> None:
    """Write the numbers that `tensor_state` returned into tensors of the same sizes."""
    for dtype, group in by_dtype(tensors).items():
        name = str(dtype).removeprefix("torch.")
        sizes = [tensor.numel() for tensor in group]
        numbers = array_of(state, name, np.dtype(name), (sum(sizes),))
        # A copy, because the arrays of a file are read-only.
        parts = torch.from_numpy(numbers.copy()).split(sizes)
        for tensor, part in zip(group, parts, strict=True):
            tensor.copy_(part.view(tensor.shape))


def by_dtype(tensors: Sequence[Tensor]) -> dict[torch.dtype, list[Tensor]]:
    """Return the tensors, off the tape, in groups of one dtype."""
    groups: dict[torch.dtype, list[Tensor]] = {}
    for tensor in tensors:
        groups.setdefault(tensor.dtype, []).append(tensor.detach())
    return groups


def check_finite(task_loss: npt.NDArray[np.float64], n_steps: int) -> None:
    """Refuse losses of networks that have diverged."""
    if not np.isfinite(task_loss).all():
        raise TrainingDivergedError(
            f"training diverged: the task loss is {task_loss.tolist()} after "
            f"{n_steps} steps. Lower training.task_learning_rate, or look for extreme "
            "values."
        )


@dataclass
class History:
    """One entry per record, usually per epoch."""

    step: list[int] = field(default_factory=list)  # steps finished by then
    temperature: list[float] = field(default_factory=list)  # of the last of these
    # Mean since the record before, (members,).
    task_loss: list[npt.NDArray[np.float64]] = field(default_factory=list)
    # Of the mask without noise, not multiplied by the balance, (members,), and its
    # logits, (members, gates); both empty without a masking network.
    penalty: list[npt.NDArray[np.float64]] = field(default_factory=list)
    logits: list[npt.NDArray[np.float32]] = field(default_factory=list)

    def state(self) -> State:
        """Return the entries as arrays with two axes at most."""
        state = {
            "step": np.array(self.step, dtype=np.int64),
            "temperature": np.array(self.temperature, dtype=np.float64),
        }
        for name in ("task_loss", "penalty", "logits"):
            rows = getattr(self, name)
            if rows:
                state[name] = np.stack(rows).reshape(len(rows), -1)
        return state

    def load_state_dict(self, state: State, n_members: int, is_masked: bool) -> None:
        """Become what `state` was taken from."""
        steps = array_of(state, "step", np.int64, (None,))
        n_records = len(steps)
        temperatures = array_of(state, "temperature", np.float64, (n_records,))
        self.step, self.temperature = steps.tolist(), temperatures.tolist()
        if not n_records:
            return
        by_member = (n_records, n_members)
        self.task_loss = list(array_of(state, "task_loss", np.float64, by_member))
        if is_masked:
            self.penalty = list(array_of(state, "penalty", np.float64, by_member))
            logits = array_of(state, "logits", np.float32, (n_records, None))
            self.logits = list(logits.reshape(n_records, n_members, -1))
