from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from neural_tables import CPU, make_stack, small_rows
from scipy import stats
from sklearn.neighbors import NearestNeighbors

from sievebench.selectors.lspin import GatingNetwork
from sievebench.selectors.proto_gate import (
    NeighbourObjective,
    ProtoGate,
    PrototypeNetwork,
    distance_sums,
    relaxed_ranks,
    squared_distances,
)
from sievebench.stack.member_noise import MemberNoise


def draw(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def test_distances_are_those_of_all_pairs_and_their_sums_have_the_right_gradient():
    scores = draw(2, 4, 9)
    scores[..., 3] = scores[..., 5]
    pairs = (scores.unsqueeze(-1) - scores.unsqueeze(-2)).abs().sum(dim=-1)
    torch.testing.assert_close(distance_sums(scores), pairs)
    assert torch.autograd.gradcheck(distance_sums, (draw(2, 6).requires_grad_(),))
    queries, items = draw(2, 5, 4), draw(2, 7, 4, seed=1)
    expected = torch.cdist(queries, items).square()
    torch.testing.assert_close(squared_distances(queries, items), expected)


@pytest.mark.parametrize("temperature", [0.1, 1.0, 16.0])
def test_relaxed_permutation_is_row_stochastic_and_its_largest_entries_sort(
    temperature,
):
    scores = draw(3, 8)
    ranks = relaxed_ranks(scores, 8, temperature)
    assert (ranks >= 0).all()
    torch.testing.assert_close(ranks.sum(dim=-1), torch.ones(3, 8).double())
    assert torch.equal(ranks.argmax(dim=-1), scores.argsort(dim=-1, descending=True))


def test_relaxed_permutation_tends_to_the_permutation_matrix():
    scores = draw(8)
    order = scores.argsort(descending=True)
    expected = torch.nn.functional.one_hot(order, 8).double()
    torch.testing.assert_close(relaxed_ranks(scores, 8, 1e-4), expected)
    torch.testing.assert_close(relaxed_ranks(scores, 3, 1e-4), expected[:3])


def make_objective(shift=0.0, penalties=(0.0, 0.0), global_penalty=0.0):
    noise = MemberNoise((0, 1), CPU)
    gating = make_stack(5, 5, noise=noise, hidden_sizes=(6,), activation="tanh")
    network = PrototypeNetwork(GatingNetwork(gating, 1.0, 0.5, shift))
    objective = NeighbourObjective(
        network,
        n_neighbors=3,
        temperature=1e-6,
        global_penalty=global_penalty,
        local_penalties=torch.tensor(penalties, dtype=torch.float64),
        prototypes=torch.arange(16),
    )
    return gating, network, objective


def same_class_counts(queries, items, wanted, classes):
    """Return how many of the three nearest items are of the wanted class."""
    index = NearestNeighbors(n_neighbors=3).fit(items)
    nearest = index.kneighbors(queries, return_distance=False)
    return (classes[nearest] == wanted[:, None]).sum(axis=1)


def test_cold_loss_counts_neighbours_of_another_class_the_row_being_its_own_first():
    # Gates that are mostly open: rows that are shut altogether would be ties.
    _, network, objective = make_objective(shift=0.8)
    rows = small_rows()
    with torch.no_grad():
        losses = objective.losses(rows.features, rows.targets)
        # The same generators again give the same noisy gates.
        _, again, _ = make_objective(shift=0.8)
        gated = again.forward(rows.features, training=True).numpy()
    y = rows.targets.numpy()
    for member in range(2):
        counts = same_class_counts(gated[member], gated[member], y, y)
        expected = np.mean(3 - counts)
        assert losses[member].item() == pytest.approx(expected, abs=1e-6)
    assert network.n_members == 2


def test_penalties_are_their_closed_forms():
    rows = small_rows()
    plain = make_objective()[2].losses(rows.features, rows.targets)
    gating, network, objective = make_objective(
        penalties=(0.1, 0.2), global_penalty=0.3
    )
    added = (objective.losses(rows.features, rows.targets) - plain).detach().numpy()
    alpha = network.alpha.detach().numpy()
    open_gates = stats.norm.cdf(alpha / 0.5).sum(axis=2).mean(axis=1)
    size = np.abs(gating.first_weight.detach().numpy()).sum(axis=(1, 2))
    np.testing.assert_allclose(added, [0.1, 0.2] * open_gates + 0.3 * size, rtol=1e-9)


def test_validation_score_is_that_of_plain_nearest_neighbours():
    _, network, objective = make_objective()
    rows = small_rows(n_rows=60)
    with torch.no_grad():
        scores = objective.validation_scores(rows)
        gated = network.forward(rows.features, training=False).numpy()
    y, validation = rows.targets.numpy(), rows.validation.numpy()
    for member in range(2):
        counts = same_class_counts(
            gated[member, validation], gated[member, :16], y[validation], y[:16]
        )
        expected = np.mean(counts / 3)
        assert scores[member].item() == pytest.approx(expected, abs=1e-6)


def test_prototypes_are_bounded():
    X = np.random.default_rng(0).normal(size=(400, 6))
    selector = ProtoGate(
        n_features_to_select=1, max_prototypes=20, max_epochs=20, random_state=0
    ).fit(X, X[:, 4] > 0)
    assert selector.support_[4]


@pytest.mark.parametrize(("n_rows", "n_epochs"), [(640, 800), (80, 8000)])
def test_published_training_has_eight_thousand_steps(n_rows, n_epochs):
    # 640 training rows are ten batches of 64 an epoch; 80 are one.
    rows = replace(small_rows(), training=torch.arange(n_rows))
    problem = SimpleNamespace(rows=rows, batch_size=64)
    assert ProtoGate.as_published()._n_epochs(problem) == n_epochs
