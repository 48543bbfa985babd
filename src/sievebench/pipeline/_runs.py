"""The runs of most experiments: select and predict, once a seed."""

from collections.abc import Mapping
from functools import partial

from sievebench.downstream import Evaluation
from sievebench.pipeline._cell_table import CellTable
from sievebench.pipeline._steps import evaluate, select
from sievebench.run_spec import RunSpec
from sievebench.selectors import Selection
from sievebench.stack.side_by_side import side_by_side
from sievebench.store import RunResult
from sievebench.tuning import Settings


def run_seeds(
    spec: RunSpec, table: CellTable, settings: Settings
) -> tuple[RunResult, ...]:
    """Select once a seed; seeds with the same columns are predicted as one stack.

    Parameters
    ----------
    spec : RunSpec
    table : CellTable
    settings : mapping from part to settings

    Returns
    -------
    tuple of RunResult
        One a seed.
    """
    selections = select_seeds(spec, table, settings)
    runs = {}
    for seeds in seeds_alike(selections):
        support = selections[seeds[0]].support
        found = evaluate(spec, table, support, settings["downstream"], seeds)
        for seed, evaluation in zip(seeds, found, strict=True):
            runs[seed] = result_of(table, seed, selections[seed], evaluation)
    return tuple(runs[seed] for seed in spec.seeds)


def select_seeds(
    spec: RunSpec, table: CellTable, settings: Settings
) -> dict[int, Selection]:
    """Select once a seed, on a GPU side by side.

    Parameters
    ----------
    spec : RunSpec
    table : CellTable
    settings : mapping from part to settings

    Returns
    -------
    dict of seed to Selection
    """
    found = side_by_side(
        [
            partial(select, spec, table, settings["selector"], seed)
            for seed in spec.seeds
        ],
        spec.device,
    )
    return dict(zip(spec.seeds, found, strict=True))


def seeds_alike(selections: Mapping[int, Selection]) -> list[list[int]]:
    """Return the seeds, those with the same columns together.

    Parameters
    ----------
    selections : mapping from seed to Selection

    Returns
    -------
    list of list of int
    """
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
    """Return what a run says.

    Parameters
    ----------
    table : CellTable
    seed : int
        Of the run.
    selection : Selection
    evaluation : Evaluation or None, default=None
        None where nothing is predicted.

    Returns
    -------
    RunResult
    """
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
