"""Task networks of the user's own, behind the interface of `StackedMLP`.

The slow path: members run one after another under autograd, and the mask is multiplied
into the batch instead of the weights, because nothing is known about the first layer.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from featuresieve.engine._training import ModuleFactory
from featuresieve.engine._training_data import SparseRows


class ModuleStack:
    """A list of modules, one a member, that trains like a `StackedMLP`.

    `factory` builds one fresh network, (rows, columns) -> (rows, outputs). `generator`
    seeds the global generator, inside a fork, while the modules are built;
    `dropout_seed` counts the forward passes, each of which seeds it again.
    """

    def __init__(
        self,
        factory: ModuleFactory,
        n_columns: int,
        n_outputs: int,
        n_members: int,
        *,
        generator: torch.Generator,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        seed = int(torch.randint(2**62, (), generator=generator))
        self._forked = [device] if device.type == "cuda" else []
        with torch.random.fork_rng(self._forked):
            self._seed_generators(seed)
            built = [factory(n_columns, n_outputs) for _ in range(n_members)]
        for module in built:
            if not isinstance(module, nn.Module):
                raise TypeError(
                    "training.task_network must return a torch.nn.Module, "
                    f"got {type(module).__name__}."
                )
        self.modules = [module.to(device=device, dtype=dtype) for module in built]
        self.n_members = n_members
        self._n_outputs = n_outputs
        self.dropout_seed = seed

    def _seed_generators(self, seed: int) -> None:
        """Seed the generators that are forked, and no others."""
        torch.default_generator.manual_seed(seed)
        for device in self._forked:
            with torch.cuda.device(device):
                torch.cuda.manual_seed(seed)

    @property
    def trainable(self) -> list[Tensor]:
        """Tensors an optimiser updates."""
        return [p for module in self.modules for p in _trainable(module)]

    @property
    def state_tensors(self) -> list[Tensor]:
        """All tensors that training changes: parameters and buffers."""
        values = [v for module in self.modules for v in module.state_dict().values()]
        for value in values:
            if not isinstance(value, Tensor):
                raise TypeError(
                    "checkpoint needs a task_network whose state_dict holds tensors "
                    f"only, got {type(value).__name__}."
                )
        return values

    def forward(self, batch: Tensor | SparseRows, mask: Tensor | None) -> Tensor:
        """Return the outputs, (members, rows, outputs), keeping the tape."""
        if isinstance(batch, SparseRows):
            batch = batch.dense()
        self._outputs, self._masks = [], []
        self.dropout_seed += 1
        with torch.enable_grad(), torch.random.fork_rng(self._forked):
            self._seed_generators(self.dropout_seed)
            for member, module in enumerate(self.modules):
                gate = None if mask is None else mask[:, member].detach().clone()
                if gate is not None:
                    gate.requires_grad_()
                output = module(batch if gate is None else batch * gate)
                self._check_output(output, batch)
                self._masks.append(gate)
                self._outputs.append(output)
        return torch.stack([output.detach() for output in self._outputs])

    def _check_output(self, output: Tensor, batch: Tensor) -> None:
        """Refuse outputs that are not (rows, outputs)."""
        wanted = (batch.shape[0], self._n_outputs)
        if tuple(output.shape) != wanted:
            raise ValueError(
                "training.task_network must map an input of shape "
                f"{tuple(batch.shape)} to an output of shape {wanted}, got "
                f"{tuple(output.shape)}."
            )

    def backward(
        self,
        output_gradient: Tensor,
        task_weights: Tensor | None = None,
        mask_weights: Tensor | None = None,
    ) -> Tensor | None:
        """Write parameter gradients; return d loss / d mask, as `StackedMLP` does."""
        mask_grads = []
        for member, output in enumerate(self._outputs):
            grad, gate = output_gradient[member], self._masks[member]
            if gate is not None:
                weights = task_weights if mask_weights is None else mask_weights
                mask_grads += _gradients(output, [gate], _weigh(grad, weights, member))
            parameters = _trainable(self.modules[member])
            weighted = _weigh(grad, task_weights, member)
            found = _gradients(output, parameters, weighted)
            for parameter, gradient in zip(parameters, found, strict=True):
                parameter.grad = gradient
        return torch.stack(mask_grads, dim=1) if mask_grads else None

    def evaluation_mode(self, is_evaluating: bool) -> None:
        """Switch dropout and batch normalisation off or on."""
        for module in self.modules:
            module.train(not is_evaluating)


def _trainable(module: nn.Module) -> list[nn.Parameter]:
    """Return the parameters that learn."""
    return [p for p in module.parameters() if p.requires_grad]


def _weigh(grad: Tensor, row_weights: Tensor | None, member: int) -> Tensor:
    """Multiply a (rows, outputs) gradient by a member's row weights, if any."""
    return grad if row_weights is None else grad * row_weights[member].unsqueeze(-1)


def _gradients(output: Tensor, inputs: Sequence[Tensor], grad: Tensor) -> list[Tensor]:
    """Return d (output . grad) / d inputs, zero for an input without a part in it."""
    if not inputs:
        return []
    found = torch.autograd.grad(
        output, inputs, grad, retain_graph=True, allow_unused=True
    )
    return [
        torch.zeros_like(tensor) if gradient is None else gradient
        for tensor, gradient in zip(inputs, found, strict=True)
    ]
