"""The runs of a cell: select, and predict from what is kept, or all but one of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt

from featuresieve.engine import resolve_device
from sievebench.downstream import PREDICTORS, Evaluation
from sievebench.pipeline._cell import SPARE_REPETITION, CellTable, evaluate, select
from sievebench.run_spec import RunSpec
from sievebench.selectors import Selection
from sievebench.stack.on_gpu import side_by_side
from sievebench.store import Removal, RunResult
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


Support = npt.NDArray[np.bool_]

# On a GPU: columns whose removal is tried in one stack, and stacks trained at a time.
_STACKED, _AT_ONCE = 5, 4


def remove_columns(
    spec: RunSpec, table: CellTable, settings: Settings
) -> tuple[RunResult, ...]:
    """Select once a seed, then predict from all kept columns and from all but one."""
    selections = select_seeds(spec, table, settings)
    (own,) = spec.predictors or (settings["downstream"],)
    runs = {}
    for seeds in seeds_alike(selections):
        support = selections[seeds[0]].support
        columns = _columns_to_remove(spec, support)
        indices = np.searchsorted(np.flatnonzero(support), columns).tolist()
        supports = [support] * len(seeds)
        whole = evaluate(spec, table, supports, own, seeds, imputed=indices)
        without = _retrained(spec, table, support, columns, own, seeds)
        for i, seed in enumerate(seeds):
            removals = tuple(
                Removal(column, without[k][i].score, whole[i].imputed_scores[k])
                for k, column in enumerate(columns)
            )
            run = result_of(table, seed, selections[seed], whole[i : i + 1])
            runs[seed] = replace(run, removals=removals)
    return tuple(runs[seed] for seed in spec.seeds)


def _columns_to_remove(spec: RunSpec, support: Support) -> list[int]:
    """Return the kept columns, or the first of one order for all runs of a table."""
    generator = np.random.default_rng(spec.seed("removal"))
    order = generator.permutation(len(support))
    kept: list[int] = order[support[order]].tolist()
    return sorted(kept[: spec.n_removed])


def members_at_once(spec: RunSpec) -> int:
    """Return of how many columns the removal is tried in one stack.

    All members train until the last one stops, which a GPU hardly notices. Where
    nothing is left without a column, it is the only one, and in no stack.
    """
    is_on_gpu = resolve_device(spec.device, needs_float64=True).type == "cuda"
    return _STACKED if is_on_gpu and PREDICTORS[spec.downstream].stacks_columns else 1


def _retrained(
    spec: RunSpec,
    table: CellTable,
    support: Support,
    columns: Sequence[int],
    settings: Mapping[str, Any],
    seeds: Sequence[int],
) -> list[list[Evaluation]]:
    """Return what predictors without each column are worth, one a seed."""
    n_stacked = members_at_once(spec)

    def without(some: Sequence[int]) -> list[list[Evaluation]]:
        rests = np.tile(support, (len(some), 1))
        rests[np.arange(len(some)), some] = False
        supports = [rest for rest in rests for _ in seeds]
        found = evaluate(spec, table, supports, settings, [*seeds] * len(some))
        return [found[i : i + len(seeds)] for i in range(0, len(found), len(seeds))]

    work = [
        partial(without, columns[start : start + n_stacked])
        for start in range(0, len(columns), n_stacked)
    ]
    found: list[list[Evaluation]] = []
    for start in range(0, len(work), _AT_ONCE):
        for some in side_by_side(work[start : start + _AT_ONCE], spec.device):
            found += some
    return found
