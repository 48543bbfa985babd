"""Selectors that learn for a moment only: these tests are about what is around them."""

from featuresieve import AutoNFSClassifier, AutoNFSRegressor


def quick(estimator_class=AutoNFSClassifier, **arguments):
    defaults = {"n_epochs": 20, "n_members": 20, "random_state": 0}
    return estimator_class(**(defaults | arguments))


def quick_regressor(**arguments):
    return quick(AutoNFSRegressor, **arguments)
