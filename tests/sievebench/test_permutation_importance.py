import numpy as np

from made_tables import value_table
from sievebench.selectors import PermutationImportance


def test_loss_is_near_twice_the_share_of_the_variance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    y = 2 * X[:, 0] + X[:, 1]
    scores = PermutationImportance(random_state=0).fit(X, y).scores_
    # For y = Σ a_j x_j, a perfect model loses 2 a_j² / Σ a²; the forest is near that.
    np.testing.assert_allclose(scores, [2 * 4 / 5, 2 * 1 / 5], rtol=0.15)


def test_column_without_use_costs_nothing():
    X, y = value_table()
    X[:, 0] = 1.0
    assert PermutationImportance(random_state=0).fit(X, y).scores_[0] == 0
