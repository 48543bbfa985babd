"""featuresieve: AutoNFS, automatic neural feature selection, for scikit-learn."""

from featuresieve._estimators import AutoNFSClassifier, AutoNFSRegressor
from featuresieve._exceptions import (
    FeatureSieveError,
    FeatureSieveWarning,
    SelectionCollapseWarning,
    TimeBudgetWarning,
    TrainingDivergedError,
    UninformativeTargetWarning,
)

__version__ = "0.1.0"

__all__ = [
    "AutoNFSClassifier",
    "AutoNFSRegressor",
    "FeatureSieveError",
    "FeatureSieveWarning",
    "SelectionCollapseWarning",
    "TimeBudgetWarning",
    "TrainingDivergedError",
    "UninformativeTargetWarning",
    "__version__",
]
