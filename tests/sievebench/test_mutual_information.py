import numpy as np
import pytest

from sievebench.selectors import MutualInformation


@pytest.mark.parametrize("correlation", [0.0, 0.6, 0.9])
def test_estimate_for_normal_variables_is_near_the_closed_form(correlation):
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 3000))
    y = correlation * x + np.sqrt(1 - correlation**2) * noise
    scores = MutualInformation(random_state=0).fit(x[:, None] * 1000, y).scores_
    # The spread of this estimator at 3000 rows is about 0.02 nats.
    assert scores[0] == pytest.approx(-0.5 * np.log(1 - correlation**2), abs=0.06)


def test_estimate_for_a_column_that_tells_the_class_is_its_entropy():
    y = np.repeat([0, 1], 500)
    X = np.random.default_rng(0).random((1000, 1)) + 5 * y[:, None]
    scores = MutualInformation(random_state=0).fit(X, y).scores_
    assert scores[0] == pytest.approx(np.log(2), abs=0.01)


def test_relation_without_correlation_is_seen():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    selector = MutualInformation(n_features_to_select=1, random_state=0)
    assert selector.fit(X, X[:, 2] ** 2).support_[2]
