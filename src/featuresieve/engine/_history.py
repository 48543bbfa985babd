"""What a stack recorded while it trained."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from featuresieve.engine._state import State, array_of


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
