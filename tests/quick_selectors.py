"""Selectors that learn for a moment only: these tests are about what is around them."""

from dataclasses import fields, replace

from featuresieve import AutoNFSClassifier, AutoNFSRegressor, Training


def built(estimator_class, *arguments, **named):
    """Build an estimator; entries of `Training` may stand among its own arguments."""
    names = {field.name for field in fields(Training)} & named.keys()
    inner = {name: named.pop(name) for name in names}
    if inner:
        named["training"] = replace(named.get("training") or Training(), **inner)
    return estimator_class(*arguments, **named)


def quick(estimator_class=AutoNFSClassifier, **arguments):
    defaults = {"n_epochs": 20, "n_members": 20, "random_state": 0}
    return built(estimator_class, **(defaults | arguments))


def quick_regressor(**arguments):
    return quick(AutoNFSRegressor, **arguments)
