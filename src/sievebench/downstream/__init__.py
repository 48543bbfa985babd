"""Stage 4: a predictor is trained on the kept columns and scored.

One file a predictor, each with `evaluate` and the space a tuner may search.
`PREDICTORS` holds them by the short names of records and tables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sievebench.data import Split
from sievebench.downstream import forest, mlp, xgboost
from sievebench.downstream._evaluation import (
    Evaluate,
    Evaluation,
    constant_answer,
    score,
)
from sievebench.search_space import SearchSpace

__all__ = ["PREDICTORS", "Evaluation", "Predictor", "evaluate", "score"]


@dataclass(frozen=True)
class Predictor:
    """One way to predict from the kept columns."""

    evaluate: Evaluate  # split, settings, seeds, device → one `Evaluation` a seed
    space: SearchSpace  # what a tuner may draw
    # All that `evaluate` takes, so that others are refused before any work; None leaves
    # that to `evaluate`.
    settings: tuple[str, ...] | None = None
    # Whether `evaluate` takes `is_seen`: the seeds then train together though they do
    # not see the same columns.
    stacks_columns: bool = False


PREDICTORS: dict[str, Predictor] = {
    "mlp": Predictor(mlp.evaluate, mlp.SPACE, mlp.SETTINGS, stacks_columns=True),
    "forest": Predictor(forest.evaluate, forest.SPACE, forest.SETTINGS),
    "xgboost": Predictor(xgboost.evaluate, xgboost.SPACE, xgboost.SETTINGS),
}


def evaluate(
    name: str,
    split: Split,
    seeds: Sequence[int],
    *,
    settings: Mapping[str, Any] | None = None,
    device: str = "auto",
    imputed: Sequence[int] = (),
    is_seen: npt.NDArray[np.bool_] | None = None,
) -> list[Evaluation]:
    """Train a predictor on the train part, once a seed, and score it on the test part.

    The split is scaled and has the kept columns only; where none is kept, the score is
    that of the best constant answer. Columns of `imputed` are replaced by their mean in
    the test part, one at a time, for further scores of the same predictor. `is_seen`
    (seeds, columns) marks what the predictor of each seed sees, at least one column;
    it is for predictors with `stacks_columns`.
    """
    if name not in PREDICTORS:
        allowed = ", ".join(PREDICTORS)
        raise ValueError(f"downstream must be one of {allowed}, got {name!r}.")
    if not split.is_scaled:
        raise ValueError("the split must be scaled first: split.scaled().")
    if split.train.X.shape[1] == 0:
        return constant_answer(split, seeds)
    predictor, given = PREDICTORS[name], settings or {}
    known = given if predictor.settings is None else predictor.settings
    if unknown := sorted(set(given) - set(known)):
        raise ValueError(
            f"the predictor {name!r} has no setting {unknown[0]!r}; it has "
            f"{', '.join(known)}."
        )
    # Predictors of one's own need not know of these unless they are asked for.
    further: dict[str, Any] = {"imputed": imputed} if imputed else {}
    if is_seen is not None:
        further["is_seen"] = is_seen
    return predictor.evaluate(split, given, seeds, device, **further)
