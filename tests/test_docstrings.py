import dataclasses
import doctest
import importlib
import inspect

import pytest
from numpydoc.validate import validate

PUBLIC = [
    "featuresieve",
    "featuresieve.plotting",
    "sievebench.selectors",
]
# Not documented, documented but not there, no description.
ABOUT_PARAMETERS = {"PR01", "PR02", "PR07"}


def public_names():
    """Yield public classes, their methods, and functions, as dotted names."""
    for module in PUBLIC:
        for name in importlib.import_module(module).__all__:
            thing = getattr(importlib.import_module(module), name)
            is_estimator = hasattr(thing, "get_params")
            if dataclasses.is_dataclass(thing) and not is_estimator:
                continue  # has attributes, which are described
            if inspect.isclass(thing):
                for method, function in vars(thing).items():
                    if inspect.isfunction(function) and not method.startswith("_"):
                        yield f"{module}.{name}.{method}"
            if inspect.isclass(thing) or inspect.isfunction(thing):
                yield f"{module}.{name}"


@pytest.mark.parametrize("name", ["AutoNFSClassifier", "AutoNFSRegressor", "Training"])
def test_examples_of_an_estimator_run(name):
    # pytest does not find them: the classes say that they live in `featuresieve`.
    estimator = getattr(importlib.import_module("featuresieve"), name)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for test in doctest.DocTestFinder(recurse=False).find(estimator, module=False):
        runner.run(test)
    assert runner.summarize().attempted >= 3
    assert runner.summarize().failed == 0


@pytest.mark.parametrize("name", list(public_names()))
def test_docstring_describes_the_parameters_of_the_signature(name):
    found = [
        fault for fault in validate(name)["errors"] if fault[0] in ABOUT_PARAMETERS
    ]
    assert found == []


def test_a_parameter_that_is_not_described_would_be_found(monkeypatch):
    module = importlib.import_module("featuresieve")
    broken = module.AutoNFSClassifier.__doc__.replace("max_features :", "most :")
    monkeypatch.setattr(module.AutoNFSClassifier, "__doc__", broken)
    codes = {fault[0] for fault in validate("featuresieve.AutoNFSClassifier")["errors"]}
    assert {"PR01", "PR02"} <= codes
