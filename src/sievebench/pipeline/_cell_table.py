"""The table of a cell: loaded, corrupted, split and scaled."""

from dataclasses import dataclass
from functools import lru_cache

from sievebench import corruption, data
from sievebench.data import Split
from sievebench.run_spec import RunSpec
from sievebench.store import DatasetFacts


@dataclass(frozen=True)
class CellTable:
    """A corrupted table in three scaled parts."""

    facts: DatasetFacts
    split: Split


def table_of(spec: RunSpec, repetition: int) -> CellTable:
    """Return the table that a run of the cell sees."""
    return cached_table(
        spec.dataset,
        spec.scenario,
        spec.noise_fraction,
        spec.seed("corruption"),
        spec.seed("split", repetition) or 0,
    )


@lru_cache(maxsize=2)
def cached_table(
    name: str,
    scenario: str,
    noise_fraction: float,
    seed: int | None,
    split_seed: int,
) -> CellTable:
    """Return the corrupted table in parts; a worker's cells often share one."""
    dataset = data.load(name)
    corrupted = corruption.apply(dataset, scenario, noise_fraction, seed)
    facts = DatasetFacts(
        n_rows=corrupted.n_rows,
        n_original=corrupted.n_original,
        n_features=corrupted.n_columns,
        metric=corrupted.metric,
        is_sample=corrupted.is_sample,
        checksum=corrupted.checksum,
    )
    return CellTable(facts, data.split(corrupted, split_seed).scaled())
