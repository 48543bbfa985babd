"""A stack that gates leave trains on as the whole one does, where they are closed."""

import numpy as np
import pytest
import torch
from scipy import sparse

from featuresieve.engine import (
    CLOSED,
    GateTensors,
    MaskingNetwork,
    Schedule,
    SparseRows,
    StackedMLP,
    StackTrainer,
    Training,
    TrainingData,
)
from small_stacks import CPU, StopsAt, loss_for

pytestmark = pytest.mark.numeric

N_ROWS, N_GATES, N_MEMBERS, N_STEPS = 300, 40, 6, 24
# Large enough to be cut into slices.
WIDE_GATES, WIDE_MEMBERS = 320, 16
RECORDS = (0.25, 0.5, 0.75, 1.0)
LEFT = np.array([0, 3, 4, 17, 30])


def gates_of(n_gates, dtype, kind, device):
    """Return gates: plain ones, or some of two columns, forced ones and costs."""
    if kind == "plain":
        return None, n_gates
    gate_of_column = np.repeat(np.arange(n_gates), 1 + (np.arange(n_gates) % 3 == 0))
    costs, is_forced = np.linspace(0.5, 2.0, n_gates), np.arange(n_gates) == 4
    gates = GateTensors(
        gate_of_column, n_gates, costs, is_forced, dtype=dtype, device=device
    )
    return gates, len(gate_of_column)


def trainer_of(
    may_shrink,
    *,
    kind="plain",
    n_gates=N_GATES,
    n_members=N_MEMBERS,
    n_threads=1,
    dtype=torch.float64,
    device=CPU,
):
    """Return a trainer, always the same but for what is asked."""
    dtype = torch.float32 if kind == "sparse" else dtype
    own_kind = "plain" if kind == "sparse" else kind
    gates, n_columns = gates_of(n_gates, dtype, own_kind, device)
    drawn = {"generator": torch.Generator().manual_seed(0)}
    drawn |= {"dtype": dtype, "device": device}
    task = StackedMLP(n_columns, 3, n_members, hidden_sizes=(32,), **drawn)
    sizes = {"embedding_size": 4, "init": "zeros", "train_embedding": True}
    masking = MaskingNetwork(n_gates, n_members, **sizes, **drawn)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, n_columns))
    y = torch.from_numpy(rng.integers(3, size=N_ROWS))
    weights = torch.from_numpy(rng.uniform(size=(2, N_ROWS))).to(dtype)
    features = torch.from_numpy(X).to(device, dtype)
    if kind == "sparse":
        cells = np.where(rng.random(X.shape) < 0.2, X, 0).astype(np.float32)
        features = SparseRows(sparse.csr_array(cells), device)
    y, weights = y.to(device), weights.to(device)
    sets = torch.arange(n_members, device=device) % 2
    return StackTrainer(
        TrainingData(features, y, weights, weights.flip(0), sets, gates),
        loss_for(True),
        Training(),
        task,
        masking=masking,
        balances=torch.linspace(0, 1, n_members, dtype=dtype, device=device),
        n_threads=n_threads,
        may_shrink=may_shrink,
    )


def closed_but(left):
    """Return what closes all other gates of a trainer for good."""

    def close(trainer):
        is_closed = ~np.isin(trainer_gates(trainer), left)
        every = np.tile(is_closed, (trainer.task.n_members, 1))
        trainer.masking.close_(torch.from_numpy(every).to(trainer.balances.device))
        # Nor do their own weights move them back over the bound.
        trainer.masking.parameters.value["projection"][:, is_closed] = 0

    return close


def trainer_gates(trainer):
    """Return the gates that a trainer has left."""
    if trainer.open_gates is None:
        return np.arange(trainer.masking.parameters.value["bias"].shape[0])
    return trainer.open_gates.left


SCHEDULE = Schedule(N_STEPS, 4, 100, penalty_ramp=0.3)


@pytest.mark.parametrize("kind", ["plain", "mixed", "sparse"])
@pytest.mark.parametrize("when", [0, 12])
@pytest.mark.parametrize(
    "device", [CPU, pytest.param(torch.device("cuda:0"), marks=pytest.mark.gpu)]
)
def test_gates_that_are_closed_leave_and_change_nothing(kind, when, device):
    trainers = [trainer_of(may, kind=kind, device=device) for may in (True, False)]
    for trainer in trainers:
        close = closed_but(LEFT)
        if when == 0:
            close(trainer)

        def close_once(trained, close=close):
            if trained.step == when:
                close(trained)

        trainer.run(SCHEDULE, record_after=RECORDS, on_record=close_once)
    small, whole = trainers
    np.testing.assert_array_equal(small.open_gates.left, LEFT)
    assert small.task.parameters.flat.numel() < whole.task.parameters.flat.numel() / 2
    atol = 2e-4 if kind == "sparse" else 1e-10
    found, expected = np.array(small.history.logits), np.array(whole.history.logits)
    np.testing.assert_allclose(found[..., LEFT], expected[..., LEFT], atol=atol)
    assert (found[-1][:, np.setdiff1d(np.arange(N_GATES), LEFT)] < CLOSED / 2).all()
    for name in ("task_loss", "penalty"):
        np.testing.assert_allclose(
            getattr(small.history, name), getattr(whole.history, name), atol=atol
        )


def test_a_gate_that_one_member_may_open_stays_and_one_of_shut_ones():
    trainer = trainer_of(True)
    closed_but(LEFT)(trainer)
    trainer.masking.parameters.value["bias"][7, 2] = -7.0
    trainer.run(SCHEDULE, record_after=RECORDS)
    np.testing.assert_array_equal(trainer.open_gates.left, np.sort([*LEFT, 7]))
    trainer = trainer_of(True)
    closed_but([])(trainer)
    trainer.run(SCHEDULE, record_after=RECORDS)
    assert len(trainer.open_gates.left) == 1


def wide_run(n_threads, monitor=None, state=None):
    """Return a stack in slices which gates leave after half of the run."""
    sizes = {"n_gates": WIDE_GATES, "n_members": WIDE_MEMBERS, "n_threads": n_threads}
    trainer = trainer_of(True, dtype=torch.float32, **sizes)  # as fits have it
    trainer.masking.parameters.value["bias"][100:] = -7.9  # about to be shut
    trainer.balances += 30
    if state is not None:
        trainer.planned_steps = N_STEPS
        trainer.load_state_dict(state)
    schedule = Schedule(N_STEPS, 4, 256, penalty_ramp=0.3)
    trainer.run(schedule, record_after=RECORDS, monitor=monitor)
    return trainer


@pytest.mark.parametrize("step", [3, 12, 20])
def test_threads_and_an_interruption_change_no_bit(step):
    alone = wide_run(1)
    assert 0 < len(alone.open_gates.left) < WIDE_GATES
    monitor = StopsAt(step)
    with pytest.raises(KeyboardInterrupt):
        wide_run(2, monitor)
    resumed = wide_run(4, state=monitor.state)
    expected = alone.state()
    for name, array in resumed.state().items():
        np.testing.assert_array_equal(array, expected[name], err_msg=name)
