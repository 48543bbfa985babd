import time

import numpy as np
import pytest
import torch
from torch import nn

from featuresieve import (
    AutoNFSClassifier,
    AutoNFSRegressor,
    TimeBudgetWarning,
    Training,
)
from made_tables import INFORMATIVE, class_table, value_table
from quick_selectors import quick

MUST_MAP = "task_network must map"


def own(network, balance=0.1, *, kind=AutoNFSRegressor, training=None, **arguments):
    """Return a quick estimator with such networks."""
    training = Training(task_network=network, **(training or {}))
    arguments = {"balance": balance, "training": training, "n_members": 1} | arguments
    return quick(kind, **arguments)


def dropout_network(n_columns, n_outputs):
    return nn.Sequential(
        nn.Linear(n_columns, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, n_outputs)
    )


def normalized_network(n_columns, n_outputs):
    # Not on the inputs: batch statistics would undo what a mask does to its column.
    return nn.Sequential(
        nn.Linear(n_columns, 16),
        nn.BatchNorm1d(16),
        nn.ReLU(),
        nn.Linear(16, n_outputs),
    )


@pytest.mark.parametrize(
    ("network", "balance"),
    [(nn.Linear, "auto"), (dropout_network, 0.05), (normalized_network, 0.05)],
)
def test_own_network_selects_and_predicts(network, balance):
    X, y = class_table()
    training = {"task_learning_rate": 0.02}
    selector = own(network, balance, kind=AutoNFSClassifier, training=training)
    selector.fit(X, y)
    assert selector.support_[list(INFORMATIVE)].all()
    assert selector.score(X, y) > 0.8
    np.testing.assert_allclose(selector.predict_proba(X).sum(axis=1), 1)


class EinsumLayer(nn.Linear):
    """A linear layer whose weights get a gradient of another memory layout."""

    def forward(self, rows):
        return torch.einsum("oi,bi->bo", self.weight, rows) + self.bias


def test_memory_layout_of_a_gradient_does_not_matter():
    X, y = class_table()
    y = y + 2 * (X[:, 3] > 0)  # several outputs: a matrix has a layout
    fits = []
    for network in (nn.Linear, EinsumLayer):
        training = Training(task_network=network, task_learning_rate=0.02)
        fits.append(quick(balance=0.01, training=training).fit(X, y))
    np.testing.assert_allclose(*(fit.predict_proba(X) for fit in fits), rtol=1e-3)


def test_own_network_is_built_for_the_columns_and_classes_there_are():
    X, _ = class_table()
    y = np.digitize(X[:, 2], [-0.5, 0.5])
    sizes = set()

    def network(n_columns, n_outputs):
        sizes.add((n_columns, n_outputs))
        return nn.Linear(n_columns, n_outputs)

    small = {"kind": AutoNFSClassifier, "n_epochs": 2, "n_features_to_select": 2}
    own(network, 0.0, **small).fit(X, y)
    assert sizes == {(8, 3), (2, 3)}


def test_own_network_with_batch_normalisation_fits_any_number_of_rows():
    """33 rows leave a batch of one, for which batch statistics do not exist."""
    X, y = value_table(n_rows=33)
    selector = own(normalized_network, 0.0, n_epochs=2, training={"batch_size": 32})
    assert np.isfinite(selector.fit(X, y).predict(X)).all()


@pytest.mark.parametrize(
    ("network", "kind", "error", "message"),
    [
        (lambda n, m: nn.Linear(n, m - 1), AutoNFSClassifier, ValueError, MUST_MAP),
        (lambda n, m: nn.Linear(n, m + 1), AutoNFSClassifier, ValueError, MUST_MAP),
        (
            lambda n, m: nn.Sequential(nn.Linear(n, m), nn.Flatten(0)),
            *(AutoNFSRegressor, ValueError, MUST_MAP),
        ),
        (
            lambda *_: "network",
            *(AutoNFSRegressor, TypeError),
            r"must return a torch\.nn\.Module, got str",
        ),
    ],
    ids=["too few outputs", "too many outputs", "a wrong shape", "no module"],
)
def test_own_network_that_does_not_fit_is_refused(network, kind, error, message):
    with pytest.raises(error, match=message):
        own(network, kind=kind, n_epochs=1).fit(*class_table())


class CountedLinear(nn.Linear):
    """A linear network that counts its training steps."""

    n_steps = 0

    def forward(self, batch):
        self.n_steps += self.training
        return super().forward(batch)


# Four steps teach nothing that could be shown on held-out rows.
@pytest.mark.filterwarnings("ignore::featuresieve.UninformativeTargetWarning")
def test_predictor_trains_as_long_as_was_best_for_its_columns():
    """The loss of a linear model falls to the end, so that the end is the best."""
    X, y = value_table(n_rows=100)
    built = []

    def network(n_columns, n_outputs):
        built.append(CountedLinear(n_columns, n_outputs))
        return built[-1]

    own(network, "auto", n_epochs=8, training={"batch_size": 100}).fit(X, y)
    *_, candidate, _, predictor = built  # two networks predict
    assert predictor.n_steps == candidate.n_steps > 1


class SlowWhenNarrow(nn.Linear):
    """A linear network that takes its time once columns have been dropped."""

    def forward(self, batch):
        if self.in_features < 8:
            time.sleep(0.02)
        return super().forward(batch)


def test_time_limit_that_only_shortens_the_predictor_is_told_too():
    X, y = value_table(n_rows=64)
    # 120 quick steps, then some 60 of two slow networks.
    limits = {"n_features_to_select": 2, "n_epochs": 30, "max_time": 1.0}
    selector = own(SlowWhenNarrow, 0.0, training={"batch_size": 16}, **limits)
    # The first use of autograd takes long enough to shorten the quick part too.
    own(nn.Linear, 0.0, n_epochs=1).fit(X, y)
    with pytest.warns(TimeBudgetWarning):
        selector.fit(X, y)
