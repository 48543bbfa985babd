import numpy as np
import pytest
import torch
from neural_tables import CPU, make_stack, small_rows
from scipy import stats

from sievebench.selectors.lspin import LSPIN, GatingNetwork, LocallyGatedMLP, mean_gates
from sievebench.stack.member_noise import MemberNoise


def make_network(slope=2.0, spread=0.4):
    noise = MemberNoise((0, 1), CPU)
    gating = make_stack(5, 5, noise=noise, hidden_sizes=(6,), activation="tanh")
    predictor = make_stack(noise=noise, activation="tanh", batch_norm=True)
    gates = GatingNetwork(gating, slope, spread, shift=0.5)
    return gating, predictor, LocallyGatedMLP(gates, predictor)


def test_gate_is_the_clipped_line_of_the_gating_network():
    gating, predictor, network = make_network()
    batch = small_rows().features
    alpha = torch.tanh(gating.forward(batch, training=False))
    factors = (2.0 * alpha + 0.5).clamp(0, 1)  # (members, rows, columns)
    assert alpha.abs().max() < 1
    torch.testing.assert_close(
        network.forward(batch, training=False),
        predictor.forward(batch * factors, training=False),
    )


def test_noise_is_drawn_for_each_row_and_scaled_by_slope_and_spread():
    _, _, network = make_network(slope=0.05, spread=0.4)  # too flat to be clipped
    batch = small_rows().features[:1].expand(4000, -1)
    alpha, gates = network.gating.forward(batch, training=True)
    centred = gates - (0.05 * alpha + 0.5)
    # 40,000 draws: a standard error of 0.35 % of the standard deviation.
    assert centred.std().item() == pytest.approx(0.05 * 0.4, rel=0.02)
    assert centred.mean().item() == pytest.approx(0.0, abs=5 * 0.02 / 200)


@pytest.mark.parametrize("slope", [1.0, 2.0])
@pytest.mark.parametrize("spread", [0.3, 0.5])
def test_penalty_is_its_closed_form_and_the_share_of_open_gates(slope, spread):
    _, _, network = make_network(slope, spread)
    batch = small_rows().features
    network.forward(batch, training=True)
    chances = network.gating.open_probabilities(network.alpha).mean(dim=(1, 2))
    alpha = network.alpha.detach().numpy()
    closed_form = stats.norm.cdf((alpha + 1 / (2 * slope)) / spread).mean(axis=(1, 2))
    np.testing.assert_allclose(chances.detach().numpy(), closed_form, rtol=1e-10)
    _, gates = network.gating.forward(batch.repeat(500, 1), training=True)
    share = (gates > 0).double().mean(dim=(1, 2)).numpy()
    np.testing.assert_allclose(share, closed_form, atol=0.01)  # 60,000 draws


def test_scores_are_mean_gates_of_training_rows_without_noise():
    gating, _, network = make_network()
    rows = small_rows(n_rows=30)
    alpha = torch.tanh(gating.forward(rows.features[rows.training], training=False))
    expected = (2.0 * alpha + 0.5).clamp(0, 1).mean(dim=1).detach()
    found = mean_gates(network.gating, rows, numbers_per_row=1 << 16)  # 4 rows a block
    torch.testing.assert_close(found, expected)


def test_gates_depend_on_the_row_where_the_target_does():
    # Where column 0 is positive the target is column 1, else column 2.
    X = np.random.default_rng(0).normal(size=(1000, 6))
    y = np.where(X[:, 0] > 0, X[:, 1], X[:, 2])
    selector = LSPIN(
        n_features_to_select=3, random_state=0, penalty=1.0, max_epochs=80
    ).fit(X, y)
    assert {1, 2} <= set(np.flatnonzero(selector.support_))


def test_linear_predictor_is_llspin():
    # A single one may let a wrong column through and make it say the right thing with
    # its gate; five do not agree on such a column.
    X = np.random.default_rng(0).normal(size=(300, 6))
    selector = LSPIN(
        n_features_to_select=1,
        hidden_sizes=(),
        penalty=0.3,
        n_networks=5,
        max_epochs=40,
        random_state=0,
    ).fit(X, X[:, 4])
    assert selector.support_[4]


def test_scale_of_a_gated_column_does_not_matter_to_the_predictor():
    # Its input is normalised: only the epsilon of 1e-3 tells a hundredfold apart.
    _, predictor, _ = make_network()
    batch = 50 * small_rows().features
    torch.testing.assert_close(
        predictor.forward(batch, training=True),
        predictor.forward(100 * batch, training=True),
        rtol=1e-5,
        atol=1e-5,
    )
