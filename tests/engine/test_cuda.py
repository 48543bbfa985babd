"""What changes on CUDA: the captured step, and fitted state that leaves the machine.

All of it is skipped without CUDA.
"""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from scipy import sparse

from featuresieve import AutoNFSClassifier, AutoNFSRegressor
from featuresieve.engine import SparseRows, StackTrainer, Training, TrainingData
from small_stacks import (
    as_data,
    build_networks,
    loss_for,
    make_rows,
    member_arrays,
    whole_epochs,
)

N_ROWS, N_COLUMNS, N_MEMBERS = 14, 5, 3
# Batches of 4, 4, 4 and 2 rows: two graphs that share one source of noise.
SCHEDULE = whole_epochs(4, N_ROWS, 4)
pytestmark = pytest.mark.gpu
CUDA = "cuda:0"  # a name, so that collecting this file touches no device

# Float64 sums in the order of another kernel or algorithm; 16 steps of Adam.
TOLERANCE = {"rtol": 0.0, "atol": 1e-10}


def build_trainer(device, *, has_roles=False, has_noise=False):
    """Return a float64 trainer on a device, perhaps with noise that all devices share.

    CUDA draws other numbers than the CPU.
    """
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
    noises = np.random.default_rng(4).gumbel(size=(99, N_COLUMNS, N_MEMBERS))
    given = iter(torch.from_numpy(noises).to(device))
    return StackTrainer(
        as_data(X, y, device=device, **weights),
        loss_for(True),
        Training(task_learning_rate=3e-4),
        task,
        masking=masking,
        balances=torch.tensor([0.1, 1.0, 5.0], dtype=torch.float64, device=device),
        noise_source=(lambda: next(given)) if has_noise else None,
        seed=3,
    )


def run(trainer):
    """Take all steps: captured ones on CUDA, eager ones elsewhere."""
    # Records after batches of 4 rows (steps 6 and 14) and of 2 (8 and 16).
    trainer.run(SCHEDULE, record_after=np.array([6, 8, 14, 16]) / 16)
    return trainer


def take_steps(trainer):
    """Take the steps of `run` one by one, which is eager everywhere."""
    like, steps = build_trainer("cpu"), []
    like.train_step = lambda *step: steps.append(step)
    like.run(SCHEDULE)
    for rows, temperature, scale in steps:
        trainer.train_step(rows.to(trainer.data.features.device), temperature, scale)
    return trainer


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


@pytest.mark.parametrize("has_roles", [False, True])
@pytest.mark.parametrize("train", [run, take_steps], ids=["captured", "eager"])
def test_training_on_cuda_is_that_on_the_cpu_given_the_same_noise(train, has_roles):
    options = {"has_roles": has_roles, "has_noise": True}
    on_cpu = run(build_trainer("cpu", **options))
    on_cuda = train(build_trainer(CUDA, **options))
    assert_same_parameters(on_cuda, on_cpu)
    if train is run:
        found, expected = on_cuda.history, on_cpu.history
        assert found.step == expected.step == [6, 8, 14, 16]
        for name in ("task_loss", "penalty"):
            np.testing.assert_allclose(
                getattr(found, name), getattr(expected, name), **TOLERANCE, err_msg=name
            )


def test_captured_run_draws_the_noise_of_the_eager_run():
    captured, eager = run(build_trainer(CUDA)), take_steps(build_trainer(CUDA))
    assert_same_parameters(captured, eager)
    # Without noise, as with the same at every replay, it would be another one.
    with pytest.raises(AssertionError):
        assert_same_parameters(captured, run(build_trainer(CUDA, has_noise=True)))


def test_captured_run_is_the_same_behind_a_busy_device():
    # Replays pile up while the device sleeps: no step may read what is meant for
    # another one.
    quiet, busy = build_trainer(CUDA), build_trainer(CUDA)
    next_noise = busy.next_noise

    def slow_noise():
        torch.cuda._sleep(2_000_000)
        return next_noise()

    busy.next_noise = slow_noise
    assert_same_parameters(run(busy), run(quiet))


def test_networks_start_alike_on_every_device():
    on_cpu, on_cuda = arrays_of(build_trainer("cpu")), arrays_of(build_trainer(CUDA))
    for name, value in on_cpu.items():
        np.testing.assert_array_equal(on_cuda[name], value)


def train_sparse(features):
    """Return a float32 trainer after a run behind the same noise."""
    _, y = make_rows(N_ROWS, N_COLUMNS, is_classification=True, seed=1)
    task, masking = build_networks(
        N_COLUMNS, 3, N_MEMBERS, dtype=torch.float32, device=features.device
    )
    data = TrainingData(features, torch.from_numpy(y).to(features.device))
    balances = torch.tensor([0.1, 1.0, 5.0], device=features.device)
    return run(
        StackTrainer(
            data, loss_for(True), Training(), task, masking=masking, balances=balances
        )
    )


def test_captured_steps_on_a_sparse_table_are_those_on_a_dense_one():
    X, _ = make_rows(N_ROWS, N_COLUMNS, is_classification=True, seed=1)
    X = np.where(X > 0.5, X, 0.0).astype(np.float32)
    cells = SparseRows(sparse.csr_array(X), torch.device(CUDA))
    found, expected = map(train_sparse, (cells, torch.from_numpy(X).to(CUDA)))
    for name, value in arrays_of(expected).items():
        np.testing.assert_allclose(arrays_of(found)[name], value, atol=1e-6)


# Estimators.


def make_table():
    """Return a table whose first two columns decide the target."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 6))
    return X, X[:, 0] + X[:, 1]


def fit(device, estimator=AutoNFSClassifier):
    X, signal = make_table()
    y = (signal > 0).astype(int) if estimator is AutoNFSClassifier else signal
    training = Training(n_epochs=40)
    return estimator(device=device, training=training, random_state=0).fit(X, y)


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


def test_the_same_seed_gives_the_same_support_without_a_tensor():
    first, second = fit("cuda"), fit("cuda")
    np.testing.assert_array_equal(first.support_, second.support_)
    np.testing.assert_allclose(first.logits_, second.logits_, atol=1e-4)
    assert b"torch" not in pickle.dumps(first)


def test_cuda_and_cpu_find_the_columns_that_matter():
    # Their noise differs, so only a clear answer can be the same.
    for device in ("cpu", "cuda"):
        assert fit(device).support_[:2].all()
