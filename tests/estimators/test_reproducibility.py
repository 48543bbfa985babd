import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import nn

import interrupted_fits
from featuresieve import (
    AutoNFSClassifier,
    AutoNFSRegressor,
    Training,
    TrainingDivergedError,
)
from interrupted_fits import assert_same_answers
from made_tables import class_table, value_table
from quick_selectors import built

# Quality does not matter here, and a few epochs may leave the answer in doubt.
pytestmark = pytest.mark.filterwarnings("ignore::featuresieve.FeatureSieveWarning")


numeric = pytest.mark.numeric  # the claim is of kernels
QUICK = {"n_epochs": 5, "n_members": 20, "random_state": 3}


def dropout_network(n_columns, n_outputs):
    return nn.Sequential(
        nn.Linear(n_columns, 8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, n_outputs)
    )


def classifier(**arguments):
    return built(AutoNFSClassifier, **(QUICK | arguments))


VOTE, OWN = Training(decision="vote"), Training(task_network=dropout_network)
CASES = {
    "classifier": (classifier(), class_table()),
    "regressor": (built(AutoNFSRegressor, **QUICK), value_table()),
    "given balance": (classifier(balance=0.1), class_table()),
    "vote": (classifier(balance=0.1, training=VOTE), class_table()),
    "own network": (classifier(balance=0.1, n_epochs=2, training=OWN), class_table()),
}


@pytest.fixture(params=CASES)
def name(request):
    return request.param


def fresh(name):
    """Return an unfitted selector, X and y of a case."""
    selector, (X, y) = CASES[name]
    return clone(selector), X.copy(), y.copy()


@contextmanager
def setting(read, write, value):
    """Change one of torch's settings for a while."""
    before = read()
    write(value)
    try:
        yield
    finally:
        write(before)


def default_dtype(dtype):
    return setting(torch.get_default_dtype, torch.set_default_dtype, dtype)


def two_threads():
    return setting(torch.get_num_threads, torch.set_num_threads, 2)


def rounded_products():
    read, write = (
        torch.get_float32_matmul_precision,
        torch.set_float32_matmul_precision,
    )
    return setting(read, write, "medium")


SURROUNDINGS = {
    "two threads": two_threads,
    "double precision": lambda: default_dtype(torch.float64),
    "low precision": lambda: default_dtype(torch.bfloat16),
    "rounded products": rounded_products,
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    # Stands in for the caller's `set_default_device("cuda")`.
    "other device": lambda: setting(lambda: None, torch.set_default_device, "meta"),
    "no gradients": torch.no_grad,
    "inference": torch.inference_mode,
}


def answers(selector, X):
    """Return what is compared between fits, bit by bit."""
    frequency = {"frequency": selector.selection_frequency_}
    return interrupted_fits.answers(selector, X) | frequency


def fit_answers(name):
    selector, X, y = fresh(name)
    return answers(selector.fit(X, y), X)


@pytest.fixture(scope="module")
def usual():
    """Return the answers of all cases on one thread, in float32, on the CPU."""
    assert torch.get_num_threads() == 1
    assert torch.get_default_dtype() == torch.float32
    return {name: fit_answers(name) for name in CASES}


# --- the same seed


def test_second_fit_of_the_same_object_starts_afresh_and_another_seed_differs(
    name, usual
):
    selector, X, y = fresh(name)
    selector.set_params(random_state=4).fit(X, y)
    assert not np.array_equal(selector.logits_, usual[name]["logits"])
    selector.fit(X[:100, ::-1], y[:100])
    selector.set_params(random_state=3).fit(X, y)
    assert_same_answers(answers(selector, X), usual[name])


@pytest.mark.parametrize("seed", [np.random.seed, torch.manual_seed])
def test_state_of_the_global_generators_does_not_matter(name, seed, usual):
    seed(1)
    assert_same_answers(fit_answers(name), usual[name])


@numeric
@pytest.mark.parametrize("surroundings", SURROUNDINGS)
def test_surroundings_do_not_change_the_answer(name, surroundings, usual):
    with SURROUNDINGS[surroundings]():
        found = fit_answers(name)
    assert_same_answers(found, usual[name])


@numeric
def test_fits_of_many_threads_are_those_of_one(usual):
    names = ["classifier", "given balance"] * 6
    with default_dtype(torch.float64), rounded_products():
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(fit_answers, names))
        assert torch.get_default_dtype() == torch.float64
        assert torch.get_float32_matmul_precision() == "medium"
    for name, answer in zip(names, found, strict=True):
        assert_same_answers(answer, usual[name])


# --- another order of the columns


@numeric
@pytest.mark.parametrize("seed", [0, 1])
def test_order_of_the_columns_orders_the_answer_and_nothing_else(name, seed, usual):
    selector, X, y = fresh(name)
    order = np.random.default_rng(seed).permutation(X.shape[1])
    by_column = ("support", "logits", "frequency", "history gates")
    expected = {
        name: value[..., order] if name in by_column else value
        for name, value in usual[name].items()
    }
    shuffled = answers(selector.fit(X[:, order], y), X[:, order])
    shuffled["order"] = order[shuffled["order"]]
    assert_same_answers(shuffled, expected)


@numeric
def test_memory_layout_and_container_do_not_matter(name, usual):
    for form in (np.asfortranarray, np.ndarray.tolist):
        selector, X, y = fresh(name)
        selector.fit(form(X), y.tolist())
        assert_same_answers(answers(selector, X), usual[name])


# --- what belongs to the caller


def surroundings():
    """Return everything global that a fit could disturb."""
    kind, key, *rest = np.random.get_state()  # noqa: NPY002
    return {
        "numpy": (kind, key.tolist(), *rest),
        "torch": torch.get_rng_state().tolist(),
        "python": random.getstate(),
        "threads": torch.get_num_threads(),
        "dtype": torch.get_default_dtype(),
        "precision": torch.get_float32_matmul_precision(),
        "device": torch.get_default_device(),
        "grad": torch.is_grad_enabled(),
        "float errors": np.geterr(),
    }


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_fit_and_predict_leave_everything_of_the_caller_alone(name, dtype):
    selector, X, y = fresh(name)
    arguments = selector.get_params()
    with two_threads(), default_dtype(dtype):
        before = surroundings()
        selector.fit(X, y).predict(X)
        assert surroundings() == before
    assert selector.get_params() == arguments
    _, (expected_X, expected_y) = CASES[name]
    np.testing.assert_array_equal(X, expected_X)
    np.testing.assert_array_equal(y, expected_y)


class BrokenError(Exception):
    pass


def broken_factory(*_):
    torch.rand(3)
    raise BrokenError


class BrokenForward(nn.Linear):
    """A network that fails in its third step, after having drawn numbers."""

    n_calls = 0

    def forward(self, batch):
        self.n_calls += 1
        torch.rand(3)
        if self.n_calls == 3:
            raise BrokenError
        return super().forward(batch)


def trained_with(**entries):
    return classifier(training=Training(**entries))


X, Y = class_table()
FAILURES = {
    "factory raises": (trained_with(task_network=broken_factory), X, Y, BrokenError),
    "network raises": (trained_with(task_network=BrokenForward), X, Y, BrokenError),
    "diverges": (trained_with(task_learning_rate=1e30), X, Y, TrainingDivergedError),
    "X is not finite": (classifier(), np.full_like(X, np.inf), Y, ValueError),
    "lengths differ": (classifier(), X, Y[:-1], ValueError),
    "one class": (classifier(), X, np.zeros(len(X)), ValueError),
    "bad argument": (classifier(n_epochs=0), X, Y, ValueError),
    "bad count": (classifier(n_features_to_select=99), X, Y, ValueError),
}


@pytest.mark.parametrize(
    ("selector", "X", "y", "error"), FAILURES.values(), ids=FAILURES
)
def test_failed_fit_leaves_the_surroundings_alone(selector, X, y, error):
    with two_threads():
        before = surroundings()
        with pytest.raises(error):
            clone(selector).fit(X, y)
        assert surroundings() == before
