"""A fitted estimator is saved to one file, and what is loaded equals it."""

import copy
import json
import os
import stat
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import safetensors
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import featuresieve
from encoded_tables import mixed_frame
from featuresieve import AutoNFSClassifier, AutoNFSRegressor, FileFormatError
from made_tables import class_table, value_table


def quick(estimator_class=AutoNFSClassifier, balance=0.01, **arguments):
    return estimator_class(balance, **({"n_epochs": 8, "random_state": 0} | arguments))


def mixed_table(n_rows=120):
    frame = mixed_frame(n_rows)
    return frame, np.where(frame["number"] + 2 * (frame["text"] == "x") > 1, "in", "no")


def sparse_table(n_rows=150):
    X = sparse.random_array((n_rows, 6), density=0.4, rng=0, format="csr")
    return X, X[:, [1]].toarray()[:, 0] > 0.3


def labels_table():
    X, _ = class_table()
    return X, (X[:, [2, 5, 6]] > 0).astype(int)


def outputs_table():
    X, y = value_table()
    # The second output has heavy tails: it is learnt on another scale.
    return X, np.column_stack([y, np.exp(3 * X[:, 2])])


FITS = {
    "classifier": lambda: (quick(), *class_table()),
    "automatic": lambda: (
        quick(balance="auto", always_keep=[0], never_keep=[1]),
        *class_table(),
    ),
    "regressor": lambda: (quick(AutoNFSRegressor), *value_table()),
    "several outputs": lambda: (quick(AutoNFSRegressor), *outputs_table()),
    "several labels": lambda: (quick(), *labels_table()),
    "mixed frame": lambda: (quick(balance=0.0), *mixed_table()),
    "polars": lambda: (
        quick(balance=0.0),
        pl.DataFrame(mixed_table()[0].drop(columns="nothing")),
        mixed_table()[1],
    ),
    "sparse": lambda: (quick(), *sparse_table()),
    "no hidden layer": lambda: (quick(hidden_sizes=()), *class_table()),
}


@pytest.fixture(scope="module", params=FITS)
def fit(request):
    estimator, X, y = FITS[request.param]()
    return estimator.fit(X, y), X


@pytest.fixture(scope="module")
def fitted():
    return quick().fit(*class_table())


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
        for key in expected:
            assert_same(value[key], expected[key])
    elif isinstance(expected, list | tuple):
        assert len(value) == len(expected)
        for one, other in zip(value, expected, strict=True):
            assert_same(one, other)
    elif hasattr(expected, "__dict__"):
        assert_same(vars(value), vars(expected))
    else:
        assert value == expected


def test_loaded_estimator_has_the_same_state(fit, tmp_path):
    estimator, _ = fit
    again = saved_and_loaded(estimator, tmp_path)
    assert type(again) is type(estimator)
    assert_same(vars(again), vars(estimator))


def test_loaded_estimator_gives_the_same_answers(fit, tmp_path):
    estimator, X = fit
    again = saved_and_loaded(estimator, tmp_path)
    assert_same(again.predict(X), estimator.predict(X))
    if isinstance(estimator, AutoNFSClassifier):
        assert_same(again.predict_proba(X), estimator.predict_proba(X))
    kept, expected = again.transform(X), estimator.transform(X)
    assert type(kept) is type(expected)
    if isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(kept, expected)
    elif isinstance(expected, pl.DataFrame):
        assert kept.equals(expected)
    else:
        assert abs(kept - expected).max() == 0
    pd.testing.assert_frame_equal(again.feature_table(), estimator.feature_table())


def test_loaded_estimator_writes_the_same_file(fit, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    fit[0].save(first)
    featuresieve.load(first).save(second)
    assert first.read_bytes() == second.read_bytes()


def test_safetensors_reads_the_arrays(fitted, tmp_path):
    path = tmp_path / "selector.safetensors"
    fitted.save(path)
    with safetensors.safe_open(path, framework="np") as file:
        np.testing.assert_array_equal(file.get_tensor("support"), fitted.support_)
        header = json.loads(file.metadata()["featuresieve"])
    assert header["schema"] == "featuresieve-selector"
    assert header["schema_version"] == 1
    assert header["featuresieve_version"] == featuresieve.__version__
    assert header["class"] == "AutoNFSClassifier"


def test_loaded_estimator_can_be_fitted_again(fitted, tmp_path):
    again = saved_and_loaded(fitted, tmp_path)
    expected = again.predict_proba(class_table(seed=1)[0])
    again = clone(again).fit(*class_table())
    np.testing.assert_array_equal(again.predict_proba(class_table(seed=1)[0]), expected)


# --- labels


@pytest.mark.parametrize(
    "labels",
    [
        ["no", "yes, käse \N{GRINNING FACE}"],
        np.array(["a", "b"], dtype="<U20"),
        np.array(["", "b\x00c"], dtype=object),
        [False, True],
        [-(2**62), 2**62],
        np.array([3, 200], dtype=np.uint8),
        np.array([1, 2], dtype=">i4"),
        [-1.0, 1e9],
        np.array([0, 1], dtype=np.float32),
        pd.Categorical(["low", "high"]),
        pd.array([1, 2], dtype="Int64"),
        pd.array(["low", "high"], dtype="string"),
    ],
    ids=lambda labels: f"{type(labels).__name__} {getattr(labels, 'dtype', labels[0])}",
)
def test_class_labels_survive(labels, tmp_path):
    X, y = class_table()
    if isinstance(labels, np.ndarray):
        targets = labels[y.astype(int)]
    else:
        targets = pd.Series(labels).take(y.astype(int)).reset_index(drop=True)
    estimator = quick(n_epochs=2).fit(X, targets)
    again = saved_and_loaded(estimator, tmp_path)
    assert again.classes_.dtype == estimator.classes_.dtype.newbyteorder("=")
    assert again.classes_.tolist() == estimator.classes_.tolist()
    assert again.predict(X).tolist() == estimator.predict(X).tolist()


def test_labels_that_are_dates_are_refused(tmp_path):
    X, y = class_table()
    days = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]")
    estimator = quick(n_epochs=2).fit(X, days[y.astype(int)])
    with pytest.raises(TypeError, match=r"labels like .*dtype datetime64\[D\]"):
        estimator.save(tmp_path / "selector")
    assert list(tmp_path.iterdir()) == []


# --- names and arguments


def test_feature_names_of_any_kind_survive(tmp_path):
    X, y = class_table()
    names = ["a", "", "a,b [", '"}', "ä\N{GRINNING FACE}", "\\u0000\x00", "\n", "h"]
    estimator = quick(n_epochs=2).fit(pd.DataFrame(X, columns=names), y)
    again = saved_and_loaded(estimator, tmp_path)
    assert_same(again.feature_names_in_, estimator.feature_names_in_)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hidden_sizes", (8, 4)),
        ("hidden_sizes", [8, 4]),
        ("balance", np.float32(0.1)),
        ("random_state", np.int64(2**32 - 1)),
        ("groups", [["a", "b"], ("c", 3)]),
        ("groups", {"one": ["a", "b"], "two": [3]}),
        ("groups", [np.array([1, 2])]),
        ("always_keep", np.array([True] + [False] * 7)),
        ("always_keep", np.array(["a", "b"])),
        ("always_keep", np.array(["a", "b"], dtype=object)),
        ("always_keep", pd.Index(["a", "b"])),
        ("always_keep", {"b", "a"}),
        ("never_keep", range(2)),
        ("feature_costs", {"a": 0.5, 3: 2}),
        ("feature_costs", np.linspace(0, 1, 8)),
        ("feature_costs", np.linspace(0, 1, 8, dtype=np.float32)),
        ("class_weight", {False: 1.0, True: 2}),
        ("class_weight", "balanced"),
        ("max_time", 1e300),
        ("tolerance", 0.1 + 0.2),
    ],
)
def test_arguments_survive(fitted, name, value, tmp_path):
    estimator = copy.deepcopy(fitted).set_params(**{name: value})
    loaded = saved_and_loaded(estimator, tmp_path).get_params()[name]
    if isinstance(value, np.generic):
        value = value.item()
    elif isinstance(value, pd.Index | range):
        value = list(value)
    assert_same(loaded, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tolerance", float("nan")),
        ("max_time", float("inf")),
        ("always_keep", np.array(["2020-01-01"], dtype="datetime64[D]")),
        ("feature_costs", np.ones((2, 2))),
        ("groups", object()),
        ("class_weight", {1: {2: {3: {4: {5: {6: {7: {8: {9: 0}}}}}}}}}),
    ],
)
def test_arguments_that_a_file_cannot_hold_are_named(fitted, name, value, tmp_path):
    estimator = copy.deepcopy(fitted).set_params(**{name: value})
    with pytest.raises(TypeError, match=rf"(?s)got {name}=.*Use pickle or joblib"):
        estimator.save(tmp_path / "selector")
    assert list(tmp_path.iterdir()) == []


def own_network(n_columns, n_outputs):
    from torch import nn

    return nn.Linear(n_columns, n_outputs)


def test_network_of_the_users_own_is_refused(tmp_path):
    estimator = quick(task_network=own_network, n_epochs=2).fit(*class_table())
    with pytest.raises(TypeError, match=r"task_network .* Use pickle or joblib"):
        estimator.save(tmp_path / "selector")
    with pytest.raises(TypeError, match="task_network"):
        estimator.set_params(task_network=None).save(tmp_path / "selector")


def test_random_state_that_is_a_generator_becomes_none_with_a_warning(tmp_path):
    state = np.random.RandomState(0)
    estimator = quick(random_state=state, n_epochs=2).fit(*class_table())
    with pytest.warns(featuresieve.FeatureSieveWarning, match="is saved as None"):
        again = saved_and_loaded(estimator, tmp_path)
    assert again.random_state is None
    assert estimator.random_state is state


def test_output_of_transform_survives(tmp_path):
    X, y = class_table()
    estimator = quick(n_epochs=2).set_output(transform="polars").fit(X, y)
    assert isinstance(saved_and_loaded(estimator, tmp_path).transform(X), pl.DataFrame)


def test_checkpoint_stays_on_its_machine(fitted, tmp_path):
    estimator = copy.deepcopy(fitted).set_params(checkpoint=tmp_path / "checkpoint")
    assert saved_and_loaded(estimator, tmp_path).checkpoint is None


# --- files


def test_unfitted_estimator_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        quick().save(tmp_path / "selector")


def test_class_method_loads_its_own_class(fitted, tmp_path):
    path = tmp_path / "selector"
    fitted.save(path)
    assert type(AutoNFSClassifier.load(path)) is AutoNFSClassifier
    with pytest.raises(FileFormatError, match=r"it holds an AutoNFSClassifier\."):
        AutoNFSRegressor.load(path)


class OwnClassifier(AutoNFSClassifier):
    """Derived without a change."""


def test_derived_class_is_saved_as_what_it_is_derived_from(fitted, tmp_path):
    path = tmp_path / "selector"
    fitted.save(path)
    derived = OwnClassifier.load(str(path))
    assert type(derived) is OwnClassifier
    derived.save(path)
    assert type(featuresieve.load(path)) is AutoNFSClassifier


def test_error_is_a_value_error_of_the_library():
    assert issubclass(FileFormatError, featuresieve.FeatureSieveError)
    assert issubclass(FileFormatError, ValueError)


def test_missing_file_and_folder_are_usual_errors(fitted, tmp_path):
    with pytest.raises(FileNotFoundError):
        featuresieve.load(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError):
        featuresieve.load(tmp_path)
    with pytest.raises(IsADirectoryError):
        fitted.save(tmp_path)
    with pytest.raises(FileNotFoundError):
        fitted.save(tmp_path / "no folder" / "selector")


def test_failed_write_leaves_the_old_file(fitted, tmp_path, monkeypatch):
    path = tmp_path / "selector"
    path.write_bytes(b"before")

    def fail(_):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no space left"):
        fitted.save(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["selector"]
    assert path.read_bytes() == b"before"


@pytest.mark.skipif(os.name == "nt", reason="permissions and links of POSIX")
def test_file_is_replaced_with_its_permissions_and_through_links(fitted, tmp_path):
    path, link = tmp_path / "selector", tmp_path / "link"
    path.write_bytes(b"before")
    path.chmod(0o640)
    link.symlink_to(path)
    fitted.save(link)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert type(featuresieve.load(path)) is AutoNFSClassifier


def test_selector_fitted_on_cuda_loads_without_it(fitted, tmp_path):
    estimator = saved_and_loaded(fitted, tmp_path).set_params(device="cuda:3")
    again = saved_and_loaded(estimator, tmp_path)
    assert again.device == "cuda:3"
    X, _ = class_table()
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))


@pytest.mark.gpu
def test_selector_fitted_on_cuda_answers_in_a_process_without_it(tmp_path):
    X, y = class_table()
    estimator = quick(device="cuda").fit(X, y)
    assert_same(answer_of_another_process(estimator, X, tmp_path), estimator.predict(X))


def answer_of_another_process(estimator, X, folder):
    """Return what a process that sees no GPU predicts with the saved estimator."""
    estimator.save(folder / "selector")
    np.save(folder / "X.npy", X)
    code = (
        "import numpy as np, featuresieve\n"
        "selector = featuresieve.load('selector')\n"
        "np.save('answer.npy', selector.predict(np.load('X.npy')))\n"
    )
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-c", code]
    subprocess.run(command, check=True, cwd=folder, env=environment)
    return np.load(folder / "answer.npy")


def test_another_process_predicts_the_same(tmp_path):
    estimator = quick(AutoNFSRegressor, n_epochs=2).fit(*value_table())
    X, _ = value_table(seed=1)
    assert_same(answer_of_another_process(estimator, X, tmp_path), estimator.predict(X))
