import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from featuresieve import AutoNFSClassifier, AutoNFSRegressor, Training

# Many checks fit random targets on a handful of rows. That an answer to those is
# doubtful is for the estimator to say and of no interest here; any other warning
# stays an error.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::featuresieve.{category}Warning")
    for category in (
        "DoubtfulSelection",
        "SelectionCollapse",
        "TimeBudget",
        "UninformativeTarget",
    )
]


# Trained for a shorter time than by default: the promises are the same, and the checks
# five times as fast.
@parametrize_with_checks(
    [
        AutoNFSClassifier(training=Training(n_epochs=15, n_members=2)),
        AutoNFSRegressor(training=Training(n_epochs=15, n_members=2)),
    ]
)
def test_estimator_passes_check(estimator, check):
    check(estimator)
