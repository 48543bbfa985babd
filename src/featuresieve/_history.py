"""What a stack recorded while it trained."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt


@dataclass
class History:
    """One entry per record, usually per epoch.

    Attributes
    ----------
    step : list of int
        Steps finished when the record was taken.
    temperature : list of float
        Temperature of the last of those steps.
    task_loss : list of arrays of shape (members,)
        Mean task loss since the record before.
    penalty : list of arrays of shape (members,)
        Selection penalty of the mask without noise, not multiplied by the balance.
        Empty for a stack without a masking network.
    logits : list of arrays of shape (members, gates)
        Empty for a stack without a masking network.
    """

    step: list[int] = field(default_factory=list)
    temperature: list[float] = field(default_factory=list)
    task_loss: list[npt.NDArray[np.float64]] = field(default_factory=list)
    penalty: list[npt.NDArray[np.float64]] = field(default_factory=list)
    logits: list[npt.NDArray[np.float32]] = field(default_factory=list)
