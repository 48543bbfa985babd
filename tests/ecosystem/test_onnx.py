"""Pipelines with selectors are converted by skl2onnx, and answer in onnxruntime.

That the models of `to_onnx` do shows storage/test_onnx_model.py, with onnxruntime here.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skl2onnx
from skl2onnx.common.data_types import (
    DoubleTensorType,
    FloatTensorType,
    Int64TensorType,
    StringTensorType,
)
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from featuresieve import AutoNFSClassifier, AutoNFSRegressor
from featuresieve.estimators import register_onnx_converters
from made_tables import class_table, value_table
from onnx_feeds import answers, tensor
from onnx_tables import labels_table, mixed_table, outputs_table, quick

# Float32 has 24 binary digits; scaled columns of two libraries differ in the last, and
# ranks of values that are close together make more of it.
FLOAT32 = {"rtol": 0.0, "atol": 1e-4}
# The networks may run in float32, the model runs in float64: sums of some ten terms.
NETWORKS = {"rtol": 0.0, "atol": 2e-6}


@pytest.fixture(scope="module", autouse=True)
def converters():
    register_onnx_converters()
    register_onnx_converters()  # a second time does no harm


def converted(model, rows, **options):
    return skl2onnx.to_onnx(model, rows[:1], **options)


def float_table():
    X, y = class_table()
    return X.astype(np.float32), np.where(y, "yes", "no")


def test_pipeline_that_ends_in_a_predictor_agrees():
    X, y = float_table()
    pipeline = make_pipeline(StandardScaler(), quick()).fit(X, y)
    model = converted(pipeline, X, options={"zipmap": False})
    found = answers(model, {"X": X})
    expected = pipeline.predict_proba(X)
    np.testing.assert_allclose(found["probabilities"], expected, **FLOAT32)
    assert found["label"].tolist() == pipeline.predict(X).tolist()


def test_probabilities_are_a_map_where_other_classifiers_have_one():
    X, y = float_table()
    selector = quick().fit(X, y)
    rows = answers(converted(selector, X), {"X": X})["output_probability"]
    found = pd.DataFrame(list(rows))[["no", "yes"]]
    np.testing.assert_allclose(found, selector.predict_proba(X), **FLOAT32)


@pytest.mark.parametrize("opset", [13, 15, 18, 21])
def test_selector_inside_a_pipeline_takes_columns(opset):
    X, y = float_table()
    pipeline = make_pipeline(MinMaxScaler(), quick(), LogisticRegression()).fit(X, y)
    options = {"zipmap": False}
    model = converted(pipeline, X, options=options, target_opset=opset)
    found = answers(model, {"X": X})
    expected = pipeline.predict_proba(X)
    np.testing.assert_allclose(found["probabilities"], expected, **FLOAT32)


@pytest.mark.parametrize("opset", [13, 15, 18, 21])
def test_predictor_converts_for_other_opsets(opset):
    X, y = float_table()
    X[::5, 2] = np.nan
    selector = quick().fit(X, y)
    options = {"zipmap": False}
    model = converted(selector, X, options=options, target_opset=opset)
    expected = selector.predict_proba(X)
    found = answers(model, {"X": X})["probabilities"]
    np.testing.assert_allclose(found, expected, **FLOAT32)


def test_selector_and_predictor_in_one_pipeline_agree():
    X, y = float_table()
    pipeline = make_pipeline(quick(), StandardScaler(), quick()).fit(X, y)
    model = converted(pipeline, X, options={"zipmap": False})
    found = answers(model, {"X": X})["probabilities"]
    np.testing.assert_allclose(found, pipeline.predict_proba(X), **FLOAT32)


@pytest.mark.parametrize(
    "last", [LinearRegression(), quick(AutoNFSRegressor)], ids=["other", "own"]
)
@pytest.mark.parametrize("table", [value_table, outputs_table])
def test_regression_pipeline_agrees(last, table):
    X, y = table()
    X = X.astype(np.float32)
    steps = (StandardScaler(), quick(AutoNFSRegressor), last)
    pipeline = make_pipeline(*steps).fit(X, y)
    found = answers(converted(pipeline, X), {"X": X})["variable"]
    predicted = pipeline.predict(X).reshape(found.shape)
    scale = np.abs(predicted).max(axis=0)
    # The hyperbolic sine of a heavy target stretches what float32 left out.
    np.testing.assert_allclose(found / scale, predicted / scale, rtol=0, atol=1e-4)


def test_page_on_files_converts_a_pipeline():
    page = Path(__file__).parents[2] / "docs" / "files.md"
    blocks = re.findall(r"^```py\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
    (code,) = (block for block in blocks if "skl2onnx" in block)
    rows, y = float_table()
    names = {"rows": rows, "y": y, "AutoNFSClassifier": AutoNFSClassifier}
    names |= {"make_pipeline": make_pipeline, "StandardScaler": StandardScaler}
    exec(code, names)
    found = answers(names["model"], {"X": rows})["probabilities"]
    expected = names["pipeline"].predict_proba(rows)
    np.testing.assert_allclose(found, expected, **FLOAT32)


def test_several_labels_convert():
    X, y = labels_table()
    X = X.astype(np.float32)
    selector = quick().fit(X, y)
    label, probabilities = answers(
        converted(selector, X, options={"zipmap": False}), {"X": X}
    ).values()
    np.testing.assert_array_equal(label, selector.predict(X))
    np.testing.assert_allclose(probabilities, selector.predict_proba(X), **FLOAT32)


@pytest.mark.parametrize("container", ["columns", "union"])
def test_selector_inside_a_container_takes_columns(container):
    X, y = float_table()
    parts = {
        "columns": ColumnTransformer(
            [
                ("kept", make_pipeline(StandardScaler(), quick()), [0, 1, 2, 3]),
                ("also", quick(), [4, 5, 6, 7]),
            ]
        ),
        "union": FeatureUnion([("kept", quick()), ("all", StandardScaler())]),
    }
    pipeline = make_pipeline(parts[container], LogisticRegression()).fit(X, y)
    model = converted(pipeline, X, options={"zipmap": False})
    found = answers(model, {"X": X})["probabilities"]
    np.testing.assert_allclose(found, pipeline.predict_proba(X), **FLOAT32)


VOTING = {"voting": "soft", "flatten_transform": False}  # all that skl2onnx takes


@pytest.mark.parametrize(
    "around",
    [
        lambda model: VotingClassifier([("one", model)], **VOTING),
        lambda model: StackingClassifier([("one", model)], cv=2),
        lambda model: CalibratedClassifierCV(model, cv=2),
    ],
    ids=["voting", "stacking", "calibrated"],
)
def test_selector_is_converted_before_an_ensemble_but_not_inside(around):
    X, y = float_table()
    inside = around(make_pipeline(quick(), LogisticRegression())).fit(X, y)
    with pytest.raises(RuntimeError, match="at most 1 input"):
        converted(inside, X)
    before = make_pipeline(quick(), around(LogisticRegression())).fit(X, y)
    found = answers(converted(before, X, options={"zipmap": False}), {"X": X})
    expected = before.predict_proba(X)
    np.testing.assert_allclose(found["probabilities"], expected, **FLOAT32)


def test_pipeline_of_a_mixed_frame_agrees():
    frame, y = mixed_table()
    prepared = ColumnTransformer(
        [
            ("numbers", StandardScaler(), ["wave", "holes"]),
            ("words", OneHotEncoder(sparse_output=False), ["word"]),
        ]
    )
    pipeline = make_pipeline(prepared, quick()).fit(frame, y)
    # Ranks tell apart numbers that float32 does not: the scaler has to keep them.
    numbers, texts = DoubleTensorType([None, 1]), StringTensorType([None, 1])
    types = [("wave", numbers), ("holes", numbers), ("word", texts)]
    options = {"zipmap": False}
    model = skl2onnx.to_onnx(pipeline, initial_types=types, options=options)
    inputs = {name: tensor(frame[name], 11) for name in ("wave", "holes")}
    found = answers(model, inputs | {"word": tensor(frame["word"], 8)})
    expected = pipeline.predict_proba(frame)
    np.testing.assert_allclose(found["probabilities"], expected, **NETWORKS)


def test_columns_of_several_kinds_go_in_one_by_one():
    frame, y = mixed_table()
    frame = frame[["wave", "flag", "word with holes", "moment"]]
    frame = frame.astype({"wave": np.float32})
    selector = quick(n_features_to_select=3).fit(frame, y)
    types = [FloatTensorType, FloatTensorType, StringTensorType, Int64TensorType]
    numbers = [1, 1, 8, 7]
    model = skl2onnx.to_onnx(
        selector,
        initial_types=[
            (name.replace(" ", "_"), type_([None, 1]))
            for name, type_ in zip(frame.columns, types, strict=True)
        ],
        options={"zipmap": False},
    )
    used = {entry.name for entry in model.graph.input}
    inputs = {
        name.replace(" ", "_"): tensor(frame[name], number)
        for name, number in zip(frame.columns, numbers, strict=True)
        if name.replace(" ", "_") in used
    }
    found = answers(model, inputs)["probabilities"]
    np.testing.assert_allclose(found, selector.predict_proba(frame), **FLOAT32)


def test_a_matrix_cannot_hold_columns_of_several_kinds():
    frame, y = mixed_table()
    selector = quick(n_features_to_select=2).fit(frame[["wave", "word"]], y)
    types = [("X", StringTensorType([None, 2]))]
    with pytest.raises(ValueError, match="takes 2 inputs, one a column, got 1 inputs"):
        skl2onnx.to_onnx(selector, initial_types=types)
