"""mlflow stores pipelines with a selector, and loads them to the same answers."""

import json

import mlflow
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import featuresieve
from quick_selectors import quick

# Finding the requirements out takes mlflow ten seconds and another process.
GIVEN = {"pip_requirements": ["featuresieve"]}
TRUSTED = {"skops_trusted_types": featuresieve.TRUSTED_TYPES}


@pytest.fixture(scope="module", autouse=True)
def experiment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{folder / 'mlflow.db'}")
    mlflow.create_experiment("trial", artifact_location=(folder / "files").as_uri())
    return mlflow.set_experiment("trial")


@pytest.fixture
def pipeline(table):
    steps = make_pipeline(StandardScaler(), quick())
    return steps.set_output(transform="pandas").fit(*table)


@pytest.mark.parametrize(
    "how", [TRUSTED, {"serialization_format": "cloudpickle"}], ids=["skops", "pickle"]
)
def test_logged_pipeline_answers_as_before(how, pipeline, table):
    X, _ = table
    with mlflow.start_run():
        logged = mlflow.sklearn.log_model(pipeline, name="model", **how, **GIVEN)
    again = mlflow.sklearn.load_model(logged.model_uri)
    np.testing.assert_array_equal(again.predict_proba(X), pipeline.predict_proba(X))
    names = pipeline[-1].get_feature_names_out()
    np.testing.assert_array_equal(again[-1].get_feature_names_out(), names)
    served = mlflow.pyfunc.load_model(logged.model_uri)
    np.testing.assert_array_equal(served.predict(X), pipeline.predict(X))


def test_plain_log_model_names_the_class_to_trust(pipeline):
    with mlflow.start_run(), pytest.raises(mlflow.MlflowException) as caught:
        mlflow.sklearn.log_model(pipeline, name="model", **GIVEN)
    assert "skops_trusted_types" in str(caught.value)
    assert "['featuresieve.AutoNFSClassifier']" in str(caught.value)


def test_signature_has_the_columns_of_the_frame(pipeline, table, tmp_path):
    X, _ = table
    signature = mlflow.models.infer_signature(X, pipeline.predict_proba(X))
    mlflow.sklearn.save_model(
        pipeline, tmp_path / "model", signature=signature, **TRUSTED, **GIVEN
    )
    served = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    assert served.metadata.get_input_schema().input_names() == list(X.columns)
    with pytest.raises(mlflow.MlflowException, match="worst area"):
        served.predict(X.drop(columns="worst area"))


def test_autolog_logs_the_pipeline_with_the_arguments_of_the_selector(table):
    X, y = table
    mlflow.sklearn.autolog(log_models=False, log_datasets=False)
    try:
        with mlflow.start_run() as run:
            pipeline = make_pipeline(quick(balance=0.05)).fit(X, y)
    finally:
        mlflow.sklearn.autolog(disable=True)
    found = mlflow.get_run(run.info.run_id).data
    assert found.params["autonfsclassifier__balance"] == "0.05"
    assert found.metrics["training_score"] == pytest.approx(pipeline.score(X, y))


def test_autolog_leaves_a_selector_outside_of_a_pipeline_alone(table):
    mlflow.sklearn.autolog(log_models=False, log_datasets=False)
    try:
        with mlflow.start_run() as run:
            quick(balance=0.05).fit(*table)
    finally:
        mlflow.sklearn.autolog(disable=True)
    assert not mlflow.get_run(run.info.run_id).data.params


def test_log_of_a_selection_by_hand(table, tmp_path):
    selector = quick().fit(*table)
    with mlflow.start_run() as run:
        mlflow.log_metric("n_features", selector.n_features_)
        mlflow.log_text(selector.to_json(), "selection.json")
        selector.save(tmp_path / "selector.safetensors")
        mlflow.log_artifact(str(tmp_path / "selector.safetensors"))
    uri = f"runs:/{run.info.run_id}"
    text = mlflow.artifacts.load_text(f"{uri}/selection.json")
    kept = {entry["name"] for entry in json.loads(text)["features"] if entry["kept"]}
    assert kept == set(selector.get_feature_names_out())
    path = mlflow.artifacts.download_artifacts(f"{uri}/selector.safetensors")
    np.testing.assert_array_equal(featuresieve.load(path).support_, selector.support_)
