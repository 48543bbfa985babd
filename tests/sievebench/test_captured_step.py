import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from neural_tables import make_stack, on_device, small_rows

from featuresieve.engine import StackOptimizer
from sievebench.selectors import SELECTORS
from sievebench.stack.member_noise import MemberNoise
from sievebench.stack.on_gpu import (
    MOST_STREAMS,
    CapturedCall,
    CapturedSteps,
    own_stream,
    side_by_side,
    steps_at_once,
)
from sievebench.stack.penalized_loss import PenalizedLoss
from sievebench.stack.task_loss import TaskLoss
from sievebench.stack.training import TrainingSettings, train_stack

NEURAL = ["1l-lasso", "agl", "deep-lasso", "stg", "protogate", "lspin", "attention"]
QUICK = {"agl": {"n_steps": 60}, "autonfs": {}}
ANY_DEVICE = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def fit(name, X, y, seed=0):
    settings = QUICK.get(name, {"max_epochs": 6})
    selector = SELECTORS[name](random_state=seed, device="cuda", **settings)
    return selector.fit(X, y).scores_


def made_table(seed=0, n_rows=400):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 8)).astype(np.float32)
    return X, (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)


def train_on_cuda(seed):
    """Return the weights of a stack with dropout after a few epochs."""
    place = torch.device("cuda")
    rows = on_device(small_rows(n_rows=300, dtype=torch.float32), place)
    shape = {"hidden_sizes": (16, 8), "dtype": torch.float32, "dropout": 0.3}
    network = make_stack(noise=MemberNoise((seed, 7), place), **shape)
    objective = PenalizedLoss(network, TaskLoss.for_classes(3))
    settings = TrainingSettings(batch_size=32, max_epochs=8)
    record = train_stack(network, objective, rows, settings, order_seed=0)
    weights = [value.detach().cpu() for value in network.trainable.values()]
    return [*weights, record.best_score.cpu()]


def assert_same(training, other):
    for one, two in zip(training, other, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-6)


def record_nothing(monkeypatch):
    monkeypatch.setattr(CapturedSteps, "n_eager", 10**9)
    monkeypatch.setattr(CapturedCall, "n_eager", 10**9)


@pytest.mark.parametrize("name", ["adamw", "adam", "sgd"])
def test_learning_rate_in_memory_is_the_learning_rate(name):
    random = torch.Generator().manual_seed(0)
    start = torch.randn(2, 3, generator=random)
    gradients = [torch.randn(2, 3, generator=random) for _ in range(4)]
    ends = []
    for rate in (0.25, torch.tensor(0.25)):
        parameter = start.clone()
        optimizer = StackOptimizer([parameter], name, weight_decay=0.1)
        for gradient in gradients:
            optimizer.step_(rate, [gradient])
        ends.append(parameter)
    torch.testing.assert_close(ends[0], ends[1])
    assert not torch.equal(ends[0], start)


@pytest.mark.parametrize("device", ANY_DEVICE)
def test_work_side_by_side_comes_back_in_order_or_raises_the_error(device):
    def fail():
        raise ArithmeticError("this one")

    work = [lambda number=number: number**2 for number in range(7)]
    assert side_by_side(work, device) == [number**2 for number in range(7)]
    with pytest.raises(ArithmeticError, match="this one"):
        side_by_side([lambda: 1, fail, lambda: 2], device)


@pytest.mark.gpu
@pytest.mark.parametrize("name", NEURAL)
def test_recorded_training_is_the_plain_one(name, monkeypatch):
    X, y = made_table()
    recorded = fit(name, X, y)
    record_nothing(monkeypatch)
    np.testing.assert_allclose(recorded, fit(name, X, y), rtol=1e-3, atol=1e-5)


@pytest.mark.gpu
def test_recorded_training_draws_the_dropout_of_the_plain_one(monkeypatch):
    recorded = train_on_cuda(0)
    record_nothing(monkeypatch)
    assert_same(recorded, train_on_cuda(0))


@pytest.mark.gpu
@pytest.mark.parametrize("most", [1, 2, 5, 16])
def test_steps_recorded_together_are_those_recorded_alone(most, monkeypatch):
    together = train_on_cuda(0)
    monkeypatch.setattr(CapturedSteps, "most_at_once", most)
    assert_same(together, train_on_cuda(0))


@pytest.mark.parametrize("most", [1, 2, 7, 16])
def test_blocks_of_steps_leave_fewer_over_than_there_are_blocks(most):
    for n_steps in range(1, 200):
        size = steps_at_once(n_steps, most)
        n_blocks, n_left = divmod(n_steps, size)
        assert 1 <= size <= most
        assert n_left < max(1, -(-n_steps // most)) <= n_blocks


@pytest.mark.gpu
def test_trainings_side_by_side_are_those_one_after_the_other():
    seeds = range(12)
    together = side_by_side([lambda s=s: train_on_cuda(s) for s in seeds], "cuda")
    for seed, found in zip(seeds, together, strict=True):
        assert_same(found, train_on_cuda(seed))


@pytest.mark.gpu
@pytest.mark.parametrize("name", [*NEURAL, "autonfs"])
def test_selectors_side_by_side_find_what_they_find_alone(name):
    # Enough trainings to go round the streams that PyTorch has, in several batches.
    tables = [made_table(seed) for seed in range(16)]
    together = [
        found
        for start in range(0, 16, 4)
        for found in side_by_side(
            [lambda t=t: fit(name, *t) for t in tables[start : start + 4]], "cuda"
        )
    ]
    for table, found in zip(tables, together, strict=True):
        np.testing.assert_allclose(found, fit(name, *table), rtol=1e-3, atol=1e-5)


@pytest.mark.gpu
def test_a_stream_is_lent_to_one_at_a_time():
    lent, seen, lock = set(), set(), threading.Lock()

    def work(number):
        with own_stream(torch.device("cuda", 0 if number % 2 else None)) as stream:
            with lock:
                assert stream.cuda_stream not in lent
                lent.add(stream.cuda_stream)
                seen.add(stream.cuda_stream)
            with torch.cuda.stream(stream):
                total = int(torch.ones(1000, device="cuda").sum())
            with lock:
                lent.remove(stream.cuda_stream)
        return total

    with ThreadPoolExecutor(40) as threads:
        assert set(threads.map(work, range(400))) == {1000}
    assert 1 < len(seen) <= MOST_STREAMS
