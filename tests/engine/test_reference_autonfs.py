import numpy as np
import pytest
import torch

from reference_autonfs import (
    MASK_NAMES,
    Batch,
    ReferenceAutoNFS,
    ReferenceSettings,
    autograd_gradients,
)

N_ROWS, N_COLUMNS, N_OUTPUTS = 14, 5, 3
SHAPES = {
    "embedding": (3,),
    "projection": (N_COLUMNS, 3),
    "gate_bias": (N_COLUMNS,),
    "weight0": (N_COLUMNS, 4),
    "bias0": (4,),
    "weight1": (4, 3),
    "bias1": (3,),
    "weight2": (3, N_OUTPUTS),
    "bias2": (N_OUTPUTS,),
}
# The same float64 numbers, added in another order.
ROUNDING = {"rtol": 1e-12, "atol": 1e-14}


def make_parameters():
    rng = np.random.default_rng(0)
    return {name: rng.standard_normal(shape) for name, shape in SHAPES.items()}


def make_batch(*, is_classification=True, has_roles=False):
    rng = np.random.default_rng(1)
    y = rng.standard_normal((N_ROWS, N_OUTPUTS))
    weights = {}
    if has_roles:
        is_task = np.arange(N_ROWS) % 2
        weights = {
            "task_weights": rng.uniform(size=N_ROWS) * is_task,
            "gate_weights": 1.0 - is_task,
        }
    return Batch(
        rng.standard_normal((N_ROWS, N_COLUMNS)),
        rng.integers(N_OUTPUTS, size=N_ROWS) if is_classification else y,
        rng.gumbel(size=N_COLUMNS),
        temperature=0.8,
        scale=0.6,
        **weights,
    )


@pytest.mark.parametrize("is_classification", [True, False])
@pytest.mark.parametrize("penalty", ["fraction", "target"])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("has_roles", [False, True])
def test_reference_has_the_gradients_autograd_finds_for_the_printed_formula(
    is_classification, penalty, reduction, has_roles
):
    settings = ReferenceSettings(
        is_classification=is_classification,
        penalty=penalty,
        reduction=reduction,
        balance=2.0,
    )
    batch = make_batch(is_classification=is_classification, has_roles=has_roles)
    expected = autograd_gradients(make_parameters(), settings, batch)
    reference = ReferenceAutoNFS(make_parameters(), settings)
    found = reference.loss_and_gradients(batch).gradients
    assert found.keys() == expected.keys()
    for name in expected:
        assert np.any(expected[name])
        np.testing.assert_allclose(found[name], expected[name], **ROUNDING)


def test_reference_takes_the_steps_of_torch_adam_with_two_learning_rates():
    reference = ReferenceAutoNFS(make_parameters(), ReferenceSettings())
    tensors = {
        name: torch.tensor(value, requires_grad=True)
        for name, value in reference.parameters.items()
    }
    gates = [tensors[name] for name in MASK_NAMES]
    weights = [tensor for name, tensor in tensors.items() if name not in MASK_NAMES]
    optimizer = torch.optim.Adam(
        [{"params": gates, "lr": 4e-3}, {"params": weights, "lr": 3e-4}]
    )
    for _ in range(10):
        gradients = reference.step(make_batch()).gradients
        for name, tensor in tensors.items():
            tensor.grad = torch.from_numpy(gradients[name].copy())
        optimizer.step()
    for name, tensor in tensors.items():
        np.testing.assert_allclose(
            reference.parameters[name], tensor.detach().numpy(), **ROUNDING
        )
    frozen = ReferenceAutoNFS(
        make_parameters(), ReferenceSettings(train_embedding=False)
    )
    frozen.step(make_batch())
    before = make_parameters()["embedding"]
    np.testing.assert_array_equal(frozen.parameters["embedding"], before)
