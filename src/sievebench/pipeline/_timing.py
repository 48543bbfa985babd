"""The runs of the scaling experiment: how long one selection takes."""

from sievebench.pipeline._cell_table import CellTable
from sievebench.pipeline._runs import result_of
from sievebench.pipeline._steps import SPARE_REPETITION, select
from sievebench.run_spec import RunSpec
from sievebench.store import RunResult
from sievebench.tuning import Settings


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
