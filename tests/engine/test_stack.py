import numpy as np
import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from featuresieve.engine import StackTrainer, Training, stack_outputs
from small_stacks import (
    as_data,
    build_networks,
    loss_for,
    make_rows,
    member_views,
    module_stack,
)

pytestmark = pytest.mark.numeric

N_ROWS, N_COLUMNS, N_STEPS = 20, 6, 20
BALANCES = np.array([0.0, 0.5, 4.0])
N_MEMBERS = len(BALANCES)

# Float64 sums in another order: 1e-16 a step, hardly magnified in 20 steps of Adam.
TOLERANCE = {"rtol": 0.0, "atol": 1e-12}


def replay(noises):
    """Return a noise source that hands out given tensors in turn."""
    stored = iter(noises)
    return lambda: next(stored)


def make_noises(seed=1):
    rng = np.random.default_rng(seed)
    return torch.from_numpy(rng.gumbel(size=(N_STEPS, N_COLUMNS, N_MEMBERS)))


def make_batches(seed=2):
    rng = np.random.default_rng(seed)
    return [torch.from_numpy(rng.permutation(N_ROWS)[:7]) for _ in range(N_STEPS)]


def build_trainer(task, masking, data, *, is_classification=True, **more):
    loss, training = loss_for(is_classification), Training(task_learning_rate=1e-2)
    return StackTrainer(data, loss, training, task, masking=masking, **more)


def roles(n_sets, n_rows=N_ROWS, dtype=np.float64):
    """Return row weights of task networks and gates, one set for each member."""
    task = np.random.default_rng(3).uniform(size=(n_sets, n_rows)).astype(dtype)
    mask = task[::-1].copy()
    sets = np.arange(n_sets)
    return {"task_weights": task, "mask_weights": mask, "set_of_member": sets}


def take_steps(trainer, batches):
    for step, rows in enumerate(batches):
        trainer.train_step(rows, 2.0 * 0.9**step, min(1.0, step / 5))


# Memory.


class LargestTensor(TorchDispatchMode):
    """Record the largest number of elements among all results of torch operations."""

    def __init__(self):
        super().__init__()
        self.numel = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor):
                self.numel = max(self.numel, leaf.numel())
        return result


def test_the_recorder_sees_a_masked_copy_of_the_batch_for_every_member():
    batch, mask = torch.ones(7, 5), torch.ones(5, 3)
    with LargestTensor() as largest:
        batch.unsqueeze(0) * mask.T.unsqueeze(1)
    assert largest.numel == 3 * 7 * 5


@pytest.mark.parametrize("is_classification", [True, False])
@pytest.mark.parametrize("has_roles", [False, True])
def test_no_tensor_of_members_times_rows_times_columns_exists(
    is_classification, has_roles
):
    n_rows, n_columns, n_members = 400, 300, 8
    X, y = make_rows(n_rows, n_columns, is_classification=is_classification)
    weights = {}
    if has_roles:
        weights = roles(2, n_rows, np.float32)
        weights["set_of_member"] = np.arange(n_members) % 2
    networks = build_networks(
        n_columns, 3 if is_classification else 1, n_members, dtype=torch.float32
    )
    trainer = build_trainer(
        *networks,
        as_data(X, y, torch.float32, **weights),
        is_classification=is_classification,
        balances=torch.ones(n_members),
    )
    with LargestTensor() as largest:
        trainer.train_step(torch.arange(n_rows), 1.0, 1.0)
        stack_outputs(trainer.task, trainer.data.features, None)
    # The batch, the folded weights and the block of noise are the largest there are:
    # a seventh of the forbidden tensor at this size.
    assert n_rows * n_columns <= largest.numel < n_members * n_rows * n_columns / 7


# Modules of the user's own.


def sequential_of(member_views):
    """Return an nn.Sequential with the weights of one member of a stack."""
    layers = []
    n_layers = sum(name.startswith("weight") for name in member_views)
    for layer in range(n_layers):
        weight, bias = (member_views[f"{kind}{layer}"] for kind in ("weight", "bias"))
        linear = nn.Linear(*weight.shape, dtype=weight.dtype)
        with torch.no_grad():
            linear.weight.copy_(weight.T)
            linear.bias.copy_(bias)
        layers += [linear, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def module_twin(task, n_columns, n_outputs):
    members = iter(range(task.n_members))
    return module_stack(
        lambda *_: sequential_of(member_views(task, None, next(members))),
        *(n_columns, n_outputs, task.n_members),
    )


# Few outputs go through other products than many, and one output through none.
@pytest.mark.parametrize(
    ("n_members", "n_outputs"), [(1, 1), (1, 3), (3, 1), (3, 3), (3, 11), (3, 12)]
)
@pytest.mark.parametrize("has_roles", [False, True])
def test_modules_with_the_same_weights_train_like_the_stacked_network(
    n_members, n_outputs, has_roles
):
    is_classification = n_outputs > 1
    X, y = make_rows(
        N_ROWS, N_COLUMNS, is_classification=is_classification, n_classes=n_outputs
    )
    weights = roles(n_members) if has_roles else {}
    task, masking = build_networks(N_COLUMNS, n_outputs, n_members)
    _, twin_masking = build_networks(N_COLUMNS, n_outputs, n_members)
    twin = module_twin(task, N_COLUMNS, n_outputs)
    for network, gates in ((task, masking), (twin, twin_masking)):
        trainer = build_trainer(
            *(network, gates, as_data(X, y, **weights)),
            is_classification=is_classification,
            balances=torch.from_numpy(BALANCES[:n_members]),
            noise_source=replay(make_noises()[:, :, :n_members]),
        )
        take_steps(trainer, make_batches())
    np.testing.assert_allclose(twin_masking.logits(), masking.logits(), **TOLERANCE)
    for member, module in enumerate(twin.modules):
        views = member_views(task, None, member)
        for layer, linear in enumerate(module[::2]):
            found = linear.weight.detach().T, linear.bias.detach()
            expected = views[f"weight{layer}"], views[f"bias{layer}"]
            for a, b in zip(found, expected, strict=True):
                np.testing.assert_allclose(a, b, **TOLERANCE)
