import copy
import json
import sys
from importlib import resources

import jsonschema
import numpy as np
import onnx
import pandas as pd
import pytest
from onnx.reference import ReferenceEvaluator
from sklearn.exceptions import NotFittedError

import featuresieve
from featuresieve import AutoNFSRegressor
from made_tables import class_table, value_table
from onnx_tables import labels_table
from saved_estimators import quick

FITS = {
    "classification": lambda: quick(balance="auto").fit(*class_table()),
    "multilabel": lambda: quick(always_keep=[0], never_keep=[1]).fit(*labels_table()),
    "regression": lambda: quick(AutoNFSRegressor).fit(*value_table()),
}


@pytest.fixture(scope="module", params=FITS)
def task_and_selector(request):
    return request.param, FITS[request.param]()


@pytest.fixture(scope="module")
def named():
    """Return a selector, and the frame it was fitted on."""
    X, y = class_table()
    columns = ["größe", 'a "b"', "c,d", "\N{GRINNING FACE}", "e", "f", "g", ""]
    frame = pd.DataFrame(X, columns=columns)
    return quick().fit(frame, y), frame


def schema():
    folder = resources.files(featuresieve) / "storage" / "schemas"
    return json.loads((folder / "selection-1.json").read_text(encoding="utf-8"))


def refuse_constant(name):
    raise AssertionError(f"{name} is not JSON")


def parsed(text):
    return json.loads(text, parse_constant=refuse_constant)


# --- JSON


def test_selection_follows_its_schema_and_says_what_the_selector_knows(
    task_and_selector,
):
    task, selector = task_and_selector
    found = parsed(selector.to_json())
    jsonschema.validate(found, schema(), jsonschema.Draft202012Validator)
    assert (found["task"], found["estimator"]) == (task, type(selector).__name__)
    assert found["featuresieve_version"] == featuresieve.__version__
    features = pd.DataFrame(found["features"])
    assert features["kept"].tolist() == selector.support_.tolist()
    assert np.argsort(features["rank"]).tolist() == selector.order_.tolist()
    assert features["frequency"].tolist() == selector.selection_frequency_.tolist()
    assert features["position"].tolist() == list(range(8))
    assert features["name"].tolist() == [f"x{j}" for j in range(8)]
    expected = [w if np.isfinite(w) else None for w in selector.logits_.tolist()]
    assert [feature["logit"] for feature in found["features"]] == expected
    assert found["balance"] == selector.balance_
    assert found["n_features_in"] == 8
    assert found["n_features_selected"] == selector.support_.sum()
    path = pd.DataFrame(found["path"]).astype({"loss": float, "loss_error": float})
    pd.testing.assert_frame_equal(path, pd.DataFrame(selector.path_))


def test_selection_is_written_as_utf8(named, tmp_path):
    selector, frame = named
    path = tmp_path / "selection.json"
    text = selector.to_json(path)
    assert path.read_text(encoding="utf-8") == f"{text}\n"
    assert "größe" in text
    names = [feature["name"] for feature in parsed(text)["features"]]
    assert names == list(frame.columns)
    half = copy.copy(selector)  # of a character
    half.feature_names_in_ = np.array(["\ud800", *"abcdefg"], dtype=object)
    assert parsed(half.to_json().encode())["features"][0]["name"] == "\ud800"


# --- ONNX


def test_model_takes_the_kept_columns(task_and_selector, tmp_path):
    _, selector = task_and_selector
    path = tmp_path / "selector.onnx"
    selector.to_onnx(path)
    X = class_table(n_rows=7)[0].astype(np.float32)
    X[3] = np.nan
    (kept,) = ReferenceEvaluator(str(path)).run(None, {"X": X})
    assert kept.dtype == np.float32
    np.testing.assert_array_equal(kept, selector.transform(X))


def test_model_is_a_valid_one_and_names_its_columns(named, tmp_path):
    selector, frame = named
    path = tmp_path / "selector.onnx"
    selector.to_onnx(str(path))
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    assert (model.ir_version, model.opset_import[0].version) == (8, 13)
    (entry,), (output,) = model.graph.input, model.graph.output
    assert (entry.name, output.name) == ("X", "kept")
    shapes = [v.type.tensor_type.shape.dim[1].dim_value for v in (entry, output)]
    assert shapes == [8, selector.n_features_selected_]
    metadata = {entry.key: json.loads(entry.value) for entry in model.metadata_props}
    assert metadata["feature_names_in"] == list(frame.columns)
    kept = selector.get_feature_names_out().tolist()
    assert metadata["feature_names_out"] == kept


def test_model_needs_the_extra(named, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"featuresieve\[onnx\]"):
        named[0].to_onnx(tmp_path / "selector.onnx")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("method", ["to_json", "to_onnx"])
def test_unfitted_selector_is_not_exported(method, tmp_path):
    with pytest.raises(NotFittedError):
        getattr(quick(), method)(tmp_path / "file")
