"""`random_state` decides everything, and nothing of the caller's is touched."""

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import nn

from featuresieve import (
    AutoNFSClassifier,
    AutoNFSRegressor,
    Training,
    TrainingDivergedError,
)
from made_tables import class_table, value_table

# Quality does not matter here, and a few epochs may leave the answer in doubt.
pytestmark = [
    pytest.mark.numeric,
    pytest.mark.filterwarnings("ignore::featuresieve.FeatureSieveWarning"),
]


def dropout_network(n_columns, n_outputs):
    return nn.Sequential(
        nn.Linear(n_columns, 8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, n_outputs)
    )


def classifier(**arguments):
    return AutoNFSClassifier(**({"n_epochs": 5, "random_state": 3} | arguments))


def regressor(**arguments):
    return AutoNFSRegressor(**({"n_epochs": 5, "random_state": 3} | arguments))


CASES = {
    "classifier": (classifier(), class_table()),
    "regressor": (regressor(), value_table()),
    "given balance": (classifier(balance=0.1), class_table()),
    "vote": (
        classifier(balance=0.1, training=Training(decision="vote")),
        class_table(),
    ),
    "own network": (
        classifier(
            balance=0.1, n_epochs=2, training=Training(task_network=dropout_network)
        ),
        class_table(),
    ),
}


@pytest.fixture(params=CASES)
def case(request):
    """Return an unfitted selector, X and y."""
    selector, (X, y) = CASES[request.param]
    return clone(selector), X, y


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def double_precision():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


@pytest.fixture
def low_precision():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    yield
    torch.set_default_dtype(before)


@pytest.fixture
def rounded_products():
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    yield
    torch.set_float32_matmul_precision(before)


@pytest.fixture
def autocast():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        yield


@pytest.fixture
def other_default_device():
    """Stand in for the caller's `set_default_device("cuda")`."""
    torch.set_default_device("meta")
    yield
    torch.set_default_device(None)


def answers(selector, X):
    """Return what is compared between fits, bit by bit."""
    return {
        "support": selector.support_,
        "logits": selector.logits_,
        "order": selector.order_,
        "frequency": selector.selection_frequency_,
        "balance": selector.balance_,
        "losses": selector.path_["loss"],
        "predictions": selector.predict(X),
    }


def assert_same_answers(found, expected):
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


# --- the same seed


def test_same_seed_gives_the_same_answer(case):
    selector, X, y = case
    first = answers(clone(selector).fit(X, y), X)
    assert_same_answers(answers(clone(selector).fit(X, y), X), first)


def test_other_seed_gives_other_numbers(case):
    selector, X, y = case
    first = clone(selector).fit(X, y)
    second = clone(selector).set_params(random_state=4).fit(X, y)
    assert not np.array_equal(first.logits_, second.logits_)


def test_second_fit_of_the_same_object_starts_afresh(case):
    selector, X, y = case
    expected = answers(clone(selector).fit(X, y), X)
    selector.fit(X[:100, ::-1], y[:100])
    assert_same_answers(answers(selector.fit(X, y), X), expected)


@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_state_of_the_global_generators_does_not_matter(case, name):
    selector, X, y = case
    expected = answers(clone(selector).fit(X, y), X)
    if name == "numpy":
        np.random.seed(1)  # noqa: NPY002
    else:
        torch.manual_seed(1)
    assert_same_answers(answers(clone(selector).fit(X, y), X), expected)


def expected_in_the_usual_surroundings(name):
    selector, (X, y) = CASES[name]
    return answers(clone(selector).fit(X, y), X)


@pytest.fixture(scope="module")
def usual():
    """Return the answers of all cases on one thread, in float32, on the CPU."""
    assert torch.get_num_threads() == 1
    assert torch.get_default_dtype() == torch.float32
    return {name: expected_in_the_usual_surroundings(name) for name in CASES}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    "surroundings",
    [
        *("two_threads", "double_precision", "low_precision", "other_default_device"),
        *("rounded_products", "autocast"),
    ],
)
def test_surroundings_do_not_change_the_answer(name, surroundings, usual, request):
    request.getfixturevalue(surroundings)
    assert_same_answers(expected_in_the_usual_surroundings(name), usual[name])


@pytest.mark.usefixtures("double_precision", "rounded_products")
def test_fits_of_many_threads_are_those_of_one(usual):
    names = ["classifier", "given balance"] * 6
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(expected_in_the_usual_surroundings, names))
    for name, answer in zip(names, found, strict=True):
        assert_same_answers(answer, usual[name])
    assert torch.get_default_dtype() == torch.float64
    assert torch.get_float32_matmul_precision() == "medium"


# --- another order of the columns


@pytest.mark.parametrize("seed", [0, 1])
def test_order_of_the_columns_orders_the_answer_and_nothing_else(case, seed):
    selector, X, y = case
    order = np.random.default_rng(seed).permutation(X.shape[1])
    by_column = ("support", "logits", "frequency")
    expected = {
        name: value[order] if name in by_column else value
        for name, value in answers(clone(selector).fit(X, y), X).items()
    }
    shuffled = answers(clone(selector).fit(X[:, order], y), X[:, order])
    shuffled["order"] = order[shuffled["order"]]
    assert_same_answers(shuffled, expected)


def test_memory_layout_and_container_do_not_matter(case):
    selector, X, y = case
    expected = answers(clone(selector).fit(X, y), X)
    fortran = clone(selector).fit(np.asfortranarray(X), y)
    assert_same_answers(answers(fortran, X), expected)
    lists = clone(selector).fit(X.tolist(), y.tolist())
    assert_same_answers(answers(lists, X), expected)


def test_fit_does_not_write_to_its_input(case):
    selector, X, y = case
    X_before, y_before = X.copy(), y.copy()
    selector.fit(X, y)
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(y, y_before)


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


@pytest.mark.usefixtures("two_threads")
def test_fit_and_predict_leave_the_surroundings_alone(case):
    selector, X, y = case
    before = surroundings()
    selector.fit(X, y).predict(X)
    assert surroundings() == before


@pytest.mark.usefixtures("two_threads", "double_precision")
def test_fit_restores_a_default_dtype_of_float64(case):
    selector, X, y = case
    before = surroundings()
    selector.fit(X, y).predict(X)
    assert surroundings() == before


class BrokenError(Exception):
    """What the broken networks raise."""


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


X, Y = class_table()
FAILURES = {
    "factory raises": (
        classifier(training=Training(task_network=broken_factory)),
        X,
        Y,
        BrokenError,
    ),
    "network raises": (
        classifier(training=Training(task_network=BrokenForward)),
        X,
        Y,
        BrokenError,
    ),
    "diverges": (
        classifier(training=Training(task_learning_rate=1e30)),
        X,
        Y,
        TrainingDivergedError,
    ),
    "X is not finite": (classifier(), np.full_like(X, np.inf), Y, ValueError),
    "lengths differ": (classifier(), X, Y[:-1], ValueError),
    "one class": (classifier(), X, np.zeros(len(X)), ValueError),
    "bad argument": (classifier(n_epochs=0), X, Y, ValueError),
    "bad count": (classifier(n_features_to_select=99), X, Y, ValueError),
}


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize(
    ("selector", "X", "y", "error"), FAILURES.values(), ids=FAILURES
)
def test_failed_fit_leaves_the_surroundings_alone(selector, X, y, error):
    before = surroundings()
    with pytest.raises(error):
        clone(selector).fit(X, y)
    assert surroundings() == before


def test_fit_works_where_gradients_are_switched_off(case):
    selector, X, y = case
    expected = answers(clone(selector).fit(X, y), X)
    with torch.no_grad():
        assert_same_answers(answers(clone(selector).fit(X, y), X), expected)
    with torch.inference_mode():
        assert_same_answers(answers(clone(selector).fit(X, y), X), expected)


# --- parameters


def test_fit_does_not_write_a_parameter(case):
    selector, X, y = case
    before = selector.get_params()
    selector.fit(X, y)
    assert selector.get_params() == before


def test_clone_takes_the_parameters_and_nothing_learned(case):
    selector, X, y = case
    copy = clone(selector.fit(X, y))
    assert copy.get_params() == selector.get_params()
    assert set(vars(copy)) == set(selector.get_params(deep=False))
