"""skrub prepares any table for the selector, and shows what it found."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skrub
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from quick_selectors import quick


@pytest.fixture
def mixed(table):
    """Return a table in which two columns carry the answer: a number and a text."""
    _, y = table
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "noise": rng.normal(size=len(y)),
            "number": y + 0.5 * rng.normal(size=len(y)),
            "word": np.where(rng.random(len(y)) < 0.1, 1 - y, y),
            "day": pd.Timestamp("2024-01-01")
            + pd.to_timedelta(rng.integers(0, 90, len(y)), unit="D"),
        }
    )
    frame["word"] = np.where(frame["word"] == 1, "yes", "no")
    return frame, y


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_selector_takes_what_the_vectorizer_makes(mixed, library):
    X, y = mixed
    X = pl.from_pandas(X) if library == "polars" else X
    steps = (skrub.TableVectorizer(), quick(), LogisticRegression(max_iter=1000))
    pipeline = make_pipeline(*steps).fit(X, y)
    assert set(pipeline[1].get_feature_names_out()) == {"number", "word_yes"}
    kept = pipeline[:2].transform(X)
    assert isinstance(kept, type(X))
    assert list(kept.columns) == list(pipeline[1].get_feature_names_out())


def test_tabular_pipeline_ends_with_the_selector(mixed):
    X, y = mixed
    pipeline = skrub.tabular_pipeline(quick()).set_output(transform="pandas").fit(X, y)
    assert {"number", "word_yes"} <= set(pipeline[-1].get_feature_names_out())
    assert pipeline.score(X, y) > 0.9


def test_selector_takes_the_table_that_the_cleaner_leaves(mixed):
    X, y = mixed
    texts = X.assign(number=X["number"].astype(str), day=X["day"].astype(str))
    pipeline = make_pipeline(skrub.Cleaner(parse_numbers=True), quick())
    pipeline.fit(texts, y)
    assert list(pipeline[-1].get_feature_names_out()) == ["number", "word"]


def test_selector_is_a_step_of_a_data_plan(mixed):
    X, y = mixed
    rows = skrub.X(X).skb.apply(skrub.TableVectorizer())
    plan = rows.skb.apply(quick(), y=skrub.y(y))
    learner = plan.skb.make_learner(fitted=True)
    expected = make_pipeline(skrub.TableVectorizer(), quick()).fit(X, y).predict(X)
    np.testing.assert_array_equal(learner.predict({"X": X}), expected)


def test_report_of_the_features_is_a_page(table):
    report = skrub.TableReport(quick().fit(*table).feature_table(), verbose=0)
    assert "worst texture" in report.html()
