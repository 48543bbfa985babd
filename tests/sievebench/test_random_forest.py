import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from featuresieve.errors import draw_seed
from made_tables import class_table, value_table
from sievebench.selectors import RandomForest


def impurity_decreases(tree, n_columns):
    """Return the decrease of one tree by column, in plain loops."""
    decreases = np.zeros(n_columns)
    weight = tree.weighted_n_node_samples * tree.impurity
    for node in range(tree.node_count):
        left, right = tree.children_left[node], tree.children_right[node]
        if left != -1:
            decrease = weight[node] - weight[left] - weight[right]
            decreases[tree.feature[node]] += decrease
    return decreases / decreases.sum()


@pytest.mark.parametrize(
    ("table", "kind"),
    [(class_table, RandomForestClassifier), (value_table, RandomForestRegressor)],
)
def test_scores_are_decreases_in_impurity(table, kind):
    X, y = table()
    forest = kind(30, max_depth=10, random_state=draw_seed(3)).fit(X, y)
    expected = np.mean(
        [impurity_decreases(tree.tree_, X.shape[1]) for tree in forest.estimators_],
        axis=0,
    )
    scores = RandomForest(n_estimators=30, random_state=3).fit(X, y).scores_
    np.testing.assert_allclose(scores, expected, rtol=1e-6)
