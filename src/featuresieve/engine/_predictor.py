"""The fitted networks as plain numpy arrays, and predictions from them.

Products are computed in float64. In float32 the last digits of a row change with the
rows beside it, also in blocks of one fixed shape, and differently on each processor.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import issparse

from featuresieve.engine._device import torch_defaults
from featuresieve.engine._module_network import ModuleStack
from featuresieve.engine._task_network import StackedMLP
from featuresieve.engine._task_stack import TaskStack
from featuresieve.engine._training import ModuleFactory

NetworkState = dict[str, npt.NDArray[Any]]
_CHUNK_ROWS = 4096


@dataclass(frozen=True)
class Predictor:
    """Networks on the kept columns, one a member."""

    # Parameters (and buffers) of each network by name; those of the library's own MLP
    # are ``weight0, bias0, weight1, ...``.
    members: list[NetworkState]
    n_outputs: int

    @classmethod
    def of(cls, task: TaskStack, n_outputs: int) -> "Predictor":
        """Copy the parameters of a trained stack."""
        if isinstance(task, ModuleStack):
            states = [
                {name: t.detach().cpu().numpy().copy() for name, t in m.items()}
                for m in (module.state_dict() for module in task.modules)
            ]
            return cls(states, n_outputs)
        return cls([_mlp_state(task, m) for m in range(task.n_members)], n_outputs)

    def outputs(
        self, features: Any, task_network: ModuleFactory | None
    ) -> npt.NDArray[np.float64]:
        """Return the outputs of every member, (members, rows, outputs).

        `task_network` built the networks, if they are the user's own.
        """
        parts = [
            features[start : start + _CHUNK_ROWS]
            for start in range(0, features.shape[0], _CHUNK_ROWS)
        ]
        run = _mlp_outputs
        if task_network is not None:
            run = partial(self._module_outputs, task_network)
        return np.stack(
            [np.concatenate([run(state, p) for p in parts]) for state in self.members]
        )

    def _module_outputs(
        self, task_network: ModuleFactory, state: NetworkState, features: Any
    ) -> npt.NDArray[np.float64]:
        """Rebuild the user's module on the CPU and run it."""
        if issparse(features):
            features = features.toarray()
        rows = torch.from_numpy(features)
        with torch_defaults(), torch.no_grad():
            with torch.random.fork_rng(devices=[]):
                module = task_network(features.shape[1], self.n_outputs)
            module.load_state_dict({k: torch.tensor(v) for k, v in state.items()})
            module.eval()
            try:
                outputs = module.double()(rows.double())
            except RuntimeError:  # it makes float32 tensors of its own
                outputs = module.float()(rows)
            return np.asarray(outputs.double().numpy())


def _mlp_state(task: StackedMLP, member: int) -> NetworkState:
    """Return the parameters of one member."""
    state = {}
    for name, value in task.parameters.value.items():
        own = value[:, member] if name == "weight0" else value[member]
        array = own.cpu().numpy().copy()
        state[name] = array.reshape(-1) if name.startswith("bias") else array
    return state


def _mlp_outputs(state: NetworkState, features: Any) -> npt.NDArray[np.float64]:
    """Run one MLP: affine layers with a ReLU between them."""
    hidden: Any = features.astype(np.float64)
    n_layers = len(state) // 2
    for layer in range(n_layers):
        weight = state[f"weight{layer}"].astype(np.float64)
        hidden = hidden @ weight + state[f"bias{layer}"]
        if layer < n_layers - 1:
            hidden = np.maximum(hidden, 0)
    return np.asarray(hidden)
