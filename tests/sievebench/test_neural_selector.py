import numpy as np
import pytest
import torch

from sievebench.selectors import (
    LSPIN,
    AdaptiveGroupLasso,
    AttentionMap,
    DeepLasso,
    FirstLayerLasso,
    ProtoGate,
    StochasticGates,
)
from sievebench.selectors._neural_selector import held_out_split

QUICK = {
    FirstLayerLasso: {"max_epochs": 2},
    AdaptiveGroupLasso: {"n_steps": 5},
    DeepLasso: {"max_epochs": 2},
    StochasticGates: {"max_epochs": 2},
    LSPIN: {"max_epochs": 2},
    ProtoGate: {"max_epochs": 2},
    AttentionMap: {"max_epochs": 2, "token_size": 8},
}
every_kind = pytest.mark.parametrize("kind", QUICK)


def made_classes(n_rows=60):
    X = np.random.default_rng(0).normal(size=(n_rows, 4))
    return X, X[:, 0] > 0


@every_kind
def test_fit_leaves_the_callers_torch_as_it_was(kind):
    X, y = made_classes()
    torch.manual_seed(5)
    before = torch.get_rng_state()
    torch.set_num_threads(2)
    try:
        with torch.no_grad():  # a caller's setting that training has to survive
            kind(random_state=0, **QUICK[kind]).fit(X, y)
            assert not torch.is_grad_enabled()
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.get_default_dtype() == torch.float32


@every_kind
def test_networks_have_scores_of_their_own(kind):
    X, y = made_classes()
    selector = kind(n_networks=3, random_state=0, **QUICK[kind]).fit(X, y)
    assert selector.network_scores_.shape == (3, 4)
    assert len(np.unique(selector.network_scores_, axis=0)) == 3
    np.testing.assert_allclose(selector.scores_, selector.network_scores_.mean(axis=0))


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (FirstLayerLasso, {"hidden_sizes": (100, 100), "monitor": "score"}),
        (FirstLayerLasso, {"learning_rate": 1e-3, "batch_size": 512}),
        (AdaptiveGroupLasso, {"activation": "tanh", "hidden_sizes": (20, 20, 20)}),
        (AdaptiveGroupLasso, {"n_steps": 20_000, "initial_std": 1.0, "n_splits": 3}),
        (AdaptiveGroupLasso, {"penalty": (0.001, 0.01, 0.05, 0.1, 0.5, 1.0, 2.0)}),
        (AttentionMap, {"learning_rate": 1e-3, "weight_decay": 2e-4}),
        (StochasticGates, {"kept_epoch": "last", "initial_bound": 0.2}),
        (LSPIN, {"kept_epoch": "last", "initial_std": 0.1}),
    ],
)
def test_published_settings_are_those_of_the_reference_code(kind, settings):
    assert kind.as_published().get_params().items() >= settings.items()


@pytest.mark.parametrize("kind", [FirstLayerLasso, DeepLasso])
def test_stronger_penalty_leaves_smaller_scores(kind):
    X, noise = np.random.default_rng(0).normal(size=(2, 300, 6))
    y = X[:, 0] + 0.5 * noise[:, 0]
    selector = kind(random_state=0, max_epochs=30)
    weak, strong = (
        selector.set_params(penalty=penalty).fit(X, y).scores_[1:].sum()
        for penalty in (0.01, 0.5)
    )
    assert weak > strong


@pytest.mark.parametrize("kind", [FirstLayerLasso, StochasticGates])
def test_several_strengths_and_networks_train_as_they_would_alone(kind):
    X = np.random.default_rng(0).normal(size=(200, 5))
    y = X[:, 0] + X[:, 1] ** 2
    settings = {"n_networks": 2, "max_epochs": 8, "hidden_sizes": (8,)}
    both = kind(penalty=(0.02, 0.3), random_state=3, **settings).fit(X, y)
    alone = kind(penalty=both.penalty_, random_state=3, **settings).fit(X, y)
    # float32 sums in another order
    np.testing.assert_allclose(
        both.network_scores_, alone.network_scores_, rtol=1e-4, atol=1e-6
    )


@every_kind
def test_scale_and_offset_of_the_columns_do_not_matter(kind):
    X, y = made_classes()
    moved = X * [1.0, 2.0, 0.25, 4.0] + [0.0, 8.0, -2.0, 16.0]
    selector = kind(random_state=0, **QUICK[kind])
    scores = selector.fit(X, y).scores_
    # Standardising rounds differently: some float32 steps later three digits are left.
    np.testing.assert_allclose(selector.fit(moved, y).scores_, scores, rtol=5e-3)


@pytest.mark.parametrize(
    ("n_rows", "n_validation"), [(100, 20), (10, 2), (3, 1), (2, 1)]
)
def test_split_holds_out_its_fraction_and_leaves_a_row_on_each_side(
    n_rows, n_validation
):
    y = np.arange(n_rows, dtype=float)
    training, validation = held_out_split(y, 0.2, 0, stratify=False)
    assert len(validation) == n_validation
    assert sorted([*training, *validation]) == list(range(n_rows))


def test_split_keeps_the_shares_of_the_classes_unless_one_has_one_row():
    y = np.repeat([0, 1, 2], [50, 30, 20])
    _, validation = held_out_split(y, 0.2, 0, stratify=True)
    assert np.bincount(y[validation]).tolist() == [10, 6, 4]
    y = np.array([0] * 9 + [1])
    training, validation = held_out_split(y, 0.2, 0, stratify=True)
    assert (len(training), len(validation)) == (8, 2)


@pytest.mark.parametrize(
    ("n_training", "expected"), [(5, 32), (800, 50), (6000, 375), (400_000, 512)]
)
def test_automatic_batches_aim_at_sixteen_steps(n_training, expected):
    assert FirstLayerLasso()._rows_of_a_batch(n_training) == expected
