import numpy as np
import pytest
from sklearn.datasets import make_classification

from featuresieve import AutoNFSClassifier, AutoNFSRegressor, load
from quick_selectors import quick

# A latent value behind twelve columns that all show it, among as many of noise.
RNG = np.random.default_rng(0)
LATENT = RNG.standard_normal(300)
X = RNG.standard_normal((300, 24))
X[:, :12] = 0.8 * LATENT[:, None] + 0.6 * X[:, :12]
Y = (LATENT + 0.5 * RNG.standard_normal(300) > 0).astype(int)
SHOWS = np.arange(24) < 12


@pytest.fixture(scope="module")
def both():
    """Return the minimal answer, and the other."""
    return [
        AutoNFSClassifier(goal=goal, random_state=0).fit(X, Y)
        for goal in ("minimal", "all_relevant")
    ]


def test_all_relevant_keeps_every_column_that_shows_the_cause(both):
    minimal, everything = both
    assert everything.support_.tolist() == SHOWS.tolist()
    assert minimal.n_features_ < 12
    assert SHOWS[minimal.support_].all()
    # Those that were enough are ranked first.
    first = everything.order_[: minimal.n_features_]
    assert set(first) == set(np.flatnonzero(minimal.support_))
    assert set(everything.order_[:12]) == set(np.flatnonzero(SHOWS))
    # The path shows the minimal candidates and the chosen size.
    path = everything.path_
    assert path[path["is_chosen"]]["n_kept"].tolist() == [12]
    assert (np.diff(path["n_kept"]) >= 0).all()
    judged = path[np.isfinite(path["loss"])]
    assert judged["loss"].tolist() == minimal.path_["loss"].tolist()


def test_other_sizes_and_files_know_the_goal(both, tmp_path):
    everything = both[1]
    smaller = everything.with_size(2)
    assert set(np.flatnonzero(smaller.support_)) == set(everything.order_[:2])
    with pytest.raises(ValueError, match="needs a fit with goal='minimal'"):
        everything.with_tolerance(0.1)
    everything.save(tmp_path / "s")
    loaded = load(tmp_path / "s")
    assert loaded.goal == "all_relevant"
    assert loaded.support_.tolist() == SHOWS.tolist()


def test_redundant_combinations_are_found_and_noise_is_not():
    X, y = make_classification(
        300, 24, n_informative=4, n_redundant=6, shuffle=False, random_state=1
    )
    fitted = AutoNFSClassifier(goal="all_relevant", random_state=0).fit(X, y)
    assert np.flatnonzero(fitted.support_).tolist() == list(range(10))


def test_most_features_are_obeyed():
    fitted = quick(goal="all_relevant", max_features=5).fit(X, Y)
    assert fitted.n_features_ == 5
    assert SHOWS[fitted.support_].all()


def test_constant_columns_carry_nothing_whoever_judges():
    X = np.c_[RNG.standard_normal(100), np.full((100, 2), np.nan)]
    fitted = AutoNFSRegressor(goal="all_relevant", judge="trees", random_state=0)
    table = fitted.fit(X, X[:, 0] + RNG.standard_normal(100)).feature_table()
    assert table["verdict"].tolist() == ["kept", "constant", "constant"]
    assert fitted.path_["n_kept"].max() == 1  # no set with them was tried


@pytest.mark.filterwarnings("ignore::featuresieve.UninformativeTargetWarning")
def test_nothing_is_added_where_nothing_predicts():
    noise = RNG.standard_normal((100, 8))
    y = RNG.standard_normal(100)
    fitted = AutoNFSRegressor(goal="all_relevant", random_state=0).fit(noise, y)
    assert fitted.n_features_ == 1
