"""1L Lasso: its penalty by definition and by finite differences, and what it finds."""

import numpy as np
import pytest
import torch
from neural_tables import CPU, found_columns

from sievebench.selectors.first_layer_lasso import (
    FirstLayerLasso,
    column_norms,
    smooth_group_norm,
)
from sievebench.stack.member_noise import MemberNoise
from sievebench.stack.mlp import StackedMLP


def make_stack(seeds=(0, 1)):
    return StackedMLP(
        4, 2, hidden_sizes=(3,), noise=MemberNoise(seeds, CPU), dtype=torch.float64
    )


def test_group_norm_is_the_sum_over_columns():
    weight = make_stack().first_weight.detach()
    expected = [
        sum(np.sqrt(np.sum(column**2) + 1e-8) for column in member)
        for member in weight.numpy()
    ]
    np.testing.assert_allclose(smooth_group_norm(weight).numpy(), expected, rtol=1e-12)


def test_objective_blends_loss_and_penalty_member_by_member():
    stack, strengths = make_stack(), torch.tensor([0.2, 0.5], dtype=torch.float64)
    losses = torch.tensor([1.0, 3.0], dtype=torch.float64)
    total = FirstLayerLasso._penalised(losses, stack, strengths)
    norms = smooth_group_norm(stack.first_weight)
    expected = [0.8 * 1.0 + 0.2 * norms[0], 0.5 * 3.0 + 0.5 * norms[1]]
    torch.testing.assert_close(total, torch.stack(expected))


def test_penalty_gradient_is_that_of_finite_differences():
    stack = make_stack()
    assert torch.autograd.gradcheck(smooth_group_norm, (stack.first_weight,))


def test_penalty_gradient_is_finite_at_zero():
    weight = torch.zeros(1, 4, 3, dtype=torch.float64, requires_grad=True)
    smooth_group_norm(weight).sum().backward()
    assert torch.equal(weight.grad, torch.zeros_like(weight))


def test_score_is_the_norm_of_a_columns_weights():
    weight = make_stack().first_weight.detach()
    expected = np.linalg.norm(weight.numpy(), axis=2)
    np.testing.assert_allclose(column_norms(weight).numpy(), expected)


@pytest.mark.parametrize("table", ["signed_product", "curved_sum", "three_classes"])
def test_selector_finds_the_informative_columns(table):
    selector = FirstLayerLasso(
        penalty=(0.01, 0.03), hidden_sizes=(32, 32), max_epochs=60, random_state=0
    )
    found, informative = found_columns(selector, table)
    assert found == informative


def test_stronger_penalty_leaves_smaller_weights():
    X = np.random.default_rng(0).normal(size=(300, 6))
    norms = [
        FirstLayerLasso(penalty=penalty, random_state=0, max_epochs=30)
        .fit(X, X[:, 0])
        .scores_[1:]
        .max()
        for penalty in (0.01, 0.1, 0.5)
    ]
    assert norms[0] > norms[1] > norms[2]


def test_several_strengths_and_networks_train_as_they_would_alone():
    X = np.random.default_rng(0).normal(size=(200, 5))
    y = X[:, 0] + X[:, 1] ** 2
    settings = {"random_state": 3, "max_epochs": 8, "hidden_sizes": (8,)}
    alone = {
        penalty: FirstLayerLasso(penalty=penalty, n_networks=2, **settings).fit(X, y)
        for penalty in (0.02, 0.3)
    }
    both = FirstLayerLasso(penalty=(0.02, 0.3), n_networks=2, **settings).fit(X, y)

    expected = alone[both.penalty_]
    assert both.network_scores_.shape == (2, 5)
    # float32 sums in another order
    np.testing.assert_allclose(
        both.network_scores_, expected.network_scores_, rtol=1e-4, atol=1e-6
    )
    np.testing.assert_allclose(both.scores_, both.network_scores_.mean(axis=0))


def test_published_settings_are_the_benchmarks():
    selector = FirstLayerLasso.as_published(n_features_to_select=2)
    assert selector.hidden_sizes == (100, 100)
    assert (selector.learning_rate, selector.batch_size) == (1e-3, 512)
    assert selector.monitor == "score"
    assert selector.n_features_to_select == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"penalty": 1.0}, "penalty must be a number >= 0 and < 1, got 1.0"),
        ({"penalty": ()}, "penalty must hold at least one number"),
        ({"penalty": "strong"}, "penalty must be a number or numbers"),
        ({"hidden_sizes": (0,)}, "hidden_sizes must be an int >= 1, got 0"),
        ({"dropout": -0.1}, "dropout must be a number >= 0 and < 1"),
        ({"learning_rate": 0}, "learning_rate must be a number > 0, got 0"),
        ({"max_epochs": 0}, "max_epochs must be an int >= 1"),
        ({"batch_size": 0}, "batch_size must be an int >= 1"),
        ({"n_networks": 1.5}, "n_networks must be an int >= 1"),
        ({"monitor": "mood"}, "monitor must be one of 'loss', 'score'"),
        (
            {"validation_fraction": 1},
            "validation_fraction must be a number > 0 and < 1",
        ),
        ({"device": "abacus"}, "device must be 'auto' or the name"),
    ],
)
def test_senseless_argument_is_refused(arguments, message):
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(ValueError, match=message):
        FirstLayerLasso(**arguments).fit(X, X[:, 0])


@pytest.mark.gpu
def test_selector_finds_the_informative_columns_on_cuda():
    X = np.random.default_rng(0).normal(size=(800, 10))
    selector = FirstLayerLasso(n_features_to_select=2, random_state=0, device="cuda")
    selector.fit(X, X[:, 3] * X[:, 7] > 0)
    assert set(np.flatnonzero(selector.support_)) == {3, 7}
