"""A real table for all, nothing sent anywhere, and the warnings that are not ours."""

import os

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"  # read when mlflow is imported

# What other packages say about each other with the versions of
# constraints-ecosystem.txt. A filter goes when its package is mended.
FOREIGN = [
    # category_encoders and feature-engine with pandas 3.1
    "ignore:'future.no_silent_downcasting' is deprecated:DeprecationWarning",
    "ignore:The inplace keyword in:DeprecationWarning",
    # mlflow with pandas 3.1, SQLAlchemy 2.1 and scikit-learn 1.9
    "ignore:Operation with range is deprecated:DeprecationWarning",
    "ignore:The ``noload`` loader strategy is deprecated:DeprecationWarning",
    "ignore:`y_pred` was renamed to `y_proba`:FutureWarning",
    # mlflow about its own functions
    "ignore:.*Any type hint is inferred as AnyType:UserWarning",
    # optuna-integration with optuna 5
    "ignore:OptunaSearchCV is experimental:",
    "ignore:`optuna.terminator` module has been deprecated:FutureWarning",
    # shap and yellowbrick with matplotlib 3.11, yellowbrick with Python 3.11
    "ignore:The set_(bad|over|under) function will be:PendingDeprecationWarning",
    "ignore:Passing 'N' to ListedColormap is deprecated:DeprecationWarning",
    "ignore:distutils Version classes are deprecated:DeprecationWarning",
    "ignore:The distutils package is deprecated:DeprecationWarning",
]


def pytest_configure(config):
    for line in FOREIGN:
        config.addinivalue_line("filterwarnings", line)


@pytest.fixture
def table():
    """Return the 30 columns of breast cancer as a frame, and whether it is benign."""
    return load_breast_cancer(return_X_y=True, as_frame=True)


@pytest.fixture
def word(table):
    """Return text that tells the target but for every tenth row: no leak."""
    is_wrong = np.arange(len(table[1])) % 10 == 0
    return np.where((table[1] == 1) ^ is_wrong, "yes", "no")
