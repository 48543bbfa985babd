import numpy as np
import pytest
import torch
from neural_tables import CPU, make_stack
from scipy import integrate, stats

from sievebench.selectors.stochastic_gates import GatedMLP, StochasticGates
from sievebench.stack.member_noise import MemberNoise

LOCATIONS = [-0.7, 0.0, 0.3, 0.5, 1.2]


def clipped_moments(location, spread):
    """Return mean and variance of a normal variable clipped to [0, 1]."""
    normal = stats.norm(location, spread)

    def moment(power):
        inside, _ = integrate.quad(lambda z: z**power * normal.pdf(z), 0, 1)
        return inside + normal.sf(1)

    return moment(1), moment(2) - moment(1) ** 2


@pytest.mark.parametrize("spread", [0.3, 0.5])
@pytest.mark.parametrize("location", LOCATIONS)
def test_gate_moments_are_those_of_the_clipped_normal(location, spread):
    # A linear network of weight one, bias zero: its output for the value 1 is the gate.
    n_members, n_steps = 200, 100
    n_draws = n_members * n_steps
    network = make_stack(1, 1, range(n_members), hidden_sizes=(), dtype=torch.float32)
    gated = GatedMLP(network, spread)
    with torch.no_grad():
        gated.gate_means.fill_(location - 0.5)
        network.first_weight.fill_(1.0)
        network.trainable["bias0"].zero_()
        steps = [gated.forward(torch.ones(1, 1), training=True) for _ in range(n_steps)]
    gates = torch.stack(steps).double().numpy()
    mean, variance = clipped_moments(location, spread)
    # Five standard errors; a variable in [0, 1] has one of at most 0.5 / sqrt(n).
    assert gates.mean() == pytest.approx(mean, abs=5 * 0.5 / np.sqrt(n_draws))
    assert gates.var() == pytest.approx(variance, abs=5 * 0.5 / np.sqrt(n_draws))
    is_open = (gates > 0).mean()
    expected = stats.norm.cdf(location / spread)
    assert is_open == pytest.approx(expected, abs=5 * 0.5 / np.sqrt(n_draws))


def make_gated(seeds=(0, 1)):
    noise = MemberNoise(seeds, CPU)
    network = make_stack(5, 1, noise=noise, dtype=torch.float32)
    return network, GatedMLP(network, 0.5)


def test_gates_multiply_the_columns_of_all_rows_alike():
    network, gated = make_gated()
    with torch.no_grad():
        gated.gate_means.copy_(torch.tensor([-0.5, -0.2, 0.0, 0.25, 0.5]))
    batch = torch.randn(7, 5, generator=torch.Generator().manual_seed(0))
    factors = torch.tensor([0.0, 0.3, 0.5, 0.75, 1.0])
    torch.testing.assert_close(
        gated.forward(batch, training=False),
        network.forward(batch * factors, training=False),
    )
    repeated = gated.forward(batch[:1].expand(4, -1), training=True)
    torch.testing.assert_close(repeated, repeated[:, :1].expand_as(repeated))


def test_penalty_is_the_expected_share_of_open_gates_half_open_at_the_start():
    _, gated = make_gated(seeds=range(200))
    means = gated.gate_means.detach().numpy().astype(np.float64)
    share = stats.norm.cdf((means + 0.5) / 0.5).mean(axis=1)
    np.testing.assert_allclose(gated.open_share().detach().numpy(), share, rtol=1e-6)
    assert means.std() == pytest.approx(0.01, rel=0.1)


def test_gates_of_noise_columns_shut():
    X = np.random.default_rng(0).normal(size=(400, 8))
    selector = StochasticGates(penalty=1.0, random_state=0, max_epochs=100)
    selector.fit(X, X[:, 2] ** 2)
    assert selector.scores_[2] > 0
    assert (np.delete(selector.scores_, 2) < -0.5).all()  # zero without noise


def test_last_epoch_is_that_of_training_without_held_out_rows_choosing():
    X = np.random.default_rng(0).normal(size=(100, 4))
    settings = {"penalty": 0.0, "random_state": 0, "learning_rate": 0.03}
    last = StochasticGates(kept_epoch="last", max_epochs=30, **settings)
    # No held-out score decides anything: patience and monitor cannot matter.
    other = StochasticGates(
        kept_epoch="last", max_epochs=30, patience=0, monitor="score", **settings
    )
    best = StochasticGates(max_epochs=30, patience=0, **settings)
    # Noise: the best epoch on held-out rows is an early one.
    y = np.random.default_rng(1).random(100) > 0.5
    scores = last.fit(X, y).scores_
    np.testing.assert_array_equal(scores, other.fit(X, y).scores_)
    assert not np.allclose(scores, best.fit(X, y).scores_)
