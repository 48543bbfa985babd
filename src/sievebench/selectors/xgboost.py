"""XGBoost: average gain of the splits of boosted trees."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from featuresieve.engine import resolve_device
from sievebench.checks import check_integer
from sievebench.search_space import Integer, LogUniform, SearchSpace, Uniform, ZeroOr
from sievebench.selectors._scored_selector import (
    FitData,
    ScoredSelector,
    Scores,
    require,
)


@dataclass(kw_only=True, eq=False, repr=False)
class XGBoost(ScoredSelector):
    """Score columns by the average gain of the splits that use them.

    Needs the package xgboost (or xgboost-cpu), in the extra `lab`.

    Parameters
    ----------
    n_estimators : int, default=2000
        Most rounds of boosting.
    early_stopping_rounds : int, default=50
        Stop after so many rounds without a better loss on the rows set aside.
    validation_fraction : float, default=0.2
        Fraction of the rows set aside, at most 0.5.
    max_depth : int, default=6
        Greatest depth of a tree.
    learning_rate : float, default=0.3
        Shrinkage of each round.
    min_child_weight : float, default=1.0
        Least sum of second derivatives in a leaf.
    subsample, colsample_bytree : float, default=1.0
        Fraction of the rows, and of the columns, each tree sees.
    gamma : float, default=0.0
        Least gain of a split.
    reg_lambda : float, default=1.0
        L2 penalty on the values of the leaves.
    n_jobs : int or None, default=None
        Threads; None leaves it to xgboost.
    device : str, default="cpu"
        Where the trees grow: "cpu", "cuda", or "auto" for CUDA where it is and xgboost
        is built for it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Average gain, normalised to sum to 1; 0 for columns no split uses.
    n_rounds_ : int
        Rounds of boosting done, the last ones without improvement included.

    Notes
    -----
    The scores are those of all rounds done, as in the benchmark the paper extends, not
    only of those up to the best one. Missing values (NaN) are allowed.
    """

    allows_nan: ClassVar[bool] = True
    example: ClassVar[Mapping[str, Any]] = {"n_estimators": 20}
    # The benchmark's space.
    space: ClassVar[SearchSpace] = {
        "max_depth": Integer(3, 10),
        "min_child_weight": LogUniform(1e-8, 1e5),
        "subsample": Uniform(0.5, 1.0),
        "colsample_bytree": Uniform(0.5, 1.0),
        "learning_rate": LogUniform(1e-5, 1.0),
        "gamma": ZeroOr(LogUniform(1e-3, 1e2)),
        "reg_lambda": ZeroOr(LogUniform(0.1, 10.0)),
    }

    n_estimators: int = 2000
    early_stopping_rounds: int = 50
    validation_fraction: float = 0.2
    max_depth: int = 6
    learning_rate: float = 0.3
    min_child_weight: float = 1.0
    subsample: float = 1.0
    colsample_bytree: float = 1.0
    gamma: float = 0.0
    reg_lambda: float = 1.0
    n_jobs: int | None = None
    device: str = "cpu"

    def _score_columns(self, data: FitData) -> Scores:
        check_integer("n_estimators", self.n_estimators, low=1)
        check_integer("early_stopping_rounds", self.early_stopping_rounds, low=1)
        booster = self._train(data)
        self.n_rounds_ = int(booster.num_boosted_rounds())
        gains = booster.get_score(importance_type="gain")  # keys f0, f1, …
        scores = np.array([gains.get(f"f{j}", 0.0) for j in range(data.X.shape[1])])
        total = scores.sum()
        return np.asarray(scores / total if total > 0 else scores)

    def _train(self, data: FitData) -> Any:
        """Return the booster, stopped early on rows set aside."""
        xgboost = require("xgboost", "XGBoost")
        parameters = {
            **_objective(data),
            **{name: getattr(self, name) for name in self.space},
            "tree_method": "hist",
            "device": _device(self.device, xgboost),
            "nthread": 0 if self.n_jobs is None else self.n_jobs,
            "seed": data.seed,
            "verbosity": 0,
        }
        learnt, judged = data.parts(self.validation_fraction)
        return xgboost.train(
            parameters,
            xgboost.DMatrix(learnt.X, learnt.y),
            num_boost_round=self.n_estimators,
            evals=[(xgboost.DMatrix(judged.X, judged.y), "held_out")],
            early_stopping_rounds=self.early_stopping_rounds,
            verbose_eval=False,
        )


def _device(wanted: str, xgboost: Any) -> str:
    """Return xgboost's name of the device."""
    is_built_for_it = bool(xgboost.build_info()["USE_CUDA"])
    if wanted == "auto":
        known = "auto" if is_built_for_it else "cpu"
        return resolve_device(known, needs_float64=True).type
    if wanted.startswith("cuda") and not is_built_for_it:
        raise ValueError(
            f"device={wanted!r}: this xgboost has no CUDA; use 'cpu' or 'auto'."
        )
    return wanted


def _objective(data: FitData) -> dict[str, Any]:
    """Return xgboost's name of the loss; all classes, also those not in every part."""
    if data.is_regression:
        return {"objective": "reg:squarederror"}
    n_classes = int(data.y.max()) + 1
    if n_classes == 2:
        return {"objective": "binary:logistic"}
    return {"objective": "multi:softprob", "num_class": n_classes}
