import json
import sys

import numpy as np
import onnx
import pandas as pd
import pytest
from scipy import sparse
from torch import nn

import featuresieve
from encoded_tables import fitted
from featuresieve import AutoNFSClassifier, AutoNFSRegressor, Training
from featuresieve.estimators import register_onnx_converters
from featuresieve.problem import value_target
from made_tables import class_table, value_table
from onnx_feeds import answers, feeds, kinds_of
from onnx_tables import (
    fit_mixed,
    heavy_table,
    holes_table,
    labels_table,
    mixed_table,
    outputs_table,
    quick,
)
from saved_tables import DATA, mixed_rows

pytestmark = pytest.mark.numeric

# The networks may run in float32, the model runs in float64: sums of some ten terms.
NETWORKS = {"rtol": 0.0, "atol": 2e-6}


def model_of(selector, folder, **options):
    path = folder / "model.onnx"
    selector.to_onnx(path, **options)
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    return model


@pytest.fixture(scope="module")
def mixed():
    return fit_mixed()


@pytest.fixture(scope="module")
def fresh():
    """Return rows that fit did not see, with levels and holes of their own."""
    frame, _ = mixed_table(n_rows=200, seed=1)
    frame["word"] = frame["word"].astype(object)
    frame.loc[:9, ["word", "wave", "city", "code"]] = [None, np.nan, None, None]
    frame.loc[10:19, "word"] = "never seen"
    frame.loc[20:29, "wave"] = [-1e9] * 5 + [1e9] * 5
    frame["city"] = frame["city"].cat.add_categories("new").fillna("new")
    return frame


# --- the selector of a table of several kinds


def test_selector_takes_the_columns_of_a_mixed_table(mixed, fresh, tmp_path):
    model = model_of(mixed, tmp_path, dtype="float64")
    assert [entry.name for entry in model.graph.input] == list(fresh.columns)
    inputs = feeds(model, fresh)
    found = answers(model, inputs)
    kept = mixed.transform(fresh).columns
    assert list(found) == [f"kept_{name}" for name in kept]
    for name in kept:
        np.testing.assert_array_equal(found[f"kept_{name}"], inputs[name])


def test_inputs_are_of_the_kinds_of_the_columns(mixed, tmp_path):
    model = model_of(mixed, tmp_path)
    types = {e.name: e.type.tensor_type.elem_type for e in model.graph.input}
    number, integer, text = (
        onnx.TensorProto.FLOAT,
        onnx.TensorProto.INT64,
        onnx.TensorProto.STRING,
    )
    assert types["wave"] == types["flag"] == types["share"] == number
    assert types["moment"] == types["code"] == types["truth"] == integer
    assert types["word"] == types["city"] == types["left out"] == text
    kinds = {name: found["kind"] for name, found in kinds_of(model).items()}
    assert kinds["flag"] == "boolean"
    assert kinds["moment"] == "date"
    assert kinds["nothing"] == "empty"
    assert kinds["left out"] == "category"


def test_model_is_the_same_after_save_and_load(mixed, tmp_path):
    mixed.save(tmp_path / "selector.safetensors")
    again = featuresieve.load(tmp_path / "selector.safetensors")
    assert model_of(again, tmp_path) == model_of(mixed, tmp_path)


def test_selector_of_an_early_file_takes_the_columns_it_knows(tmp_path):
    selector = featuresieve.load(DATA / "classifier-1.safetensors")
    model = model_of(selector, tmp_path)
    kept = selector.get_feature_names_out().tolist()
    assert [entry.name for entry in model.graph.input] == kept
    found = answers(model, feeds(model, mixed_rows(8)[0]))
    assert found["kept_word"].ravel().tolist() == mixed_rows(8)[0]["word"].tolist()


def test_names_that_onnx_cannot_hold_are_positions(tmp_path):
    X, y = class_table()
    frame = pd.DataFrame(X[:, :4], columns=["a", "", "kept_a", "label"])
    frame["text"] = np.where(y, "p", "q")
    selector = quick(n_features_to_select=5).fit(frame, y)
    model = model_of(selector, tmp_path)
    names = [entry.name for entry in model.graph.input]
    assert names == ["a", "x1", "kept_a", "label", "text"]
    found = answers(model, feeds(model, frame))
    expected = ["kept_a_", "kept_x1", "kept_kept_a", "kept_label", "kept_text"]
    assert list(found) == expected
    found = answers(*of_predictor(selector, frame, tmp_path))
    assert list(found) == ["label_", "probabilities"]


def of_predictor(selector, frame, folder):
    model = model_of(selector, folder, predictor=True)
    return model, feeds(model, frame)


# --- the predictor


@pytest.mark.parametrize("scaling", ["normal_scores", "standard", "none"])
def test_predictor_of_a_mixed_table_agrees(scaling, mixed, fresh, tmp_path):
    if scaling != "normal_scores":
        mixed = fit_mixed(scaling=scaling)
        fresh = fresh.assign(wave=fresh["wave"].clip(-9, 9))
    model = model_of(mixed, tmp_path, predictor=True, dtype="float64")
    kept = mixed.get_feature_names_out().tolist()
    assert [entry.name for entry in model.graph.input] == kept
    found = answers(model, feeds(model, fresh))
    expected = mixed.predict_proba(fresh)
    np.testing.assert_allclose(found["probabilities"], expected, **NETWORKS)
    assert found["label"].tolist() == mixed.predict(fresh).tolist()
    assert found["probabilities"].dtype == np.float64
    (classes,) = [e.value for e in model.metadata_props if e.key == "classes"]
    assert json.loads(classes) == ["no", "yes"]


def test_predictor_of_float32_agrees_with_what_is_predicted_of_it(
    mixed, fresh, tmp_path
):
    model = model_of(mixed, tmp_path, predictor=True)
    found = answers(model, feeds(model, fresh))
    assert found["probabilities"].dtype == np.float32
    rounded = fresh.astype({"wave": np.float32, "holes": np.float32})
    expected = mixed.predict_proba(rounded)
    np.testing.assert_allclose(found["probabilities"], expected, **NETWORKS)


ARRAYS = {
    "classes": (AutoNFSClassifier, class_table),
    "holes": (AutoNFSClassifier, holes_table),
    "labels": (AutoNFSClassifier, labels_table),
    "values": (AutoNFSRegressor, value_table),
    "outputs": (AutoNFSRegressor, outputs_table),
    "heavy": (AutoNFSRegressor, heavy_table),
}


@pytest.mark.parametrize("case", ARRAYS)
@pytest.mark.parametrize("is_sparse", [False, True])
def test_predictor_of_a_matrix_agrees(case, is_sparse, tmp_path):
    estimator_class, made = ARRAYS[case]
    X, y = made()
    if is_sparse:
        X = np.where(np.abs(X) > 0.5, X, 0.0)
    selector = quick(estimator_class).fit(sparse.csr_array(X) if is_sparse else X, y)
    model = model_of(selector, tmp_path, predictor=True, dtype="float64")
    found = answers(model, {"X": X})
    predicted = selector.predict(X)
    if estimator_class is AutoNFSRegressor:
        scale = np.abs(predicted).max(axis=0)
        assert found["prediction"].shape == predicted.shape
        np.testing.assert_allclose(
            found["prediction"] / scale, predicted / scale, **NETWORKS
        )
        return
    name = "labels" if case == "labels" else "label"
    np.testing.assert_array_equal(found[name], predicted)
    np.testing.assert_allclose(
        found["probabilities"], selector.predict_proba(X), **NETWORKS
    )


@pytest.mark.parametrize(
    ("table", "is_heavy"), [(heavy_table, [True]), (outputs_table, [False, True])]
)
def test_made_targets_are_compressed_where_they_are_heavy(table, is_heavy):
    X, y = table()
    assert (value_target(y, len(X), None).code.widths != 0).tolist() == is_heavy


def test_knots_and_what_lies_beyond_them_are_scored_as_numpy_does(tmp_path):
    X, y = class_table(n_rows=700)
    selector = quick(training=Training(hidden_sizes=()), n_features_to_select=8).fit(
        X, y
    )
    knots = fitted(X, "normal_scores").features[0].encoder.scaler.knots[0]
    assert len(knots) == 512
    around = np.concatenate(
        [knots, np.nextafter(knots, -9), np.nextafter(knots, 9), [-1e300, 1e300, 0.0]]
    )
    rows = np.repeat(around[:, None], 8, axis=1)
    model = model_of(selector, tmp_path, predictor=True, dtype="float64")
    found = answers(model, {"X": rows})
    expected = selector.predict_proba(rows)
    np.testing.assert_allclose(found["probabilities"], expected, **NETWORKS)


def test_date_parts_are_those_of_the_calendar(tmp_path):
    days = np.arange("1599-12-25", "2101-01-05", dtype="datetime64[D]")
    seconds = (np.arange(len(days)) % 86_399).astype("timedelta64[s]")
    frame = pd.DataFrame({"moment": (days + seconds).astype("datetime64[us]")})
    frame["other"] = np.arange(len(days)) % 3 == 0
    y = frame["moment"].dt.month < 5
    part = frame[::97]
    selector = quick(training=Training(hidden_sizes=()), n_features_to_select=2)
    selector.fit(part, y[::97])
    parts = fitted(part, "normal_scores").features[0].encoder.parts
    assert parts == ("timestamp", "month", "weekday", "hour")
    model = model_of(selector, tmp_path, predictor=True, dtype="float64")
    found = answers(model, feeds(model, frame))
    expected = selector.predict_proba(frame)
    np.testing.assert_allclose(found["probabilities"], expected, **NETWORKS)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["n", "y"], ["n", "y"]),
        ([False, True], [0, 1]),
        ([7, 9], [7, 9]),
        ([1.0, 2.0], [1.0, 2.0]),
        (np.array(["n", "y"], dtype=object), ["n", "y"]),
    ],
)
def test_labels_are_of_a_type_that_tensors_have(labels, expected, tmp_path):
    X, y = class_table(n_rows=60)
    selector = quick().fit(X, np.array(labels)[y.astype(int)])
    found = answers(model_of(selector, tmp_path, predictor=True), {"X": np.float32(X)})
    truth = selector.predict(np.float32(X)) == labels[1]
    assert found["label"].tolist() == np.array(expected)[truth.astype(int)].tolist()


# --- what is refused


def test_own_network_is_refused_as_a_predictor_only(tmp_path):
    selector = quick(training=Training(task_network=lambda n, m: nn.Linear(n, m))).fit(
        *class_table()
    )
    selector.to_onnx(tmp_path / "selector.onnx")
    with pytest.raises(TypeError, match="task_network of your own"):
        selector.to_onnx(tmp_path / "predictor.onnx", predictor=True)
    assert [path.name for path in tmp_path.iterdir()] == ["selector.onnx"]


@pytest.mark.parametrize(
    ("levels", "match"),
    [
        (["a", 1], "'mix' has levels that are text and levels that are not"),
        ([1, 2**63], "'mix' has a level that int64 cannot hold"),
        ([0.1, 0.1 + 1e-12], "'mix' has levels that are the same number in float32"),
        (["a", "", None], "'mix' has both empty texts and missing values"),
        (["a", "\ud800"], "'mix' has a level that is no valid Unicode"),
    ],
)
def test_levels_that_a_tensor_cannot_hold_are_refused(levels, match, tmp_path):
    X, y = class_table(n_rows=60)
    mix = pd.Series([levels[row % len(levels)] for row in range(60)], dtype=object)
    if "\ud800" not in levels:  # which is no category in pandas 2
        known = [level for level in levels if level is not None]
        codes = [row % len(levels) for row in range(60)]
        codes = [-1 if code == len(known) else code for code in codes]
        index = pd.Index(known, dtype=object)
        mix = pd.Categorical.from_codes(codes, categories=index)
    frame = pd.DataFrame(X[:, :3], columns=["a", "b", "c"]).assign(mix=mix)
    selector = quick(always_keep=["mix"]).fit(frame, y)
    for predictor in (False, True):
        with pytest.raises((TypeError, ValueError), match=match):
            selector.to_onnx(tmp_path / "model.onnx", predictor=predictor)
    assert list(tmp_path.iterdir()) == []


def test_labels_that_a_tensor_cannot_hold_are_refused(tmp_path):
    X, y = class_table(n_rows=60)
    selector = quick().fit(X, np.where(y, 2**63, 2**63 + 2).astype(np.uint64))
    with pytest.raises(TypeError, match="labels must be text"):
        selector.to_onnx(tmp_path / "model.onnx", predictor=True)


def test_arguments_and_packages_are_checked(mixed, tmp_path, monkeypatch):
    path = tmp_path / "model.onnx"
    with pytest.raises(ValueError, match="dtype must be 'float32' or 'float64'"):
        mixed.to_onnx(path, dtype="float16")
    with pytest.raises(TypeError, match="predictor must be a bool, got 'yes'"):
        mixed.to_onnx(path, predictor="yes")
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    with pytest.raises(ImportError, match="pip install skl2onnx"):
        register_onnx_converters()
