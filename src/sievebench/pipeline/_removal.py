"""The runs of the removal experiment: what is lost without one kept column."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from sievebench.downstream import Evaluation
from sievebench.pipeline._cell_table import CellTable
from sievebench.pipeline._runs import result_of, seeds_alike, select_seeds
from sievebench.pipeline._steps import evaluate
from sievebench.run_spec import RunSpec
from sievebench.stack.side_by_side import side_by_side
from sievebench.store import Removal, RunResult
from sievebench.tuning import Settings

Support = npt.NDArray[np.bool_]

# Predictors that a GPU trains at the same time.
_AT_ONCE = 8


def remove_columns(
    spec: RunSpec, table: CellTable, settings: Settings
) -> tuple[RunResult, ...]:
    """Select once a seed, then predict from all kept columns and from all but one.

    Parameters
    ----------
    spec : RunSpec
    table : CellTable
    settings : mapping from part to settings

    Returns
    -------
    tuple of RunResult
        One a seed; its score is that of all kept columns.
    """
    selections = select_seeds(spec, table, settings)
    own = settings["downstream"]
    runs = {}
    for seeds in seeds_alike(selections):
        support = selections[seeds[0]].support
        columns = _columns_to_remove(spec, support)
        places = np.searchsorted(np.flatnonzero(support), columns).tolist()
        whole = evaluate(spec, table, support, own, seeds, imputed=places)
        without = _retrained(spec, table, support, columns, own, seeds)
        for i, seed in enumerate(seeds):
            removals = tuple(
                Removal(column, without[k][i].score, whole[i].imputed_scores[k])
                for k, column in enumerate(columns)
            )
            run = result_of(table, seed, selections[seed], whole[i])
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


def _retrained(
    spec: RunSpec,
    table: CellTable,
    support: Support,
    columns: Sequence[int],
    settings: Mapping[str, Any],
    seeds: Sequence[int],
) -> list[list[Evaluation]]:
    """Return what predictors without each column are worth, one a seed."""

    def without(column: int) -> list[Evaluation]:
        rest = support.copy()
        rest[column] = False
        return evaluate(spec, table, rest, settings, seeds)

    found: list[list[Evaluation]] = []
    for start in range(0, len(columns), _AT_ONCE):
        some = columns[start : start + _AT_ONCE]
        work = [partial(without, column) for column in some]
        found += side_by_side(work, spec.device)
    return found
