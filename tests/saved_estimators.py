"""Quick fits that are saved, loaded and compared with what they were."""

import numpy as np

import featuresieve
from featuresieve import AutoNFSClassifier
from quick_selectors import built


def quick(estimator_class=AutoNFSClassifier, balance=0.01, **arguments):
    arguments = {"n_epochs": 8, "random_state": 0} | arguments
    return built(estimator_class, balance, **arguments)


def saved_and_loaded(estimator, folder):
    path = folder / "selector.safetensors"
    estimator.save(path)
    return featuresieve.load(path)


def assert_same(value, expected):
    """Compare types, dtypes and every bit."""
    assert type(value) is type(expected)
    if isinstance(expected, np.ndarray):
        assert value.dtype == expected.dtype
        assert value.shape == expected.shape
        if expected.dtype == object:
            assert value.tolist() == expected.tolist()
        else:  # bits, so that NaN equals NaN
            assert value.tobytes() == expected.tobytes()
    elif isinstance(expected, dict):
        assert value.keys() == expected.keys()
        for key in expected.keys() - {"_prepared"}:  # stays where it was fitted
            assert_same(value[key], expected[key])
    elif isinstance(expected, list | tuple):
        assert len(value) == len(expected)
        for one, other in zip(value, expected, strict=True):
            assert_same(one, other)
    elif hasattr(expected, "__dict__"):
        assert_same(vars(value), vars(expected))
    else:
        assert value == expected
