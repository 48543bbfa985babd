import copy
import dataclasses
import pickle
from functools import partial

import joblib
import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from torch import nn

import featuresieve
from encoded_tables import mixed_frame
from featuresieve import Training
from made_tables import class_table, value_table
from quick_selectors import quick, quick_regressor


def own_network(n_columns, n_outputs):
    # Batch normalisation adds buffers, one of them of integers, to the state.
    return nn.Sequential(
        nn.Linear(n_columns, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, n_outputs)
    )


def mixed_frame_table():
    frame = mixed_frame(80)
    return frame, np.where(frame["number"] > 0, "in", "out")


def sparse_labels_table():
    X, y = class_table()
    return sparse.csr_array(np.where(np.abs(X) > 1, X, 0)), np.column_stack([y, ~y])


def named_table():
    X, y = class_table()
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    return frame.assign(word=np.where(y, "u", "v")), y


SHORT = {"balance": 0.0, "n_epochs": 3}
OWN = {"balance": 0.01, "training": Training(task_network=own_network)}
FITS = {
    "classifier": (quick(), class_table),
    "regressor": (quick_regressor(), value_table),
    "own network": (quick(**OWN), class_table),
    "mixed frame": (quick(**SHORT), mixed_frame_table),
    "sparse labels": (quick(**SHORT), sparse_labels_table),
    "pipeline": (make_pipeline(quick(n_epochs=5)), named_table),
}


@pytest.fixture(scope="module", params=FITS)
def case(request):
    """Return a fitted selector, and the table it knows."""
    selector, table = FITS[request.param]
    X, y = table()
    return clone(selector).fit(X, y), X


def stored_with_joblib(selector, folder, compress=3, mmap_mode=None):
    path = folder / "selector.joblib"
    joblib.dump(selector, path, compress=compress)
    return joblib.load(path, mmap_mode=mmap_mode)


def stored_with_skops(selector, _):
    import skops.io  # slow, and every process that collects tests would wait

    own = [f"{__name__}.own_network"]
    trusted = featuresieve.TRUSTED_TYPES + own
    return skops.io.loads(skops.io.dumps(selector), trusted=trusted)


STORES = {
    "pickle": lambda selector, _: pickle.loads(pickle.dumps(selector)),
    "joblib": stored_with_joblib,
    # Arrays are read-only memory maps then, as joblib's workers have them.
    "mapped": partial(stored_with_joblib, compress=0, mmap_mode="r"),
    "skops": stored_with_skops,
    "copied": lambda selector, _: copy.deepcopy(selector),
}


@pytest.mark.parametrize("store", STORES)
def test_stored_selector_answers_as_before(case, store, tmp_path):
    selector, X = case
    again = STORES[store](selector, tmp_path)
    assert not hasattr(clone(again), "support_")
    # Not by value: the network of the user's own is a function.
    assert repr(clone(again)) == repr(clone(selector))
    expected = selector.predict(X)
    np.testing.assert_array_equal(again.predict(X), expected)
    if hasattr(selector, "predict_proba"):
        np.testing.assert_array_equal(again.predict_proba(X), selector.predict_proba(X))
    if isinstance(X, np.ndarray):
        np.testing.assert_array_equal(again.transform(X), selector.transform(X))
        pd.testing.assert_frame_equal(again.feature_table(), selector.feature_table())
    if hasattr(selector, "classes_"):
        np.testing.assert_array_equal(again.classes_, selector.classes_)
    if store == "copied":  # which does not share what it learnt
        again.fit(*class_table(seed=2))
        np.testing.assert_array_equal(selector.predict(X), expected)


def test_skops_trusts_no_more_than_needed():
    import skops.io

    selectors = [
        quick(n_epochs=3, balance=0.0).fit(*mixed_frame_table()),
        quick_regressor(n_epochs=3, balance=0.01).fit(*value_table()),
    ]
    data = [skops.io.dumps(selector) for selector in selectors]
    asked = {name for one in data for name in skops.io.get_untrusted_types(data=one)}
    assert sorted(asked) == featuresieve.TRUSTED_TYPES


def walk(value, path):
    """Yield every value reachable from a fitted estimator, with its path."""
    yield path, value
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list | tuple | set):
        parts = enumerate(value)
    elif dataclasses.is_dataclass(value) or hasattr(value, "__dict__"):
        parts = vars(value).items() if not callable(value) else ()
    else:
        parts = ()
    for name, part in parts:
        yield from walk(part, f"{path}.{name}")


def test_fitted_state_holds_no_torch_object(case):
    paths = dict(walk(vars(case[0]), "selector"))
    assert any(isinstance(value, np.ndarray) for value in paths.values())
    torch_types = (torch.Tensor, torch.Generator, torch.device, nn.Module)
    found = [path for path, value in paths.items() if isinstance(value, torch_types)]
    assert found == []
