"""What a predictor is asked, and what it answers."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch

from sievebench.data import Matrix, Part, Split
from sievebench.downstream._metrics import score

# Features of some rows -> outputs as in `score_part`.
Predict = Callable[[Matrix], npt.NDArray[Any]]


@dataclass(frozen=True)
class Evaluation:
    """What one trained predictor is worth."""

    seed: int
    score: float  # on the test part, larger = better
    validation_score: float  # on the validation part, which also decided when to stop
    seconds: float  # of training; shared equally among the members of a stack
    # On the test part with one column replaced by its mean, for each column asked for.
    imputed_scores: tuple[float, ...] = ()


class Evaluate(Protocol):
    """Called with a scaled split, settings, seeds and the name of a torch device."""

    def __call__(
        self,
        split: Split,
        settings: Mapping[str, Any],
        seeds: Sequence[int],
        device: str,
        *,
        imputed: Sequence[int] = (),
    ) -> list[Evaluation]:
        """Return one evaluation a seed."""


def evaluate_each(
    split: Split,
    seeds: Sequence[int],
    imputed: Sequence[int],
    train: Callable[[int], Predict],
) -> list[Evaluation]:
    """Train a predictor for each seed, and score it, also with columns imputed."""
    parts = [split.test, split.validation]
    for column in imputed:
        X = split.test.X.copy()
        X[:, column] = split.train.X[:, column].mean()
        parts.append(Part(X, split.test.y))
    found = []
    for seed in seeds:
        started = time.perf_counter()
        predict = train(seed)
        seconds = time.perf_counter() - started
        test, validation, *further = (
            score_part(split, part, predict(part.X)) for part in parts
        )
        found.append(Evaluation(seed, test, validation, seconds, tuple(further)))
    return found


def outputs_of(model: Any, split: Split) -> Predict:
    """Return what an estimator of scikit-learn predicts, as `score_part` takes it."""
    if split.task == "regression":
        return lambda X: np.asarray(model.predict(X))

    def classes(X: Matrix) -> Matrix:
        shares = np.zeros((len(X), split.n_classes))
        shares[:, model.classes_] = model.predict_proba(X)
        return shares[:, 1] - 0.5 if split.n_classes == 2 else shares

    return classes


def score_part(split: Split, part: Part, predictions: npt.NDArray[Any]) -> float:
    """Return the score of one predictor's outputs by the metric of the data set.

    `predictions` (rows,) or (rows, outputs) are as in `_metrics.score`.
    """
    columns = np.asarray(predictions, dtype=np.float64).reshape(len(part.y), -1)
    outputs = torch.from_numpy(columns).unsqueeze(0)
    return float(score(split.metric, outputs, torch.from_numpy(part.y)))
