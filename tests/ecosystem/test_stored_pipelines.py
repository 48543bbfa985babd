"""What skops, joblib and cloudpickle store answers the same in another process."""

import subprocess
import sys

import cloudpickle
import joblib
import numpy as np
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import featuresieve
from featuresieve import Training
from quick_selectors import quick


def with_skops(pipeline, path):
    skops.io.dump(pipeline, path)
    return "skops.io.load(path, trusted=featuresieve.TRUSTED_TYPES)"


def with_joblib(pipeline, path):
    joblib.dump(pipeline, path)
    return "joblib.load(path)"


def with_cloudpickle(pipeline, path):
    path.write_bytes(cloudpickle.dumps(pipeline))
    return "cloudpickle.loads(path.read_bytes())"


ELSEWHERE = """
import sys
from pathlib import Path
import cloudpickle, featuresieve, joblib, numpy, skops.io
from sklearn.datasets import load_breast_cancer

X, _ = load_breast_cancer(return_X_y=True, as_frame=True)
path = Path(sys.argv[1])
numpy.save(sys.argv[2], {load}.predict_proba(X))
"""


@pytest.mark.parametrize("store", [with_skops, with_joblib, with_cloudpickle])
def test_pipeline_answers_the_same_in_another_process(store, table, tmp_path):
    X, y = table
    steps = (StandardScaler(), quick(), LogisticRegression(max_iter=1000))
    pipeline = make_pipeline(*steps).set_output(transform="pandas").fit(X, y)
    load = store(pipeline, tmp_path / "pipeline")
    code, paths = ELSEWHERE.format(load=load), ("pipeline", "answers.npy")
    program = [sys.executable, "-c", code]
    subprocess.run([*program, *(str(tmp_path / path) for path in paths)], check=True)
    found = np.load(tmp_path / "answers.npy")
    # Sums of the logistic regression may end in another digit in another process.
    np.testing.assert_allclose(found, pipeline.predict_proba(X), rtol=0, atol=1e-12)


def test_cloudpickle_stores_a_network_of_the_notebook(table):
    X, y = table
    own = {}
    # A function without a module, as in a notebook: plain pickle refuses it.
    exec(
        "from torch import nn\n"
        "def network(n_columns, n_outputs):\n"
        "    return nn.Linear(n_columns, n_outputs)\n",
        own,
    )
    training = Training(task_network=own["network"])
    selector = quick(balance=0.05, training=training).fit(X, y)
    again = cloudpickle.loads(cloudpickle.dumps(selector))
    np.testing.assert_array_equal(again.predict_proba(X), selector.predict_proba(X))


def test_skops_asks_about_the_selector_alone(table):
    pipeline = make_pipeline(StandardScaler(), quick(balance=0.05)).fit(*table)
    asked = skops.io.get_untrusted_types(data=skops.io.dumps(pipeline))
    assert set(asked) <= set(featuresieve.TRUSTED_TYPES)
