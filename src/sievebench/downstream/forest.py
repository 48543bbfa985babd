"""A random forest as the predictor."""

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from sievebench.data import Split
from sievebench.downstream._evaluation import (
    Evaluation,
    Predict,
    evaluate_each,
    outputs_of,
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
    is_regression = split.task == "regression"
    kind = RandomForestRegressor if is_regression else RandomForestClassifier
    arguments = {"n_estimators": 200, "n_jobs": 1, **settings}

    def train(seed: int) -> Predict:
        forest = kind(random_state=seed, **arguments)
        return outputs_of(forest.fit(split.train.X, split.train.y), split)

    return evaluate_each(split, seeds, imputed, train)
