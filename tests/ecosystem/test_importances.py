"""yellowbrick and eli5 read the importances, or tell how far they get."""

import eli5
import matplotlib.pyplot as plt
import numpy as np
import pytest
from eli5.sklearn import PermutationImportance
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from yellowbrick.classifier import ConfusionMatrix
from yellowbrick.contrib.wrapper import classifier
from yellowbrick.exceptions import YellowbrickTypeError
from yellowbrick.model_selection import FeatureImportances

from quick_selectors import quick


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def test_yellowbrick_draws_the_importances(table):
    X, y = table
    selector = quick().fit(X, y)
    drawing = FeatureImportances(selector, is_fitted=True, relative=False).fit(X, y)
    drawing.finalize()
    best = X.columns[selector.feature_importances_.argmax()]
    assert drawing.features_[-1] == best


def test_yellowbrick_takes_no_classifier_unless_it_is_wrapped(table):
    X, y = table
    # It looks for an attribute that scikit-learn has dropped, from its own ones too.
    for model in (LogisticRegression(), quick()):
        with pytest.raises(YellowbrickTypeError, match="not a classifier"):
            ConfusionMatrix(model)
    selector = quick().fit(X, y)
    drawing = ConfusionMatrix(classifier(selector), is_fitted=True).fit(X, y)
    assert drawing.score(X, y) == pytest.approx(selector.score(X, y))


def test_eli5_permutes_the_columns(table):
    X, y = table
    selector = quick().fit(X, y)
    found = PermutationImportance(selector, random_state=0, n_iter=2).fit(X, y)
    assert (found.feature_importances_[~selector.support_] == 0).all()
    assert found.feature_importances_.max() > 0


def test_eli5_explains_what_is_behind_the_selector_not_the_selector(table):
    X, y = table
    selector = quick().fit(X, y)
    assert "not supported" in eli5.explain_weights(selector).error
    linear = LogisticRegression(max_iter=5000)
    pipeline = make_pipeline(quick(), linear).fit(X, y)
    names = list(pipeline[0].get_feature_names_out())
    weights = eli5.explain_weights_df(pipeline[-1], feature_names=names, top=None)
    found = weights.set_index("feature")["weight"]
    np.testing.assert_allclose(found[names], pipeline[-1].coef_[0])
