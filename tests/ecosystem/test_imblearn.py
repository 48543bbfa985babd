"""imbalanced-learn: samplers before the selector, and its ensembles around it."""

import numpy as np
import pytest
from imblearn.ensemble import BalancedBaggingClassifier
from imblearn.over_sampling import SMOTE
from imblearn.pipeline import make_pipeline
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score

from quick_selectors import quick


@pytest.fixture
def rare(table):
    """Return the table with 40 of its 212 malignant rows."""
    X, y = table
    kept = np.r_[np.flatnonzero(y == 1), np.flatnonzero(y == 0)[:40]]
    return X.iloc[kept], y.iloc[kept]


def test_selector_learns_from_the_rows_that_the_sampler_makes(rare, table):
    pipeline = make_pipeline(SMOTE(random_state=0), quick()).fit(*rare)
    by_hand = clone(pipeline[-1]).fit(*SMOTE(random_state=0).fit_resample(*rare))
    np.testing.assert_array_equal(pipeline[-1].support_, by_hand.support_)
    X, y = table
    np.testing.assert_array_equal(pipeline.predict(X), by_hand.predict(X))
    assert balanced_accuracy_score(y, pipeline.predict(X)) > 0.9


# Of 80 rows each, and for a moment: the fits say that all columns would do better.
@pytest.mark.filterwarnings("ignore::featuresieve.DoubtfulSelectionWarning")
def test_balanced_bagging_takes_the_estimator(rare, table):
    X, y = table
    bagging = BalancedBaggingClassifier(quick(), n_estimators=2, random_state=0)
    assert balanced_accuracy_score(y, bagging.fit(*rare).predict(X)) > 0.9
