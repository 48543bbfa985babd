"""The products of a layer behind the first, for all members of a stack.

A CPU's batched products are slow where the second factor has few columns, as in the
output layer; the transposed products are several times as fast. For one output the
gradient by the inputs is no product at all. Sums are the same, in another order of the
terms.

Few outputs are then stored with the rows of an output side by side, which is also what
makes a softmax over them fast.
"""

import torch
from torch import Tensor

# From about so many outputs on the plain product is as fast.
_FEW = 12


def layer_product(bias: Tensor, inputs: Tensor, weight: Tensor) -> Tensor:
    """Return inputs times weight plus bias.

    Parameters
    ----------
    bias : Tensor of shape (members, 1, outputs)
    inputs : Tensor of shape (members, rows, inputs)
    weight : Tensor of shape (members, inputs, outputs)

    Returns
    -------
    Tensor of shape (members, rows, outputs)
    """
    if not _is_narrow(weight):
        return torch.baddbmm(bias, inputs, weight)
    transposed = torch.baddbmm(
        bias.transpose(1, 2), weight.transpose(1, 2), inputs.transpose(1, 2)
    )
    return transposed.transpose(1, 2)


def weight_product_(inputs: Tensor, slope: Tensor, out: Tensor) -> None:
    """Write the transposed inputs times slope, the gradient by the weights.

    Parameters
    ----------
    inputs : Tensor of shape (members, rows, inputs)
    slope : Tensor of shape (members, rows, outputs)
    out : Tensor of shape (members, inputs, outputs)
    """
    if not _is_narrow(out):
        torch.bmm(inputs.transpose(1, 2), slope, out=out)
        return
    out.copy_(torch.bmm(slope.transpose(1, 2), inputs).transpose(1, 2))


def input_product(slope: Tensor, weight: Tensor) -> Tensor:
    """Return slope times the transposed weight, the gradient by the inputs.

    Parameters
    ----------
    slope : Tensor of shape (members, rows, outputs)
    weight : Tensor of shape (members, inputs, outputs)

    Returns
    -------
    Tensor of shape (members, rows, inputs)
    """
    if _is_narrow(weight) and weight.shape[2] == 1:
        return slope * weight.transpose(1, 2)
    return torch.bmm(slope, weight.transpose(1, 2))


def _is_narrow(weight: Tensor) -> bool:
    """Return whether the plain product would be slow."""
    n_members, _, n_outputs = weight.shape
    is_small = n_members * n_outputs == 1
    return weight.device.type == "cpu" and n_outputs < _FEW and not is_small
