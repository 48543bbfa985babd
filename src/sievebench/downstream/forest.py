"""A random forest as the predictor."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from sievebench.data import Part, Split
from sievebench.downstream._evaluation import (
    Evaluation,
    check_settings,
    imputed_parts,
    score_part,
)
from sievebench.search_space import Integer, SearchSpace

SPACE: SearchSpace = {"n_estimators": Integer(10, 2000), "max_depth": Integer(3, 10)}
SETTINGS = ("n_estimators", "max_depth", "min_samples_leaf", "max_features")


def evaluate(
    split: Split,
    settings: Mapping[str, Any],
    seeds: Sequence[int],
    device: str,  # noqa: ARG001
    *,
    imputed: Sequence[int] = (),
) -> list[Evaluation]:
    """Grow one forest a seed, of 200 trees unless settings differ, and score it."""
    check_settings("forest", settings, SETTINGS)
    return [_evaluate_one(split, settings, seed, imputed) for seed in seeds]


def _evaluate_one(
    split: Split, settings: Mapping[str, Any], seed: int, imputed: Sequence[int]
) -> Evaluation:
    """Grow and score one forest."""
    is_regression = split.task == "regression"
    kind = RandomForestRegressor if is_regression else RandomForestClassifier
    arguments = {"n_estimators": 200, "n_jobs": 1, **settings}
    started = time.perf_counter()
    forest = kind(random_state=seed, **arguments).fit(split.train.X, split.train.y)
    seconds = time.perf_counter() - started
    test, validation, *further = (
        score_part(split, part, _outputs(forest, part, split))
        for part in (split.test, split.validation, *imputed_parts(split, imputed))
    )
    return Evaluation(seed, test, validation, seconds, tuple(further))


def _outputs(forest: Any, part: Part, split: Split) -> npt.NDArray[np.float64]:
    """Return values, a number that is positive for the second class, or one a class."""
    if split.task == "regression":
        return np.asarray(forest.predict(part.X))
    shares = np.zeros((len(part.y), split.n_classes))
    shares[:, forest.classes_] = forest.predict_proba(part.X)
    return shares[:, 1] - 0.5 if split.n_classes == 2 else shares
