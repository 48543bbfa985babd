"""LassoNet's gradient steps, against those of the package."""

import numpy as np
import pytest
import torch
from lassonet.interfaces import LassoNetClassifier, LassoNetRegressor

from made_tables import class_table, value_table
from sievebench.selectors import LassoNet

QUICK = {"first_penalty": 5.0, "path_multiplier": 1.3, "n_epochs": (40, 10)}


@pytest.mark.parametrize(
    ("make", "package", "settings"),
    [
        (class_table, LassoNetClassifier, {"hidden_sizes": (16,)}),
        (class_table, LassoNetClassifier, {"batch_size": 32, "hierarchy": 1.0}),
        (value_table, LassoNetRegressor, {"hidden_sizes": (12, 7)}),
    ],
)
def test_weights_and_path_are_those_of_the_package(
    make, package, settings, monkeypatch
):
    follow, followed = package.path, []

    def path(network, *arguments, by_itself=False, **named):
        if by_itself:
            del network._train  # what the selector has put there
            fresh = package()
            network.optim_init, network.optim_path = fresh.optim_init, fresh.optim_path
        followed.append((follow(network, *arguments, **named), network.model))
        return followed[-1][0]

    selector = LassoNet(**QUICK, **settings, random_state=0)
    monkeypatch.setattr(package, "path", path)
    scores = selector.fit(*make()).scores_
    monkeypatch.setattr(package, "path", lambda *a, **k: path(*a, by_itself=True, **k))
    np.testing.assert_array_equal(selector.fit(*make()).scores_, scores)

    # To the last bit: a path is long, and rounding would grow on its way.
    (fast, network), (plain, twin) = followed
    told = ("lambda_", "loss", "objective", "val_objective", "regularization")
    for item, other in zip(fast, plain, strict=True):
        assert [getattr(item, name) for name in (*told, "n_iters")] == [
            getattr(other, name) for name in (*told, "n_iters")
        ]
    for values, others in zip(network.parameters(), twin.parameters(), strict=True):
        np.testing.assert_array_equal(values.detach(), others.detach())


def test_loss_that_is_not_finite_is_a_divergence(monkeypatch):
    def diverge(outputs, target):
        return (outputs - target).sum() * torch.inf

    monkeypatch.setattr(LassoNetRegressor, "criterion", staticmethod(diverge))
    with pytest.raises(ValueError, match=r"LassoNet diverged: Loss is -?(inf|nan)"):
        LassoNet(**QUICK).fit(*value_table())
