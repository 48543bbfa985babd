"""The runs of the removal experiment: what is lost without one kept column."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from featuresieve.engine import resolve_device
from sievebench.downstream import PREDICTORS, Evaluation
from sievebench.pipeline._cell import CellTable, evaluate
from sievebench.pipeline._runs import result_of, seeds_alike, select_seeds
from sievebench.run_spec import RunSpec
from sievebench.stack.on_gpu import side_by_side
from sievebench.store import Removal, RunResult
from sievebench.tuning import Settings

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
    """Return the kept columns, or some of them: the first ones of a random order.

    The order is one for all selectors and seeds.
    """
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
