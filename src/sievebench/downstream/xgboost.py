"""Boosted trees as the predictor, stopped by the validation part."""

from collections.abc import Mapping, Sequence
from typing import Any

from sievebench.data import Split
from sievebench.downstream._evaluation import Evaluation, Predict, evaluate_each
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
    import xgboost  # an extra, and slow to import

    kind = "binary" if split.n_classes == 2 else "multiclass"
    kind = "regression" if split.task == "regression" else kind
    objective, metric = _OBJECTIVES[kind]
    parameters = {
        "tree_method": "hist",
        "nthread": 1,
        "verbosity": 0,
        "device": "cuda" if device == "cuda" else "cpu",
        "objective": objective,
        "eval_metric": metric,
        **({"num_class": split.n_classes} if kind == "multiclass" else {}),
        **settings,
    }
    n_rounds = parameters.pop("n_rounds", 2000)
    patience = parameters.pop("patience", 50)
    rows, validation = (
        xgboost.DMatrix(part.X, label=part.y)
        for part in (split.train, split.validation)
    )

    def train(seed: int) -> Predict:
        booster = xgboost.train(
            {**parameters, "seed": seed},
            rows,
            num_boost_round=n_rounds,
            evals=[(validation, "validation")],
            early_stopping_rounds=patience,
            verbose_eval=False,
        )
        rounds = (0, booster.best_iteration + 1)
        shift = 0.5 if kind == "binary" else 0.0
        return lambda X: (
            booster.predict(xgboost.DMatrix(X), iteration_range=rounds) - shift
        )

    return evaluate_each(split, seeds, imputed, train)
