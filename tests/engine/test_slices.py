"""Large stacks train in slices on threads: the same numbers, whatever their number."""

import threading

import numpy as np
import pytest
import torch

from featuresieve.engine import (
    MaskingNetwork,
    Schedule,
    StackedMLP,
    StackTrainer,
    Training,
    TrainingData,
    stack_outputs,
)
from small_stacks import CPU, StopsAt, loss_for

pytestmark = pytest.mark.numeric

N_ROWS, N_COLUMNS, N_MEMBERS, N_STEPS = 300, 320, 16, 12
# About the least that is sliced: 42 million multiply-adds for a batch, in four slices.
SCHEDULE = Schedule(N_STEPS, 2, 256, penalty_ramp=0.3)


def networks():
    """Return the networks of the whole stack."""
    drawn = {"generator": torch.Generator().manual_seed(0)}
    drawn |= {"dtype": torch.float64, "device": CPU}
    sizes = {"embedding_size": 4, "init": "uniform", "train_embedding": True}
    task = StackedMLP(N_COLUMNS, 3, N_MEMBERS, hidden_sizes=(32,), **drawn)
    return task, MaskingNetwork(N_COLUMNS, N_MEMBERS, **sizes, **drawn)


class Replayed:
    """Noise from a list."""

    def __init__(self, members):
        self._rest = iter(NOISE[:, :, members])

    def __call__(self):
        return next(self._rest)


EVERYONE = slice(0, N_MEMBERS)
RNG = np.random.default_rng(0)
X = torch.from_numpy(RNG.standard_normal((N_ROWS, N_COLUMNS)))
Y = torch.from_numpy(RNG.integers(3, size=N_ROWS))
NOISE = torch.from_numpy(RNG.gumbel(size=(N_STEPS, N_COLUMNS, N_MEMBERS)))
WEIGHTS = torch.from_numpy(RNG.uniform(size=(4, N_ROWS)))
MASK = torch.from_numpy((RNG.random((N_COLUMNS, N_MEMBERS)) < 0.5).astype(np.float64))


def trainer_of(members, is_gated=True, n_threads=1, noise_source=None):
    """Return a trainer of some members of the stack."""
    task, masking = (network.of_members(members) for network in networks())
    sets = torch.arange(N_MEMBERS)[members] % 4
    masked = {"fixed_mask": MASK[:, members]}
    if is_gated:
        balances = torch.linspace(0, 4, N_MEMBERS, dtype=torch.float64)[members]
        masked = {"masking": masking, "balances": balances}
        masked["noise_source"] = noise_source
    data = TrainingData(X, Y, WEIGHTS, WEIGHTS.flip(0), sets)
    training = Training(task_learning_rate=1e-2)
    return StackTrainer(
        data, loss_for(True), training, task, n_threads=n_threads, **masked
    )


def numbers_of(trainer):
    """Return what a trainer has learnt and recorded."""
    return {name: np.asarray(array) for name, array in trainer.state().items()}


@pytest.mark.parametrize("is_gated", [True, False])
def test_a_stack_in_slices_trains_like_its_parts(is_gated):
    whole = trainer_of(EVERYONE, is_gated, noise_source=Replayed(EVERYONE))
    whole.run(SCHEDULE, record_after=(0.5, 1.0))
    half = N_MEMBERS // 2
    for members in (slice(0, half), slice(half, N_MEMBERS)):  # halves are not sliced
        part = trainer_of(members, is_gated, noise_source=Replayed(members))
        part.run(SCHEDULE, record_after=(0.5, 1.0))
        found = whole.member_views(members, is_brief=True)
        expected = part.member_views(slice(None), is_brief=True)
        # Sums in another order, as between a stack and single runs.
        for ours, its in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, its, rtol=0, atol=1e-12)
        for name in ("task_loss", "penalty"):
            records = np.array(getattr(whole.history, name))
            expected = getattr(part.history, name)
            np.testing.assert_allclose(
                records[:, members] if len(records) else records, expected, rtol=1e-10
            )


def test_outputs_of_some_members_are_those_of_the_stack():
    task, _ = networks()
    some = stack_outputs(task, X, MASK, slice(4, 9))
    everyones = stack_outputs(task, X, MASK)
    np.testing.assert_allclose(some, everyones[4:9], rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_threads", [2, 4])
def test_the_number_of_threads_changes_no_bit_also_in_a_resumed_run(n_threads):
    alone = trainer_of(EVERYONE)
    alone.run(SCHEDULE, record_after=(0.5, 1.0))
    n_before = threading.active_count()
    begun, monitor = trainer_of(EVERYONE, n_threads=n_threads), StopsAt(7)
    with pytest.raises(KeyboardInterrupt):
        begun.run(SCHEDULE, record_after=(0.5, 1.0), monitor=monitor)
    assert monitor.n_threads == n_threads
    assert threading.active_count() == n_before
    resumed = trainer_of(EVERYONE, n_threads=n_threads)
    resumed.planned_steps = N_STEPS
    resumed.load_state_dict(monitor.state)
    resumed.run(SCHEDULE, record_after=(0.5, 1.0))
    expected = numbers_of(alone)
    for name, array in numbers_of(resumed).items():
        np.testing.assert_array_equal(array, expected[name], err_msg=name)


def test_an_error_in_a_slice_ends_the_run():
    trainer = trainer_of(EVERYONE, n_threads=2)
    trainer.data.targets[0] = 7  # there are three classes
    n_before = threading.active_count()
    try:
        with pytest.raises(RuntimeError, match="out of bounds"):
            trainer.run(SCHEDULE)
    finally:
        trainer.data.targets[0] = 0
    assert threading.active_count() == n_before
