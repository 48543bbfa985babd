import numpy as np
import pytest
from made_dataset import made_dataset
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import accuracy_score, root_mean_squared_error

from featuresieve import AutoNFSClassifier
from featuresieve.errors import draw_seed
from sievebench import data, downstream
from sievebench.analysis import balance_influence, check_runs
from sievebench.data import split
from sievebench.pipeline import run_one
from sievebench.run_spec import RunSpec
from sievebench.store import RunRecord, collect

PUBLISHED = {"setting": "published", "n_epochs": 40, "may_be_empty": True}


def cell(balance, **changes):
    values = {"seeds": (0, 1), "downstream_settings": {"max_epochs": 5}, **changes}
    return RunSpec(
        "wine",
        "none",
        "autonfs:published",
        selector_settings={**PUBLISHED, "balance": balance},
        experiment="balance",
        device="cpu",
        **values,
    )


def without_columns(dataset):
    scaled = split(dataset).scaled()
    return scaled.keep(np.zeros(dataset.n_columns, dtype=bool))


@pytest.mark.parametrize("predictor", sorted(downstream.PREDICTORS))
def test_answer_without_columns_is_a_dummys(predictor):
    parts = without_columns(data.load("wine"))
    first, second = downstream.evaluate(predictor, parts, [4, 5])
    dummy = DummyClassifier().fit(parts.train.X, parts.train.y)
    expected = accuracy_score(parts.test.y, dummy.predict(parts.test.X))
    assert first.score == second.score == pytest.approx(expected)
    assert (first.seed, second.seed) == (4, 5)


def test_value_without_columns_is_the_mean_and_two_classes_are_in_no_order():
    parts = without_columns(data.load("diabetes"))
    (found,) = downstream.evaluate("forest", parts, [0])
    dummy = DummyRegressor().fit(parts.train.X, parts.train.y)
    error = root_mean_squared_error(parts.test.y, dummy.predict(parts.test.X))
    assert found.score == pytest.approx(-error)
    parts = without_columns(made_dataset(n_classes=2))
    (found,) = downstream.evaluate("mlp", parts, [0])
    assert found.score == found.validation_score == 0.5


def test_selection_is_that_of_the_library_and_may_be_empty():
    kept, empty = run_one(cell(0.1)), run_one(cell(20))
    parts = data.split(data.load("wine")).scaled()
    for run in kept.runs:
        seed = draw_seed(kept.spec.seed("selector", run.seed))
        estimator = AutoNFSClassifier.as_published(
            balance=0.1, n_epochs=40, random_state=seed, device="cpu"
        ).fit(parts.train.X, parts.train.y)
        assert run.kept == tuple(np.flatnonzero(estimator.support_))
    # The largest class of the test part, which is also that of the train part.
    most = np.bincount(parts.test.y).max() / len(parts.test.y)
    assert [run.kept for run in empty.runs] == [(), ()]
    assert [run.score for run in empty.runs] == [pytest.approx(most)] * 2


def test_records_become_the_table_of_balances():
    records = [run_one(cell(balance)) for balance in (20, 0.1)]
    failed = RunRecord(cell(1.0), "failed", reason="E: no")
    runs = check_runs(collect([*records, failed]))
    table = balance_influence(runs)
    assert table["balance"].tolist() == [0.1, 20]
    assert table["n_empty"].tolist() == [0, 2]
    scores = [run.score for run in records[1].runs]
    assert table["score_mean"].iloc[0] == pytest.approx(np.mean(scores))
    assert runs.loc[runs["status"] == "failed", "balance"].tolist() == [1.0, 1.0]
