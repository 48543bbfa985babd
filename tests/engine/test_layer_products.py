"""The products of a layer against sums written out, however many outputs there are."""

import pytest
import torch

from featuresieve.engine._losses import CrossEntropyLoss
from featuresieve.engine._task_network import (
    input_product,
    layer_product,
    weight_product_,
)

pytestmark = pytest.mark.numeric

SHAPES = [(1, 1), (1, 3), (4, 1), (4, 2), (4, 11), (4, 12), (3, 40)]


def drawn(*shape):
    random = torch.Generator().manual_seed(sum(shape))
    return torch.randn(shape, generator=random, dtype=torch.float64)


@pytest.mark.parametrize(("n_members", "n_outputs"), SHAPES)
def test_products_are_the_sums_they_stand_for(n_members, n_outputs):
    inputs, weight = drawn(n_members, 7, 5), drawn(n_members, 5, n_outputs)
    bias, slope = drawn(n_members, 1, n_outputs), drawn(n_members, 7, n_outputs)
    outputs = layer_product(bias, inputs, weight)
    expected = torch.einsum("mri,mio->mro", inputs, weight) + bias
    torch.testing.assert_close(outputs, expected)
    by_weight = torch.full_like(weight, torch.nan)
    weight_product_(inputs, slope, by_weight)
    torch.testing.assert_close(by_weight, torch.einsum("mri,mro->mio", inputs, slope))
    by_input = input_product(slope, weight)
    torch.testing.assert_close(by_input, torch.einsum("mro,mio->mri", slope, weight))


@pytest.mark.parametrize(("n_members", "n_classes"), [(1, 2), (4, 2), (4, 11), (3, 40)])
def test_entropy_is_that_of_autograd_in_either_layout(n_members, n_classes):
    targets = torch.arange(7) % n_classes
    plain = drawn(n_members, 7, n_classes).requires_grad_()
    by_class = plain.detach().transpose(1, 2).contiguous().transpose(1, 2)
    assert by_class.stride(1) == 1
    expected = torch.nn.functional.cross_entropy(
        plain.transpose(1, 2), targets.expand(n_members, -1), reduction="none"
    )
    (gradient,) = torch.autograd.grad(expected.sum(), plain)
    for outputs in (plain.detach(), by_class):
        losses, found = CrossEntropyLoss().losses_and_gradient(outputs, targets)
        torch.testing.assert_close(losses, expected.detach())
        torch.testing.assert_close(found, gradient)
