"""What changes on CUDA: the captured step, and fitted state that leaves the machine.

All of it is skipped without CUDA.
"""

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from featuresieve import AutoNFSClassifier, AutoNFSRegressor
from featuresieve.engine import Schedule, StackTrainer, Training
from featuresieve.engine._cuda_graph import CapturedStep
from small_stacks import (
    as_data,
    build_networks,
    loss_for,
    make_rows,
    member_arrays,
    whole_epochs,
)

N_ROWS, N_COLUMNS, N_MEMBERS, N_STEPS = 14, 5, 3, 12
pytestmark = pytest.mark.gpu
CUDA = "cuda:0"  # a name, so that collecting this file touches no device

# Float64 sums in the order of another kernel or algorithm; 12 steps of Adam.
TOLERANCE = {"rtol": 0.0, "atol": 1e-10}


def build_trainer(device, *, has_roles=False, noise_source=None):
    """Return a float64 trainer on a device."""
    device = torch.device(device)
    X, y = make_rows(N_ROWS, N_COLUMNS, is_classification=True, seed=1)
    weights = {}
    if has_roles:
        halves = (np.arange(N_ROWS) % 2).astype(np.float64)
        weights = {
            "task_weights": np.stack([halves, 1 - halves]),
            "mask_weights": np.stack([1 - halves, halves]),
            "set_of_member": np.array([0, 1, 0]),
        }
    task, masking = build_networks(N_COLUMNS, 3, N_MEMBERS, device=device)
    return StackTrainer(
        as_data(X, y, device=device, **weights),
        loss_for(True),
        Training(task_learning_rate=3e-4),
        task,
        masking=masking,
        balances=torch.tensor([0.1, 1.0, 5.0], dtype=torch.float64, device=device),
        noise_source=noise_source,
        seed=3,
    )


def arrays_of(trainer):
    """Return the parameters of all members by name."""
    members = [
        member_arrays(trainer.task, trainer.masking, member)
        for member in range(N_MEMBERS)
    ]
    return {name: np.stack([m[name] for m in members]) for name in members[0]}


def assert_same_parameters(found, expected):
    for name, value in arrays_of(expected).items():
        np.testing.assert_allclose(arrays_of(found)[name], value, **TOLERANCE)


def train_with_given_noise(device, *, is_captured=False, has_roles=False):
    """Take steps on batches of two sizes with noise that is the same on any device."""
    rng = np.random.default_rng(4)
    noise = torch.empty(N_COLUMNS, N_MEMBERS, dtype=torch.float64, device=device)
    trainer = build_trainer(device, has_roles=has_roles, noise_source=lambda: noise)
    take_step = trainer.train_step
    if is_captured:
        take_step = trainer._step_function()
        assert isinstance(take_step, CapturedStep)
    for step in range(N_STEPS):
        rows = torch.from_numpy(rng.permutation(N_ROWS)[: 2 if step % 4 == 3 else 4])
        # In place: a captured step reads this memory again at every replay.
        noise.copy_(torch.from_numpy(rng.gumbel(size=noise.shape)))
        take_step(rows.to(device), 2.0 * 0.9**step, min(1.0, step / 6))
    return trainer


@pytest.mark.parametrize("has_roles", [False, True])
def test_captured_step_equals_the_eager_step_given_the_same_noise(has_roles):
    eager = train_with_given_noise(CUDA, has_roles=has_roles)
    captured = train_with_given_noise(CUDA, has_roles=has_roles, is_captured=True)
    assert_same_parameters(captured, eager)


@pytest.mark.parametrize("has_roles", [False, True])
def test_eager_step_on_cuda_equals_the_step_on_the_cpu(has_roles):
    on_cpu = train_with_given_noise("cpu", has_roles=has_roles)
    on_cuda = train_with_given_noise(CUDA, has_roles=has_roles)
    assert_same_parameters(on_cuda, on_cpu)


def test_captured_run_draws_the_noise_of_the_eager_run():
    # Batches of 4, 4, 4 and 2 rows: two graphs that share one generator.
    schedule = whole_epochs(4, N_ROWS, 4)
    captured, eager = build_trainer(CUDA), build_trainer(CUDA)
    captured.run(schedule)
    steps = zip(
        eager._batches(schedule.batch_size),
        schedule.temperatures().tolist(),
        schedule.penalty_scales().tolist(),
        strict=False,  # batches go on for ever
    )
    for rows, temperature, scale in steps:
        eager.train_step(rows, temperature, scale)
    assert_same_parameters(captured, eager)


def test_captured_run_is_the_same_behind_a_busy_device():
    # Replays pile up while the device sleeps: no step may read what is meant for
    # another one.
    schedule = whole_epochs(8, N_ROWS, 4)
    quiet, busy = build_trainer(CUDA), build_trainer(CUDA)
    take_step = busy._step_function()

    def slow_step(rows, temperature, scale):
        torch.cuda._sleep(2_000_000)
        take_step(rows, temperature, scale)

    busy._step_function = lambda: slow_step
    for trainer in (quiet, busy):
        trainer.run(schedule)
    assert_same_parameters(busy, quiet)


def test_captured_run_draws_fresh_noise_at_every_replay():
    # Without noise the mean of the mask would barely move from step to step.
    trainer = build_trainer(CUDA)
    n_steps, means = 20, []
    trainer.run(
        Schedule(n_steps, 1, N_ROWS),
        record_after=np.arange(1, 21) / n_steps,
        on_record=lambda trainer: means.append(trainer.task._mask.mean(0).tolist()),
    )
    means = np.array(means)[CapturedStep.n_eager :]
    assert len(np.unique(means[:, 0])) == len(means)
    assert means.std(axis=0).min() > 1e-3


def test_captured_run_records_what_the_eager_run_records():
    # Records come after batches of 4 rows (steps 6 and 14) and of 2 (8 and 16), which
    # are replays of two graphs.
    schedule = whole_epochs(4, N_ROWS, 4)
    captured, eager = build_trainer(CUDA), build_trainer(CUDA)
    eager._step_function = lambda: eager.train_step
    for trainer in (captured, eager):
        trainer.run(schedule, record_after=np.array([6, 8, 14, 16]) / 16)
    assert captured.history.step == eager.history.step == [6, 8, 14, 16]
    for name in ("task_loss", "penalty"):
        found, expected = (getattr(t.history, name) for t in (captured, eager))
        np.testing.assert_allclose(found, expected, **TOLERANCE, err_msg=name)


def test_networks_start_alike_on_every_device():
    on_cpu, on_cuda = arrays_of(build_trainer("cpu")), arrays_of(build_trainer(CUDA))
    for name, value in on_cpu.items():
        np.testing.assert_array_equal(on_cuda[name], value)


# Estimators.


def make_table():
    """Return a table whose first two columns decide the target."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 6))
    return X, X[:, 0] + X[:, 1]


def fit(device, estimator=AutoNFSClassifier):
    X, signal = make_table()
    y = (signal > 0).astype(int) if estimator is AutoNFSClassifier else signal
    return estimator(device=device, n_epochs=40, random_state=0).fit(X, y)


def test_fits_in_threads_are_those_one_after_the_other():
    # More trainings than PyTorch has streams, with recordings amid the work of others.
    estimators = [AutoNFSClassifier, AutoNFSRegressor] * 8
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda kind: fit("cuda", kind), estimators))
    for kind, found in zip(estimators, together, strict=True):
        alone = fit("cuda", kind)
        np.testing.assert_array_equal(found.get_support(), alone.get_support())
        np.testing.assert_allclose(
            found.history_["task_loss"], alone.history_["task_loss"], rtol=1e-3
        )


# Run where no CUDA device is visible.
PREDICT = """
import pickle, sys
import numpy as np
import torch
assert not torch.cuda.is_available()
estimator, X = pickle.load(sys.stdin.buffer)
np.save(sys.stdout.buffer, estimator.predict(X))
"""


@pytest.mark.parametrize("estimator", [AutoNFSClassifier, AutoNFSRegressor])
def test_an_estimator_fitted_on_cuda_predicts_on_a_machine_without_it(
    estimator, tmp_path
):
    fitted, (X, _) = fit("cuda", estimator), make_table()
    stored, predicted = tmp_path / "estimator.pkl", tmp_path / "predicted.npy"
    stored.write_bytes(pickle.dumps((fitted, X)))
    with stored.open("rb") as source, predicted.open("wb") as sink:
        subprocess.run(
            [sys.executable, "-c", PREDICT],
            stdin=source,
            stdout=sink,
            env=os.environ | {"CUDA_VISIBLE_DEVICES": ""},
            check=True,
            timeout=120,
        )
    # Both processes run the same numpy code on the same arrays; the thread counts of
    # their BLAS may differ, and with them the last digits of float32 sums.
    np.testing.assert_allclose(np.load(predicted), fitted.predict(X), atol=1e-5)


def test_fitted_state_holds_no_tensor():
    assert b"torch" not in pickle.dumps(fit("cuda"))


def test_the_same_seed_gives_the_same_support():
    first, second = fit("cuda"), fit("cuda")
    np.testing.assert_array_equal(first.support_, second.support_)
    np.testing.assert_allclose(first.logits_, second.logits_, atol=1e-4)


def test_cuda_and_cpu_find_the_columns_that_matter():
    # Their noise differs, so only a clear answer can be the same.
    for device in ("cpu", "cuda"):
        assert fit(device).support_[:2].all()
