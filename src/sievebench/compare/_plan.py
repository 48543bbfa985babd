"""What to compare and how, and what one fold of it gives."""

from dataclasses import dataclass
from typing import Literal

# Kind of predictor -> what it is, for classification and regression.
PREDICTORS = {
    "boosting": "gradient boosting (scikit-learn's HistGradientBoosting)",
    "linear": "logistic regression, or ridge regression",
}
METRICS = {
    "classification": ("balanced_accuracy", "accuracy", "roc_auc", "neg_log_loss"),
    "regression": ("r2", "neg_root_mean_squared_error", "neg_mean_absolute_error"),
}


@dataclass(frozen=True)
class Plan:
    """What to compare, and how.

    Attributes
    ----------
    selectors : tuple of str
        Short names of the selectors.
    task : {"auto", "classification", "regression"}
        What the target is.
    keep : int, float or "auto"
        Columns to keep: a count or a fraction; "auto" leaves the number to selectors
        that find it, and keeps half with the others.
    n_folds : int
        Parts of the cross-validation.
    predictor : {"boosting", "linear"}
        What is trained on the kept columns.
    metric : str or None
        Name of a scikit-learn score; None takes balanced accuracy, or R².
    time_limit_seconds : float or None
        Most seconds of one fit of a selector.
    seed : int
        Decides folds, selectors and predictors.
    """

    selectors: tuple[str, ...]
    task: Literal["auto", "classification", "regression"] = "auto"
    keep: int | float | Literal["auto"] = "auto"
    n_folds: int = 5
    predictor: Literal["boosting", "linear"] = "boosting"
    metric: str | None = None
    time_limit_seconds: float | None = 600.0
    seed: int = 0


@dataclass(frozen=True)
class FoldScore:
    """What one fold gave.

    Attributes
    ----------
    score : float
        Of the predictor on the rows held out.
    support : tuple of bool
        Which columns were kept.
    seconds : float
        Of the selector's fit.
    """

    score: float
    support: tuple[bool, ...]
    seconds: float
