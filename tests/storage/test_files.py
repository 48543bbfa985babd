import json
import os
import stat
import struct
import subprocess
import sys
import tracemalloc

import numpy as np
import polars as pl
import pytest
import safetensors
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import featuresieve
from encoded_tables import mixed_frame
from featuresieve import AutoNFSClassifier, AutoNFSRegressor, FileFormatError, Training
from made_tables import class_table, value_table
from onnx_tables import labels_table, outputs_table
from saved_estimators import assert_same, quick, saved_and_loaded


def mixed_table(n_rows=120):
    frame = mixed_frame(n_rows)
    return frame, np.where(frame["number"] + 2 * (frame["text"] == "x") > 1, "in", "no")


def sparse_table(n_rows=150):
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.random((n_rows, 6)) * (rng.random((n_rows, 6)) < 0.4))
    return X, X[:, [1]].toarray()[:, 0] > 0.3


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
    "no hidden layer": lambda: (
        quick(training=Training(hidden_sizes=())),
        *class_table(),
    ),
}


@pytest.fixture(scope="module", params=FITS)
def fit(request):
    estimator, X, y = FITS[request.param]()
    return estimator.fit(X, y), X


@pytest.fixture(scope="module")
def fitted():
    return quick().fit(*class_table())


def test_loaded_estimator_has_the_same_state_and_writes_the_same_file(fit, tmp_path):
    estimator, _ = fit
    first, second = tmp_path / "selector.safetensors", tmp_path / "second"
    again = saved_and_loaded(estimator, tmp_path)
    assert type(again) is type(estimator)
    assert_same(vars(again), vars(estimator))
    again.save(second)
    assert first.read_bytes() == second.read_bytes()


def test_safetensors_reads_the_arrays(fitted, tmp_path):
    path = tmp_path / "selector.safetensors"
    fitted.save(path)
    with safetensors.safe_open(path, framework="np") as file:
        np.testing.assert_array_equal(file.get_tensor("support"), fitted.support_)
        header = json.loads(file.metadata()["featuresieve"])
    assert header["schema"] == "featuresieve-selector"
    assert header["schema_version"] == 6
    assert header["featuresieve_version"] == featuresieve.__version__
    assert header["class"] == "AutoNFSClassifier"


def test_loaded_estimator_can_be_fitted_again(fitted, tmp_path):
    again = saved_and_loaded(fitted, tmp_path)
    expected = again.predict_proba(class_table(seed=1)[0])
    again = clone(again).fit(*class_table())
    np.testing.assert_array_equal(again.predict_proba(class_table(seed=1)[0]), expected)


def test_class_method_loads_its_own_class(fitted, tmp_path):
    path = tmp_path / "selector"
    with pytest.raises(NotFittedError):
        quick().save(path)
    fitted.save(path)
    assert type(AutoNFSClassifier.load(path)) is AutoNFSClassifier
    with pytest.raises(FileFormatError, match=r"it holds an AutoNFSClassifier\.") as e:
        AutoNFSRegressor.load(path)
    assert isinstance(e.value, featuresieve.FeatureSieveError)
    assert isinstance(e.value, ValueError)
    derived = OwnClassifier.load(str(path))
    assert type(derived) is OwnClassifier
    derived.save(path)
    assert type(featuresieve.load(path)) is AutoNFSClassifier


class OwnClassifier(AutoNFSClassifier):
    pass


def test_missing_file_and_folder_are_usual_errors(fitted, tmp_path):
    with pytest.raises(FileNotFoundError):
        featuresieve.load(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError):
        featuresieve.load(tmp_path)
    with pytest.raises(IsADirectoryError):
        fitted.save(tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
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


@pytest.mark.parametrize(
    "start",
    [b"", struct.pack("<Q", 2**25), b"PK\x03\x04", struct.pack("<Q", 100) + b"{", None],
    ids=["zeros", "long header", "archive", "short header", "of a smaller file"],
)
def test_large_file_is_refused_by_its_start(start, fitted, tmp_path):
    path = tmp_path / "selector"
    fitted.save(path)
    with path.open("r+b") as file:
        if start is not None:
            file.truncate(0)
            file.write(start)
        file.truncate(3 * 2**30)  # takes no room on the disk
    match = "its size is not that of its arrays" if start is None else None
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError, match=match):
            featuresieve.load(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2**28


def test_path_with_a_nul_is_refused_by_name():
    selector = quick(AutoNFSClassifier).fit(*class_table())
    for use in (selector.save, featuresieve.load, selector.to_json):
        with pytest.raises(ValueError, match=r"path must not hold a NUL .*'a\\x00b'"):
            use("a\0b")
    with pytest.raises(ValueError, match="checkpoint must not hold a NUL"):
        quick(AutoNFSClassifier, checkpoint="a\0b").fit(*class_table())
