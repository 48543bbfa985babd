"""shap explains the selector's predictor, and boosters behind the selector."""

import lightgbm
import numpy as np
import pytest
import shap
import xgboost
from sklearn.pipeline import make_pipeline

from quick_selectors import quick


def is_complete(values, base, answers):
    """Check that what the columns add to the base are the answers."""
    np.testing.assert_allclose(values.sum(axis=1) + base, answers, rtol=0, atol=1e-6)


def test_dropped_columns_explain_nothing(table):
    X, y = table
    selector = quick().fit(X, y)
    explainer = shap.PermutationExplainer(selector.predict_proba, X[:20], seed=0)
    found = explainer(X[:3])
    is_complete(found.values, found.base_values, selector.predict_proba(X[:3]))
    assert (found.values[:, ~selector.support_] == 0).all()
    assert (found.values[:, selector.support_] != 0).any()
    assert found.feature_names == list(X.columns)


def test_kernel_explains_columns_of_text(table, word):
    X, y = table
    X = X[["worst area", "worst texture"]].assign(word=word)
    selector = quick(n_features_to_select=3).fit(X, y)
    explainer = shap.KernelExplainer(selector.predict_proba, X[15:25])
    rows = X[18:22]  # two of each class
    values = explainer.shap_values(rows, silent=True)
    is_complete(values, explainer.expected_value, selector.predict_proba(rows))
    assert (np.abs(values[:, 2]) > 0).all()


def test_explainer_wants_the_method_not_the_estimator(table):
    X, y = table
    selector = quick().fit(X, y)
    with pytest.raises(TypeError, match="not callable"):
        shap.Explainer(selector, X[:20])
    found = shap.Explainer(selector.predict_proba, X[:20])(X[:2], silent=True)
    assert found.shape == (2, 30, 2)


@pytest.mark.filterwarnings("ignore:LightGBM binary classifier:UserWarning")
@pytest.mark.parametrize(
    "booster",
    [
        xgboost.XGBClassifier(n_estimators=5, n_jobs=1),
        lightgbm.LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1),
    ],
    ids=["xgboost", "lightgbm"],
)
def test_trees_behind_the_selector_are_explained_by_name(booster, table):
    X, y = table
    pipeline = make_pipeline(quick(), booster).fit(X, y)
    kept = pipeline[:-1].transform(X)
    found = shap.TreeExplainer(pipeline[-1])(kept)
    assert found.feature_names == list(pipeline[0].get_feature_names_out())
    raw = {"output_margin": True} if "XGB" in str(booster) else {"raw_score": True}
    is_complete(found.values, found.base_values, pipeline[-1].predict(kept, **raw))
