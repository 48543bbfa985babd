import numpy as np
import pytest
import torch
from torch import nn

from featuresieve.engine import Predictor, stack_outputs
from small_stacks import build_networks, module_stack

pytestmark = pytest.mark.numeric

N_COLUMNS, N_OUTPUTS, N_MEMBERS = 6, 3, 2

# Float64 sums in another order: nothing that a float32 could show.
FLOAT64 = {"rtol": 1e-12, "atol": 1e-12}
# Float32 sums of at most seven products of size one, in another order, three layers.
FLOAT32 = {"rtol": 1e-5, "atol": 1e-6}


def make_features(n_rows=50):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n_rows, N_COLUMNS)).astype(np.float32)


def build_stack(hidden_sizes=(4, 3)):
    sizes = (N_COLUMNS, N_OUTPUTS, N_MEMBERS)
    task, _ = build_networks(*sizes, hidden_sizes=hidden_sizes, dtype=torch.float32)
    return task


def module_factory(n_columns, n_outputs):
    return nn.Sequential(
        nn.BatchNorm1d(n_columns),
        nn.Linear(n_columns, 5),
        nn.ReLU(),
        nn.Dropout(0.5),
        nn.Linear(5, n_outputs),
    )


def build_module_stack():
    """Return modules whose batch normalisation has seen some rows."""
    sizes = (N_COLUMNS, N_OUTPUTS, N_MEMBERS)
    stack = module_stack(module_factory, *sizes, dtype=torch.float32)
    stack.forward(3.0 + torch.from_numpy(make_features()), None)
    return stack


@pytest.mark.parametrize("n_rows", [50, 9000])  # one block of rows, several
@pytest.mark.parametrize("hidden_sizes", [(), (4,), (4, 3), (2, 3, 4)])
def test_predictor_has_the_outputs_of_the_stack_before_it_trains_on(
    hidden_sizes, n_rows
):
    features, task = make_features(n_rows), build_stack(hidden_sizes)
    expected = stack_outputs(task, torch.from_numpy(features), None)
    predictor = Predictor.of(task, N_OUTPUTS)
    found = predictor.outputs(features, None)
    assert found.dtype == np.float64
    assert found.shape == (N_MEMBERS, len(features), N_OUTPUTS)
    np.testing.assert_allclose(found, expected, **FLOAT32)
    task.parameters.flat.add_(1.0)
    np.testing.assert_array_equal(predictor.outputs(features, None), found)


def test_predictor_of_modules_has_their_outputs_in_evaluation_mode():
    features, stack = make_features(), build_module_stack()
    expected = stack_outputs(stack, torch.from_numpy(features), None)
    found = Predictor.of(stack, N_OUTPUTS).outputs(features, module_factory)
    np.testing.assert_allclose(found, expected, **FLOAT32)


class Float32Inside(nn.Module):
    """A module that cannot be run in float64."""

    def __init__(self, n_columns, n_outputs):
        super().__init__()
        self.register_buffer("weight", torch.ones(n_columns, n_outputs))

    def forward(self, rows):
        return rows.float() @ self.weight


@pytest.mark.parametrize(
    ("build", "factory"), [(build_stack, None), (build_module_stack, module_factory)]
)
def test_outputs_of_a_row_do_not_depend_on_the_rows_beside_it(build, factory):
    features = make_features(301)
    predictor = Predictor.of(build(), N_OUTPUTS)
    outputs = predictor.outputs(features, factory)
    order = np.random.default_rng(1).permutation(len(features))
    shuffled = predictor.outputs(features[order], factory)
    np.testing.assert_allclose(shuffled, outputs[:, order], **FLOAT64)
    for rows in (slice(0, 1), slice(0, 37), slice(5, 6)):
        alone = predictor.outputs(features[rows], factory)
        np.testing.assert_allclose(alone, outputs[:, rows], **FLOAT64)


def test_module_that_insists_on_float32_is_run_in_it():
    features = make_features()
    weight = np.full((N_COLUMNS, N_OUTPUTS), 2.0, dtype=np.float32)
    predictor = Predictor([{"weight": weight}], N_OUTPUTS)
    expected = np.repeat(2 * features.sum(axis=1, keepdims=True), N_OUTPUTS, axis=1)
    found = predictor.outputs(features, Float32Inside)
    np.testing.assert_allclose(found[0], expected, **FLOAT32)
