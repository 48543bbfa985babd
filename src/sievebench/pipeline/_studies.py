"""What the runs of a cell do, by what they are for."""

from collections.abc import Callable
from dataclasses import replace

from sievebench.pipeline._cell_table import CellTable, table_of
from sievebench.pipeline._removal import remove_columns
from sievebench.pipeline._runs import run_seeds
from sievebench.pipeline._timing import time_seeds
from sievebench.run_spec import RunSpec
from sievebench.store import RunResult
from sievebench.tuning import Settings

# Called with a cell, its table and settings; returns one result a seed.
Study = Callable[[RunSpec, CellTable, Settings], tuple[RunResult, ...]]

# Experiments whose runs are not just selected and predicted.
STUDIES: dict[str, Study] = {"removal": remove_columns, "scaling": time_seeds}


def run_splits(spec: RunSpec, settings: Settings) -> tuple[RunResult, ...]:
    """Run all seeds on one split, or each on its own."""
    run = STUDIES.get(spec.experiment, run_seeds)
    if not spec.splits_anew:
        return run(spec, table_of(spec, spec.seeds[0]), settings)
    return tuple(
        result
        for seed in spec.seeds
        for result in run(replace(spec, seeds=(seed,)), table_of(spec, seed), settings)
    )
