"""The task networks of a stack: MLPs whose mask is folded into the first layer."""

import math
from copy import copy
from itertools import pairwise
from typing import cast

import torch
from torch import Tensor

from featuresieve.engine._optimizer import FlatParameters, Place
from featuresieve.engine._training_data import SparseRows

Batch = Tensor | SparseRows
# From about so many outputs on the plain product is as fast.
_FEW_OUTPUTS = 12


class StackedMLP:
    """Train `n_members` ReLU networks on the same batch with few, large products.

    The mask never touches the batch: ``(x * m) W = x (diag(m) W)``, so the first
    layer of all members is one product of the batch, (rows, columns), with the scaled
    weights, (columns, members * hidden), and no tensor of shape (members, rows,
    columns) ever exists.

    Shapes: batch (rows, columns), mask (columns, members) or None for an open one,
    outputs (members, rows, outputs). Without hidden layers the model is linear. Weights
    start uniform in ``±1/sqrt(fan_in)``, PyTorch's own default, drawn on the CPU
    whatever the device.
    """

    def __init__(
        self,
        n_columns: int,
        n_outputs: int,
        n_members: int,
        *,
        hidden_sizes: tuple[int, ...],
        generator: torch.Generator,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        widths = (*hidden_sizes, n_outputs)
        shapes: dict[str, tuple[int, ...]] = {
            "weight0": (n_columns, n_members, widths[0]),
            "bias0": (n_members, widths[0]),
        }
        for layer, (fan_in, fan_out) in enumerate(pairwise(widths), start=1):
            shapes[f"weight{layer}"] = (n_members, fan_in, fan_out)
            shapes[f"bias{layer}"] = (n_members, 1, fan_out)
        self.n_layers = len(widths)
        self.n_members = n_members
        self.parameters = FlatParameters(
            shapes, dtype=dtype, device=device, member_axes={"weight0": 1}
        )
        for layer, fan_in in enumerate((n_columns, *hidden_sizes)):
            bound = 1.0 / math.sqrt(fan_in)
            for name in (f"weight{layer}", f"bias{layer}"):
                value = self.parameters.value[name]
                # The same numbers whatever the device, which does the rest.
                draw = torch.rand(value.shape, generator=generator).to(device)
                value.copy_(draw.mul_(2 * bound).sub_(bound))
        self._folded = torch.empty_like(self.parameters.value["weight0"])

    def of_members(self, members: slice) -> "StackedMLP":
        """Return a copy of some members."""
        part = copy(self)
        part.n_members = members.stop - members.start
        part.parameters = self.parameters.of_members(members)
        part._folded = torch.empty_like(part.parameters.value["weight0"])
        return part

    def of_columns(self, columns: Tensor) -> "StackedMLP":
        """Return a copy that reads some columns only."""
        part = copy(self)
        part.parameters = self.parameters.at(self.places_of(columns))
        part._folded = torch.empty_like(part.parameters.value["weight0"])
        return part

    @staticmethod
    def places_of(columns: Tensor) -> dict[str, Place]:
        """Return where the parameters of some columns stand."""
        return {"weight0": (0, columns)}

    @property
    def trainable(self) -> list[Tensor]:
        """Tensors an optimiser updates."""
        return [self.parameters.flat]

    @property
    def state_tensors(self) -> list[Tensor]:
        """All tensors that training changes."""
        return self.trainable

    def forward(self, batch: Batch, mask: Tensor | None) -> Tensor:
        """Return the outputs and keep what `backward` needs."""
        value = self.parameters.value
        weight = value["weight0"]
        if mask is not None:
            weight = torch.mul(weight, mask.unsqueeze(-1), out=self._folded)
        bias, weight = value["bias0"].view(-1), weight.view(weight.shape[0], -1)
        if isinstance(batch, SparseRows):
            stacked = batch.product(weight).add_(bias)
        else:
            stacked = torch.addmm(bias, batch, weight)
        hidden = stacked.view(batch.shape[0], self.n_members, -1).transpose(0, 1)
        self._batch, self._mask, self._hidden = batch, mask, []
        for layer in range(1, self.n_layers):
            hidden = hidden.relu_()
            self._hidden.append(hidden)
            hidden = layer_product(
                value[f"bias{layer}"], hidden, value[f"weight{layer}"]
            )
        return hidden  # (members, rows, outputs)

    def backward(
        self,
        output_gradient: Tensor,
        task_weights: Tensor | None = None,
        mask_weights: Tensor | None = None,
    ) -> Tensor | None:
        """Write parameter gradients; return d loss / d mask, (columns, members).

        `output_gradient` is that of each row's own loss, unless `task_weights`,
        (members, rows), is None: then the weights are in it already. `mask_weights` are
        those in the loss that trains the mask, if it is another.
        """
        value, gradient = self.parameters.value, self.parameters.gradient
        grad = output_gradient
        for layer in range(self.n_layers - 1, 0, -1):
            hidden = self._hidden[layer - 1]
            weighted = grad
            if task_weights is not None:
                weighted = grad * task_weights.unsqueeze(-1)
            weight_product_(hidden, weighted, gradient[f"weight{layer}"])
            torch.sum(weighted, dim=1, keepdim=True, out=gradient[f"bias{layer}"])
            grad = input_product(grad, value[f"weight{layer}"])
            if layer == 1:  # back to the layout of the first product
                grad = grad.transpose(0, 1).contiguous()
                hidden = hidden.transpose(0, 1)
            grad = torch.ops.aten.threshold_backward(grad, hidden, 0.0)
        if self.n_layers == 1:
            grad = grad.transpose(0, 1)
        return self._backward_first_layer(grad, task_weights, mask_weights)

    def _backward_first_layer(
        self, grad: Tensor, task_weights: Tensor | None, mask_weights: Tensor | None
    ) -> Tensor | None:
        """Do the first layer, where the mask sits; `grad` is (rows, members, h)."""
        gradient, weight = self.parameters.gradient, self.parameters.value["weight0"]
        by_weight = gradient["weight0"]
        flat_shape = (by_weight.shape[0], -1)
        mask_gradient = None
        if mask_weights is not None:
            weighted = grad * mask_weights.T.unsqueeze(-1)
            self._weight_gradient_(weighted.flatten(1), by_weight.view(flat_shape))
            mask_gradient = torch.linalg.vecdot(by_weight, weight)
        if task_weights is not None:
            grad = grad * task_weights.T.unsqueeze(-1)
        grad = grad.reshape(self._batch.shape[0], -1)  # (rows, members * hidden)
        torch.sum(grad, dim=0, out=gradient["bias0"].view(-1))
        self._weight_gradient_(grad, by_weight.view(flat_shape))
        if self._mask is None:
            return None
        if mask_gradient is None:
            mask_gradient = torch.linalg.vecdot(by_weight, weight)
        by_weight.mul_(self._mask.unsqueeze(-1))
        return cast(Tensor, mask_gradient)

    def _weight_gradient_(self, grad: Tensor, out: Tensor) -> None:
        """Write batch transposed times grad, (columns, members * hidden)."""
        if isinstance(self._batch, SparseRows):
            out.copy_(self._batch.transposed_product(grad))
        else:
            torch.mm(self._batch.T, grad, out=out)


# The products of a layer behind the first, for all members of a stack. A CPU's batched
# products are slow where the second factor has few columns, as in the output layer; the
# transposed products are several times as fast. For one output the gradient by the
# inputs is no product at all. Sums are the same, in another order of the terms. Few
# outputs are then stored with the rows of an output side by side, which is also what
# makes a softmax over them fast.


def layer_product(bias: Tensor, inputs: Tensor, weight: Tensor) -> Tensor:
    """Return inputs times weight plus bias, (members, rows, outputs)."""
    if not _is_narrow(weight):
        return torch.baddbmm(bias, inputs, weight)
    transposed = torch.baddbmm(
        bias.transpose(1, 2), weight.transpose(1, 2), inputs.transpose(1, 2)
    )
    return transposed.transpose(1, 2)


def weight_product_(inputs: Tensor, grad: Tensor, out: Tensor) -> None:
    """Write the transposed inputs times grad, the gradient by the weights."""
    if not _is_narrow(out):
        torch.bmm(inputs.transpose(1, 2), grad, out=out)
        return
    out.copy_(torch.bmm(grad.transpose(1, 2), inputs).transpose(1, 2))


def input_product(grad: Tensor, weight: Tensor) -> Tensor:
    """Return grad times the transposed weight, the gradient by the inputs."""
    if _is_narrow(weight) and weight.shape[2] == 1:
        return grad * weight.transpose(1, 2)
    return torch.bmm(grad, weight.transpose(1, 2))


def _is_narrow(weight: Tensor) -> bool:
    """Return whether the plain product would be slow."""
    n_members, _, n_outputs = weight.shape
    is_small = n_members * n_outputs == 1
    return weight.device.type == "cpu" and n_outputs < _FEW_OUTPUTS and not is_small
