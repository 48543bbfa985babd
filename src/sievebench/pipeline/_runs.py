"""The runs of most experiments: select and predict, once a seed."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from statistics import fmean

import numpy as np

from sievebench.downstream import PREDICTORS, Evaluation
from sievebench.pipeline._cell_table import CellTable
from sievebench.pipeline._steps import evaluate_together, select
from sievebench.run_spec import RunSpec
from sievebench.selectors import Selection
from sievebench.stack.side_by_side import side_by_side
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
    found = side_by_side(
        [
            partial(
                evaluate_together,
                spec,
                table,
                [selections[seed].support for seed in seeds],
                predictor,
                seeds,
            )
            for seeds, predictor in trainings
        ],
        spec.device,
    )
    by_seed: dict[int, list[Evaluation]] = {seed: [] for seed in spec.seeds}
    for (seeds, _), evaluations in zip(trainings, found, strict=True):
        for seed, evaluation in zip(seeds, evaluations, strict=True):
            by_seed[seed].append(evaluation)
    return tuple(
        replace(
            result_of(table, seed, selections[seed], _mean(by_seed[seed])),
            predictor_scores=_scores(by_seed[seed]),
        )
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


def _scores(evaluations: list[Evaluation]) -> tuple[float, ...]:
    """Return the scores that a mean is made of; nothing of a single one."""
    if len(evaluations) == 1:
        return ()
    return tuple(found.score for found in evaluations)


def _mean(evaluations: list[Evaluation]) -> Evaluation:
    """Return the mean scores of several predictors, and their seconds in all."""
    if len(evaluations) == 1:
        return evaluations[0]
    return replace(
        evaluations[0],
        score=fmean(found.score for found in evaluations),
        validation_score=fmean(found.validation_score for found in evaluations),
        seconds=sum(found.seconds for found in evaluations),
    )


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
    found = side_by_side(
        [
            partial(select, spec, table, settings["selector"], seed)
            for seed in spec.seeds
        ],
        spec.device,
    )
    return dict(zip(spec.seeds, found, strict=True))


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
    evaluation: Evaluation | None = None,
) -> RunResult:
    """Return what a run says."""
    kept = selection.support.nonzero()[0]
    return RunResult(
        seed=seed,
        score=evaluation.score if evaluation else None,
        validation_score=evaluation.validation_score if evaluation else None,
        kept=tuple(kept.tolist()),
        n_added_kept=int((~table.split.is_original[kept]).sum()),
        selector_seconds=selection.seconds,
        downstream_seconds=evaluation.seconds if evaluation else 0.0,
    )
