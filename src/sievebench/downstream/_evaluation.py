"""What a predictor is asked, and what it answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from sievebench.data import Part, Split
from sievebench.downstream._metrics import score


@dataclass(frozen=True)
class Evaluation:
    """What one trained predictor is worth.

    Attributes
    ----------
    seed : int
    score : float
        On the test part, larger = better.
    validation_score : float
        On the validation part, which also decided when to stop.
    seconds : float
        Of training; shared equally among the members of a stack.
    """

    seed: int
    score: float
    validation_score: float
    seconds: float


# Called with a scaled split, settings, seeds and the name of a torch device.
Evaluate = Callable[[Split, Mapping[str, Any], Sequence[int], str], list[Evaluation]]


def score_part(split: Split, part: Part, predictions: npt.NDArray[Any]) -> float:
    """Return the score of one predictor's outputs by the metric of the data set.

    Parameters
    ----------
    split : Split
    part : Part
        The rows the outputs belong to.
    predictions : ndarray of shape (rows,) or (rows, outputs)
        As in `score`, for one member.

    Returns
    -------
    float
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
