import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from featuresieve import AutoNFSClassifier, AutoNFSRegressor

pytestmark = pytest.mark.slow
TABLES = {
    load_breast_cancer: AutoNFSClassifier,
    load_diabetes: AutoNFSRegressor,
    load_wine: AutoNFSClassifier,
}


@pytest.mark.parametrize("load", TABLES)
def test_seeds_agree_on_a_table_with_as_many_noise_columns(load):
    X, y = load(return_X_y=True)
    noise = np.random.default_rng(0).standard_normal(X.shape)
    supports = [
        TABLES[load](random_state=seed).fit(np.hstack([X, noise]), y).support_
        for seed in range(2)
    ]
    assert not any(support[X.shape[1] :].any() for support in supports)
    both, either = supports[0] & supports[1], supports[0] | supports[1]
    assert both.sum() / either.sum() >= 0.6


def test_columns_of_a_rare_class_are_found():
    X = np.random.default_rng(0).standard_normal((2000, 20))
    cause = X[:, 3] * X[:, 7] + X[:, 11]
    y = cause > np.quantile(cause, 0.96)
    kept = np.flatnonzero(AutoNFSClassifier(random_state=0).fit(X, y).support_)
    assert {3, 7, 11} <= set(kept)
    assert len(kept) <= 4
