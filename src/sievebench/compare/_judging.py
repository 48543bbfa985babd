"""One fold: encode, select, train the predictor on what is kept, score it."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import get_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sievebench.compare._encoding import TableEncoder
from sievebench.compare._plan import FoldScore, Plan
from sievebench.selectors import SELECTORS, ScoredSelector


def judge_fold(
    name: str,
    plan: Plan,
    features: pd.DataFrame,
    target: npt.NDArray[Any],
    rows: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]],
    say: Callable[[str], None],
) -> FoldScore:
    """Select on the training rows and score on the others.

    Everything, encoding included, is learnt from the training rows alone.
    """
    train, test = rows
    encoder = TableEncoder().fit(features.iloc[train])
    X = encoder.transform(features.iloc[train])
    selector = _selector(name, plan)
    say("fitting")
    started = time.perf_counter()
    selector.fit(X, target[train])
    seconds = time.perf_counter() - started
    say("fitted")
    support = selector.get_support()
    predictor = _predictor(plan, target[train]).fit(X[:, support], target[train])
    held_out = encoder.transform(features.iloc[test])[:, support]
    score = get_scorer(plan.metric)(predictor, held_out, target[test])
    return FoldScore(float(score), tuple(support.tolist()), seconds)


def _selector(name: str, plan: Plan) -> ScoredSelector:
    """Return the selector, told how many columns to keep."""
    kind = SELECTORS[name]
    arguments: dict[str, Any] = {"task": plan.task, "random_state": plan.seed}
    if plan.keep != "auto" and name != "none":
        arguments["n_features_to_select"] = plan.keep
    return kind(**arguments)


def _predictor(plan: Plan, target: npt.NDArray[Any]) -> Any:
    """Return the predictor for this target, not yet trained."""
    is_regression = plan.task == "regression"
    if plan.predictor == "linear":
        if is_regression:
            return make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 3, 13)))
        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    if is_regression:
        return HistGradientBoostingRegressor(random_state=plan.seed)
    # Where it stops early, it holds out rows of every class: two of each are needed.
    counts = np.unique(target, return_counts=True)[1]
    early_stopping = "auto" if counts.min() > 1 else False
    return HistGradientBoostingClassifier(
        early_stopping=early_stopping, random_state=plan.seed
    )
