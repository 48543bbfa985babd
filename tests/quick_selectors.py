"""Selectors that learn for a moment only: these tests are about what is around them."""

from featuresieve import AutoNFSClassifier, AutoNFSRegressor


def quick(estimator_class=AutoNFSClassifier, **arguments):
    return estimator_class(**({"n_epochs": 20, "random_state": 0} | arguments))


def quick_regressor(**arguments):
    return quick(AutoNFSRegressor, **arguments)
