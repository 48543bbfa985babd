"""Boosted trees as the predictor, stopped by the validation part."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from sievebench.data import Part, Split
from sievebench.downstream._evaluation import (
    Evaluation,
    check_settings,
    imputed_parts,
    score_part,
)
from sievebench.search_space import Integer, LogUniform, SearchSpace, Uniform, ZeroOr

SPACE: SearchSpace = {
    "max_depth": Integer(3, 10),
    "min_child_weight": LogUniform(1e-8, 1e5),
    "subsample": Uniform(0.5, 1.0),
    "colsample_bytree": Uniform(0.5, 1.0),
    "eta": LogUniform(1e-5, 1.0),
    "gamma": ZeroOr(LogUniform(1e-3, 1e2)),
    "reg_lambda": ZeroOr(LogUniform(0.1, 10.0)),
}
SETTINGS = (*SPACE, "n_rounds", "patience")
_OBJECTIVES = {
    "regression": ("reg:squarederror", "rmse"),
    "binary": ("binary:logistic", "auc"),
    "multiclass": ("multi:softprob", "mlogloss"),
}


def evaluate(
    split: Split,
    settings: Mapping[str, Any],
    seeds: Sequence[int],
    device: str,
    *,
    imputed: Sequence[int] = (),
) -> list[Evaluation]:
    """Boost one ensemble a seed, and score its best round.

    `settings` are parameters of XGBoost, `n_rounds` (2000) and `patience` (50).
    """
    check_settings("xgboost", settings, SETTINGS)
    return [_evaluate_one(split, settings, seed, device, imputed) for seed in seeds]


def _evaluate_one(
    split: Split,
    settings: Mapping[str, Any],
    seed: int,
    device: str,
    imputed: Sequence[int],
) -> Evaluation:
    """Boost and score one ensemble."""
    import xgboost  # an extra, and slow to import

    objective, metric = _OBJECTIVES[_kind(split)]
    parameters = {
        "tree_method": "hist",
        "nthread": 1,
        "verbosity": 0,
        "seed": seed,
        "device": "cuda" if device == "cuda" else "cpu",
        "objective": objective,
        "eval_metric": metric,
        **settings,
    }
    n_rounds = parameters.pop("n_rounds", 2000)
    patience = parameters.pop("patience", 50)
    if _kind(split) == "multiclass":
        parameters["num_class"] = split.n_classes
    train, validation = (
        xgboost.DMatrix(part.X, label=part.y)
        for part in (split.train, split.validation)
    )
    started = time.perf_counter()
    booster = xgboost.train(
        parameters,
        train,
        num_boost_round=n_rounds,
        evals=[(validation, "validation")],
        early_stopping_rounds=patience,
        verbose_eval=False,
    )
    seconds = time.perf_counter() - started
    rounds = (0, booster.best_iteration + 1)

    def scored(part: Part) -> float:
        outputs = booster.predict(xgboost.DMatrix(part.X), iteration_range=rounds)
        shift = 0.5 if _kind(split) == "binary" else 0.0
        return score_part(split, part, outputs - shift)

    test_score, validation_score, *further = map(
        scored, (split.test, split.validation, *imputed_parts(split, imputed))
    )
    return Evaluation(seed, test_score, validation_score, seconds, tuple(further))


def _kind(split: Split) -> str:
    """Return "regression", "binary" or "multiclass"."""
    if split.task == "regression":
        return "regression"
    return "binary" if split.n_classes == 2 else "multiclass"
