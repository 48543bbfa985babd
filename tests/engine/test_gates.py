import numpy as np
import pytest
import torch
from scipy import sparse

from featuresieve.engine import (
    GateTensors,
    MaskingNetwork,
    SelectionPenalty,
    SparseRows,
    StackTrainer,
    Training,
    TrainingData,
)
from featuresieve.engine._training_data import DeviceCells
from featuresieve.problem import Gates
from small_stacks import CPU, build_networks, loss_for, make_rows

N_ROWS, N_MEMBERS = 12, 3
# Gate 0 opens columns 0 and 1, gate 1 column 2, gate 2 columns 3 to 5, gate 3 column 6.
GATES = Gates(
    gate_of_column=np.array([0, 0, 1, 2, 2, 2, 3]),
    n_features=np.array([2, 1, 1, 3]),
    costs=np.array([2.0, 0.5, 1.0, 9.0]),
    is_forced=np.array([False, False, False, True]),
)


def tensors():
    return GateTensors(
        GATES.gate_of_column,
        GATES.n_features_total,
        GATES.costs,
        GATES.is_forced,
        dtype=torch.float64,
        device=CPU,
    )


def test_gates_know_their_columns_and_features_and_are_numbered_anew_when_taken():
    gates = Gates.plain(3)
    assert gates.is_plain
    assert len(gates) == gates.n_features_total == 3
    assert gates.columns_of(np.array([2, 0])).tolist() == [0, 2]
    assert not GATES.is_plain
    assert GATES.n_features_total == 7
    assert GATES.columns_of(np.array([0, 2])).tolist() == [0, 1, 3, 4, 5]
    assert GATES.count(np.array([0, 3])) == 5
    taken = GATES.take(np.array([0, 2]))
    assert taken.gate_of_column.tolist() == [0, 0, 1, 1, 1]
    assert taken.costs.tolist() == [2.0, 1.0]
    assert taken.n_features.tolist() == [2, 1]


def test_expand_repeats_and_gather_sums():
    mask = torch.arange(8, dtype=torch.float64).view(4, 2)
    expanded = tensors().expand(mask)
    np.testing.assert_array_equal(expanded, mask.numpy()[GATES.gate_of_column])
    slope = torch.randn(7, 2, dtype=torch.float64)
    expected = np.zeros((4, 2))
    np.add.at(expected, GATES.gate_of_column, slope.numpy())
    np.testing.assert_allclose(tensors().gather(slope), expected, atol=1e-15)


def build_trainer(penalty, X, y, noise):
    """Return a float64 trainer behind GATES, and the balances of its members."""
    task, _ = build_networks(7, 3, N_MEMBERS)
    masking = MaskingNetwork(
        len(GATES),
        N_MEMBERS,
        embedding_size=3,
        init="uniform",
        train_embedding=True,
        generator=torch.Generator().manual_seed(5),
        dtype=torch.float64,
        device=CPU,
    )
    balances = torch.tensor([0.1, 1.0, 5.0], dtype=torch.float64)
    trainer = StackTrainer(
        TrainingData(torch.from_numpy(X), torch.from_numpy(y), gates=tensors()),
        loss_for(True),
        Training(penalty=penalty.kind, target_count=penalty.target_count),
        task,
        masking=masking,
        balances=balances,
        noise_source=lambda: noise,
    )
    return trainer, balances


def autograd_gradients(trainer, balances, noise, temperature, scale, penalty):
    """Return d loss / d (gate bias, weight0), written down without any folding."""
    task = {k: v.clone() for k, v in trainer.task.parameters.value.items()}
    gates = {k: v.clone() for k, v in trainer.masking.parameters.value.items()}
    weight, bias = task["weight0"].requires_grad_(), gates["bias"].requires_grad_()
    X, y = trainer.data.features, trainer.data.targets
    total = torch.zeros((), dtype=torch.float64)
    for m in range(N_MEMBERS):
        logits = gates["projection"][m] @ gates["embedding"][m] + bias[:, m]
        mask = torch.sigmoid((logits + noise[:, m]) / temperature)
        mask = torch.where(torch.from_numpy(GATES.is_forced), 1.0, mask)
        hidden = X * mask[torch.from_numpy(GATES.gate_of_column)]
        hidden = torch.relu(hidden @ weight[:, m] + task["bias0"][m])
        hidden = torch.relu(hidden @ task["weight1"][m] + task["bias1"][m])
        outputs = hidden @ task["weight2"][m] + task["bias2"][m]
        loss = torch.nn.functional.cross_entropy(outputs, y)
        costs = torch.from_numpy(np.where(GATES.is_forced, 0.0, GATES.costs))
        fraction = (costs * mask).sum() / 7
        if penalty.kind == "target":
            fraction = (fraction - penalty.target_count / 7) ** 2
        total = total + loss + scale * balances[m] * fraction
    return torch.autograd.grad(total, [bias, weight])


@pytest.mark.parametrize("kind", ["fraction", "target"])
def test_step_behind_gates_has_the_gradients_of_autograd(kind):
    X, y = make_rows(N_ROWS, 7, is_classification=True)
    noise = torch.from_numpy(np.random.default_rng(1).gumbel(size=(4, N_MEMBERS)))
    penalty = SelectionPenalty(kind, 2.0)
    trainer, balances = build_trainer(penalty, X, y, noise)
    expected = autograd_gradients(trainer, balances, noise, 1.3, 0.7, penalty)
    trainer.train_step(torch.arange(N_ROWS), 1.3, 0.7)
    found = (
        trainer.masking.parameters.gradient["bias"],
        trainer.task.parameters.gradient["weight0"],
    )
    for got, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, wanted, atol=1e-12)
    assert (found[0][3] == 0).all()  # the forced gate has nothing to learn


def test_sparse_rows_give_the_outputs_and_gradients_of_dense_ones():
    rng = np.random.default_rng(0)
    X = (rng.random((20, 6)) * (rng.random((20, 6)) < 0.3)).astype(np.float32)
    y = rng.integers(3, size=20)
    gradients = []
    table = sparse.csr_array(X)
    for features in (torch.from_numpy(X), SparseRows(table, CPU)):
        task, masking = build_networks(6, 3, 2, dtype=torch.float32)
        trainer = StackTrainer(
            TrainingData(features, torch.from_numpy(y)),
            loss_for(True),
            Training(),
            task,
            masking=masking,
            balances=torch.ones(2),
            noise_source=lambda: torch.zeros(6, 2),
        )
        trainer.train_step(torch.tensor([3, 1, 4, 15, 9]), 1.0, 1.0)
        both = (task.parameters.flat.grad, masking.parameters.flat.grad)
        gradients.append(torch.cat([g.clone() for g in both]))
    # Sums of float32 products in another order.
    np.testing.assert_allclose(gradients[1], gradients[0], atol=1e-6)


def test_rows_made_dense_of_the_cells_on_a_device_are_those_of_the_table():
    rng = np.random.default_rng(0)
    X = (rng.random((40, 9)) * (rng.random((40, 9)) < 0.2)).astype(np.float32)
    X[7], X[20:23] = 1.0, 0.0  # a full row, and some without a cell
    cells = DeviceCells(sparse.csr_array(X), CPU)
    np.testing.assert_array_equal(cells.all_rows(), X)
    for rows in ([20], [7], [21, 7, 3], rng.permutation(40)[:16], []):
        rows = np.asarray(rows, dtype=np.int64)
        np.testing.assert_array_equal(cells.dense(torch.from_numpy(rows)), X[rows])
    empty = DeviceCells(sparse.csr_array((5, 3), dtype=np.float32), CPU)
    np.testing.assert_array_equal(empty.all_rows(), np.zeros((5, 3)))
