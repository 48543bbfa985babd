import numpy as np
from sklearn.svm import LinearSVC

from made_tables import INFORMATIVE, class_table
from sievebench.selectors import LinearSVCElimination


def test_columns_are_dropped_as_in_a_plain_loop():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    y = np.argmax(X[:, :3] + rng.normal(size=(150, 3)), axis=1)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    left, dropped = list(range(6)), []
    while len(left) > 2:
        weights = LinearSVC(dual=False).fit(Z[:, left], y).coef_
        dropped.append(left.pop(int(np.argmin(np.sum(weights**2, axis=0)))))

    selector = LinearSVCElimination(n_features_to_select=2).fit(X, y)
    order = np.argsort(selector.ranking_)
    assert order[2:].tolist() == dropped[::-1]
    assert sorted(order[:2]) == left


def test_many_columns_may_leave_at_a_time():
    selector = LinearSVCElimination(n_features_to_select=2, step=0.4).fit(
        *class_table()
    )
    assert tuple(np.flatnonzero(selector.support_)) == INFORMATIVE


def test_elimination_leaves_out_what_the_others_say_already():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + X[:, 1]
    X[:, 2] = y + rng.normal(size=300)  # related to y, of no use beside 0 and 1
    selector = LinearSVCElimination(n_features_to_select=2).fit(X, y)
    assert selector.support_.tolist() == [True, True, False]
