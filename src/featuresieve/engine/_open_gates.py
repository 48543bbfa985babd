"""Gates that no member opens any more leave a stack, and their columns with them."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from featuresieve.engine._masking import MaskingNetwork
from featuresieve.engine._optimizer import StackOptimizer
from featuresieve.engine._task_network import StackedMLP
from featuresieve.engine._training_data import GateTensors

# A gate whose logit is below this for every member is shut for good: its mask is 3e-4
# where the noise is as usual, and what it lets through teaches it next to nothing.
SHUT = -8.0
# Taking gates out copies all others, and another size of stack is another CUDA graph,
# but for the first: not for a few.
_MOST_LEFT, _MOST_LEFT_CAPTURED = 0.8, 0.5


class OpenGates:
    """Which gates of a stack are left, and the last logits of the others.

    `gates` and `logits`, (gates, members), are those of the whole stack.
    """

    def __init__(self, gates: GateTensors | None, logits: Tensor) -> None:
        self.of_all = gates
        self.left = np.arange(len(logits))
        self._logits = logits.clone()
        self._places = self._on_device(self.left)

    @property
    def are_all(self) -> bool:
        """Tell whether none has left."""
        return len(self.left) == len(self._logits)

    def still_open(self, logits: Tensor, step: int) -> npt.NDArray[np.bool_] | None:
        """Tell which of those left may matter yet; None if that is most of them."""
        is_open: npt.NDArray[np.bool_] = (logits > SHUT).any(dim=1).cpu().numpy()
        if self.of_all is not None:
            is_open |= self.of_all.is_forced[self.left]
        is_open[int(logits.amax(dim=1).argmax())] = True  # networks want a column
        is_captured = step > 0 and logits.device.type == "cuda"
        most = _MOST_LEFT_CAPTURED if is_captured else _MOST_LEFT
        return None if is_open.mean() > most else is_open

    def keep_(self, is_open: npt.NDArray[np.bool_]) -> Tensor:
        """Let go of the others among those left; return which stay, by their place."""
        self.left = self.left[is_open]
        self._places = self._on_device(self.left)
        return self._on_device(np.flatnonzero(is_open))

    def pick(self, of_all: Tensor) -> Tensor:
        """Return the rows, of all gates, of those left."""
        return of_all if self.are_all else of_all.index_select(0, self._places)

    def spread(self, logits: Tensor) -> Tensor:
        """Return the logits of all gates: of those that left, what they were then."""
        self._logits = self._logits.index_copy(0, self._places, logits)
        return self._logits

    def remember(self, by_member: npt.NDArray[np.float32]) -> None:
        """Take the logits of all gates, (members, gates), from the last record."""
        self._logits = torch.from_numpy(by_member.T.copy()).to(self._logits)

    def _on_device(self, numbers: npt.NDArray[np.intp]) -> Tensor:
        """Return numbers of gates where the logits are: no step waits for them."""
        return torch.from_numpy(numbers).to(self._logits.device)


def networks_of(
    task: StackedMLP,
    masking: MaskingNetwork,
    optimizers: Sequence[tuple[StackOptimizer, float]],
    columns: Tensor,
    gates: Tensor,
) -> tuple[StackedMLP, MaskingNetwork, list[tuple[StackOptimizer, float]]]:
    """Return copies for some columns and gates; optimisers remember what they knew.

    `optimizers` are those of the task and of the mask, each with its rate, or empty.
    """
    own_task, own_masking = task.of_columns(columns), masking.of_gates(gates)
    kept = [
        (own_task.parameters, task.parameters, task.places_of(columns)),
        (own_masking.parameters, masking.parameters, masking.places_of(gates)),
    ]
    carried = [
        (optimizer.carried_over(*of_network), rate)
        for (optimizer, rate), of_network in zip(optimizers, kept, strict=False)
    ]
    return own_task, own_masking, carried
