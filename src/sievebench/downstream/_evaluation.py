"""What a predictor is asked, and what it answers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch

from sievebench.data import Part, Split
from sievebench.downstream._metrics import score


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


def imputed_parts(split: Split, columns: Sequence[int]) -> Iterator[Part]:
    """Yield the test part with one column replaced by its mean in the train part."""
    for column in columns:
        X = split.test.X.copy()
        X[:, column] = split.train.X[:, column].mean()
        yield Part(X, split.test.y)


def score_part(split: Split, part: Part, predictions: npt.NDArray[Any]) -> float:
    """Return the score of one predictor's outputs by the metric of the data set.

    `predictions` (rows,) or (rows, outputs) are as in `_metrics.score`.
    """
    columns = np.asarray(predictions, dtype=np.float64).reshape(len(part.y), -1)
    outputs = torch.from_numpy(columns).unsqueeze(0)
    return float(score(split.metric, outputs, torch.from_numpy(part.y)))


def check_settings(name: str, given: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raise ValueError for a setting that the predictor does not have."""
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ValueError(
            f"the predictor {name!r} has no setting {unknown[0]!r}; it has "
            f"{', '.join(known)}."
        )
