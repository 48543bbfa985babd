"""What to compare and how, and what one fold of it gives."""

from dataclasses import dataclass
from typing import Literal

METRICS = {
    "classification": ("balanced_accuracy", "accuracy", "roc_auc", "neg_log_loss"),
    "regression": ("r2", "neg_root_mean_squared_error", "neg_mean_absolute_error"),
}


class CompareError(ValueError):
    """A file, a column or an argument that a comparison cannot work with."""


@dataclass(frozen=True)
class Plan:
    """What to compare, and how."""

    selectors: tuple[str, ...]  # short names of the selectors
    task: Literal["auto", "classification", "regression"] = "auto"
    # columns to keep: a count or a fraction; "auto" leaves the number to selectors that
    # find it, and keeps half with the others
    keep: int | float | Literal["auto"] = "auto"
    n_folds: int = 5
    predictor: Literal["boosting", "linear"] = "boosting"  # trained on what is kept
    metric: str | None = None  # a scikit-learn score; None: balanced accuracy, or R²
    time_limit_seconds: float | None = 600.0  # most seconds of one fit of a selector
    seed: int = 0  # decides folds, selectors and predictors


@dataclass(frozen=True)
class FoldScore:
    """What one fold gave."""

    score: float  # of the predictor on the rows held out
    support: tuple[bool, ...]  # which columns were kept
    seconds: float  # of the selector's fit
