import numpy as np
import pytest
import torch
from neural_tables import make_stack
from scipy.optimize import minimize

from sievebench.selectors.adaptive_group_lasso import (
    AdaptiveGroupLasso,
    proximal_step_,
    shrink_groups,
)


@pytest.mark.parametrize("threshold", [0.0, 0.3, 1.0, 2.5])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_shrinking_minimises_what_it_says(threshold, seed):
    point = np.random.default_rng(seed).normal(size=3)

    def objective(v):
        return 0.5 * np.sum((v - point) ** 2) + threshold * np.linalg.norm(v)

    # The norm has no gradient at zero, so the search needs none, and zero is tried too.
    best = minimize(objective, point, method="Nelder-Mead", options={"xatol": 1e-9})
    expected = min(best.x, np.zeros(3), key=objective)
    weight = torch.from_numpy(point).view(1, 1, 3)
    shrunk = shrink_groups(weight, torch.tensor([[threshold]], dtype=torch.float64))
    np.testing.assert_allclose(shrunk.numpy().ravel(), expected, atol=1e-4)


def test_shrinking_leaves_shut_groups_shut():
    weight = torch.tensor([[[0.0, 0.0], [3.0, 4.0], [3.0, 4.0]]])
    shrunk = shrink_groups(weight, torch.tensor([[0.0, torch.inf, 1.0]]))
    torch.testing.assert_close(
        shrunk, torch.tensor([[[0.0, 0.0], [0.0, 0.0], [2.4, 3.2]]])
    )


def test_proximal_step_shrinks_each_norm_by_rate_times_strength():
    stack = make_stack(4, 1)
    before = stack.first_weight.detach().norm(dim=-1)
    thresholds = (
        torch.tensor([0.5, 20.0], dtype=torch.float64).unsqueeze(-1).expand(-1, 4)
    )
    with torch.no_grad():
        proximal_step_(stack, thresholds, 0.1)
    after = stack.first_weight.detach().norm(dim=-1)
    torch.testing.assert_close(after[0], before[0] - 0.05)
    assert not after[1].any()


@pytest.mark.parametrize(
    ("n_splits", "fraction"),
    [
        (1, 0.005),  # one row is held out
        (3, 0.3),  # all rows have the last word
    ],
)
def test_linear_network_meets_the_optimality_conditions_of_the_group_lasso(
    n_splits, fraction
):
    # Without hidden layers the group lasso is the lasso, whose solution is known by
    # its subgradients: |dL/dw_j| = l where w_j is open, at most l where it is shut.
    X, noise = np.random.default_rng(0).normal(size=(2, 200, 5))
    y = X[:, 0] - 0.5 * X[:, 1] + 0.5 * noise[:, 0]
    selector = AdaptiveGroupLasso(
        first_penalty=0.2,
        penalty=0.2,
        exponent=1e-9,  # the second stage then has equal weights, as the first
        hidden_sizes=(),
        n_steps=1000,
        batch_size=1000,
        validation_fraction=fraction,
        n_splits=n_splits,
        random_state=0,
    ).fit(X, y)
    scaled = (X - X.mean(0)) / X.std(0)
    target = (y - y.mean()) / y.std()
    assert set(np.flatnonzero(selector.scores_ > 0)) == {0, 1}
    weights = np.maximum(selector.scores_, 0) * np.sign([1, -1, 0, 0, 0])
    residual = scaled @ weights - target
    slopes = 2 * scaled.T @ (residual - residual.mean()) / len(y)
    # A row may be held out, and scores carry no sign and no intercept: two digits.
    np.testing.assert_allclose(slopes[:2], [-0.2, 0.2], atol=0.02)
    assert np.abs(slopes[2:]).max() < 0.2


def test_second_stage_drops_what_the_first_has_dropped():
    X = np.random.default_rng(1).normal(size=(300, 6))
    # With all rows in a batch no step has the noise that opens a shut group again.
    selector = AdaptiveGroupLasso(
        first_penalty=0.3, penalty=0.001, random_state=0, n_steps=800, batch_size=1000
    ).fit(X, X[:, 2])
    assert (selector.first_penalty_, selector.penalty_) == (0.3, 0.001)
    assert set(np.flatnonzero(selector.scores_ > 0)) == {2}
    # The first has dropped the others too: it has no order for them.
    assert len(set(selector.scores_)) == 2


def test_first_stage_orders_what_the_second_has_dropped():
    X = np.random.default_rng(1).normal(size=(400, 4))
    y = X @ [2.0, 0.5, 0.2, 0.0]
    known = {"hidden_sizes": (), "n_steps": 1000, "batch_size": 1000}
    # Without hidden layers, and with hardly a penalty, norms are the coefficients.
    strong, weak = (
        AdaptiveGroupLasso(
            first_penalty=0.02, penalty=penalty, random_state=0, **known
        ).fit(X, y)
        for penalty in (0.5, 1e-9)
    )
    assert list(np.flatnonzero(strong.scores_ > 0)) == [0]
    assert list(strong.ranking_) == list(weak.ranking_) == [1, 2, 3, 4]
    assert (np.diff(strong.scores_) < 0).all()


def test_strength_zero_still_trains():
    X = np.random.default_rng(1).normal(size=(60, 3))
    selector = AdaptiveGroupLasso(
        first_penalty=0.0, penalty=0.0, random_state=0, n_steps=20
    ).fit(X, X[:, 2])
    assert (selector.scores_ > 0).all()
