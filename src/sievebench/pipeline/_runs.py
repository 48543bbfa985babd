"""The runs of most experiments: select and predict, once a seed, or only select."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from statistics import fmean
from typing import Any

import numpy as np

from sievebench.downstream import PREDICTORS, Evaluation
from sievebench.pipeline._cell import SPARE_REPETITION, CellTable, evaluate, select
from sievebench.run_spec import RunSpec
from sievebench.selectors import Selection
from sievebench.stack.on_gpu import side_by_side
from sievebench.store import RunResult
from sievebench.tuning import Settings


def run_seeds(
    spec: RunSpec, table: CellTable, settings: Settings
) -> tuple[RunResult, ...]:
    """Select once a seed, then predict: if the predictor can, all seeds as one stack.

    With several predictors a run has the mean of their scores.
    """
    selections = select_seeds(spec, table, settings)
    stacks = _stacks(spec, selections)
    predictors = spec.predictors or (settings["downstream"],)
    trainings = list(product(stacks, predictors))

    def train(seeds: list[int], predictor: Mapping[str, Any]) -> list[Evaluation]:
        supports = [selections[seed].support for seed in seeds]
        return evaluate(spec, table, supports, predictor, seeds)

    work = [partial(train, *training) for training in trainings]
    found = side_by_side(work, spec.device)
    by_seed: dict[int, list[Evaluation]] = {seed: [] for seed in spec.seeds}
    for (seeds, _), evaluations in zip(trainings, found, strict=True):
        for seed, evaluation in zip(seeds, evaluations, strict=True):
            by_seed[seed].append(evaluation)
    return tuple(
        result_of(table, seed, selections[seed], by_seed[seed]) for seed in spec.seeds
    )


def time_seeds(
    spec: RunSpec, table: CellTable, settings: Settings
) -> tuple[RunResult, ...]:
    """Select once a seed, one after the other, and predict nothing.

    A selection before them is not counted: the first one of a process also loads
    libraries and, on a GPU, kernels.
    """
    select(spec, table, settings["selector"], SPARE_REPETITION)
    return tuple(
        result_of(table, seed, select(spec, table, settings["selector"], seed))
        for seed in spec.seeds
    )


def _stacks(spec: RunSpec, selections: Mapping[int, Selection]) -> list[list[int]]:
    """Return the seeds, those that are predicted together in one list."""
    if not PREDICTORS[spec.downstream].stacks_columns:
        return seeds_alike(selections)
    kept = [seed for seed in spec.seeds if selections[seed].support.any()]
    # What keeps nothing has a constant for a predictor.
    empty = [seed for seed in spec.seeds if seed not in kept]
    return [seeds for seeds in (kept, empty) if seeds]


def select_seeds(
    spec: RunSpec, table: CellTable, settings: Settings
) -> dict[int, Selection]:
    """Select once a seed, on a GPU side by side; or take what was kept elsewhere."""
    if spec.given:
        n_columns = table.facts.n_features
        return {
            seed: _given(columns, n_columns)
            for seed, columns in zip(spec.seeds, spec.given, strict=True)
        }
    work = [
        partial(select, spec, table, settings["selector"], seed) for seed in spec.seeds
    ]
    return dict(zip(spec.seeds, side_by_side(work, spec.device), strict=True))


def _given(columns: tuple[int, ...], n_columns: int) -> Selection:
    """Return a selection that was made elsewhere."""
    if columns and not 0 <= min(columns) <= max(columns) < n_columns:
        raise ValueError(
            f"given must name columns from 0 to {n_columns - 1}, got {columns!r}."
        )
    support = np.zeros(n_columns, dtype=bool)
    support[list(columns)] = True
    return Selection(support, support.astype(np.float64), seconds=0.0)


def seeds_alike(selections: Mapping[int, Selection]) -> list[list[int]]:
    """Return the seeds, those with the same columns together."""
    seeds_of: dict[bytes, list[int]] = {}
    for seed, selection in selections.items():
        seeds_of.setdefault(selection.support.tobytes(), []).append(seed)
    return list(seeds_of.values())


def result_of(
    table: CellTable,
    seed: int,
    selection: Selection,
    evaluations: Sequence[Evaluation] = (),
) -> RunResult:
    """Return what a run says: the mean scores of its predictors, if it has any."""
    kept = selection.support.nonzero()[0]
    scores = [found.score for found in evaluations]
    validation_scores = [found.validation_score for found in evaluations]
    return RunResult(
        seed=seed,
        score=fmean(scores) if scores else None,
        validation_score=fmean(validation_scores) if scores else None,
        kept=tuple(kept.tolist()),
        n_added_kept=int((~table.split.is_original[kept]).sum()),
        selector_seconds=selection.seconds,
        downstream_seconds=sum((found.seconds for found in evaluations), 0.0),
        predictor_scores=tuple(scores) if len(scores) > 1 else (),
        decision=selection.decision,
    )
