"""The first penalty of LassoNet's path."""

import pytest
import torch
from lassonet.model import LassoNet

from sievebench.selectors import lassonet


@pytest.mark.parametrize(
    ("n_outputs", "at_once", "hierarchy"), [(1, 16, 1), (3, 3, 10)]
)
def test_first_penalty_is_that_of_the_package(
    n_outputs, at_once, hierarchy, monkeypatch
):
    monkeypatch.setattr(lassonet, "_AT_ONCE", at_once)
    torch.manual_seed(n_outputs)
    model = LassoNet(4, 8, n_outputs)
    skip, first = model.skip.weight.data, model.layers[0].weight.data
    skip *= 0.1  # so that the package is done soon
    first *= 0.1
    found = lassonet.first_penalty(skip, first, hierarchy)
    assert found == model.lambda_start(M=hierarchy)
