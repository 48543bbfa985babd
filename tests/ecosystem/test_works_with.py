"""The blocks of the page on other packages run, and what it says fails does."""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import mlflow
import optuna
import polars as pl
import pytest
import shap
from boruta import BorutaPy
from imblearn.over_sampling import SMOTE
from mapie.classification import SplitConformalClassifier
from sklearn.ensemble import RandomForestClassifier

from quick_selectors import quick

PAGE = Path(__file__).parents[2] / "docs" / "works_with.md"


def test_blocks_of_the_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    before = mlflow.get_tracking_uri()
    text = PAGE.read_text(encoding="utf-8")
    names = {"__name__": "__main__"}
    try:
        for block in re.finditer(r"^```py\n(.*?)^```$", text, re.M | re.S):
            # Leading newlines make tracebacks name the line of the page.
            line = text.count("\n", 0, block.start(1))
            exec(compile("\n" * line + block[1], str(PAGE), "exec"), names)
    finally:
        mlflow.set_tracking_uri(before)
        plt.close("all")


def test_shap_cannot_permute_text(table, word):
    X, y = table
    X = X[["worst area"]].assign(word=word)
    selector = quick().fit(X, y)
    with pytest.raises(TypeError, match="'str' and 'str'"):
        shap.PermutationExplainer(selector.predict_proba, X[:9])(X[:1])


def test_mapie_loses_the_names_of_a_frame(table):
    X, y = table
    sets = SplitConformalClassifier(quick().fit(X, y), prefit=True)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        sets.conformalize(X, y)


def test_boruta_cannot_index_a_frame(table):
    X, y = table
    forest = RandomForestClassifier(max_depth=3, random_state=0)
    boruta = BorutaPy(forest, n_estimators=10, max_iter=3, random_state=0).fit(X, y)
    with pytest.raises(Exception, match="slice"):
        boruta.transform(X)


def test_smote_cannot_make_rows_of_polars(table):
    X, y = table
    with pytest.raises(TypeError, match="Field elements"):
        SMOTE().fit_resample(pl.from_pandas(X), y.to_numpy())
