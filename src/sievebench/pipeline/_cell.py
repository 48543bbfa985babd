"""What a cell names, its table, and the two steps of every run: select and predict."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from featuresieve.errors import did_you_mean
from sievebench import corruption, data, downstream, selectors
from sievebench.corruption import SCENARIOS, n_extra_columns
from sievebench.data import Split, find_entry
from sievebench.downstream import PREDICTORS
from sievebench.run_spec import NO_PREDICTOR, RunSpec
from sievebench.selectors import SELECTORS, Selection
from sievebench.store import DatasetFacts
from sievebench.tuning import Settings

# Arguments of selectors that a run decides by itself.
_DECIDED = {"n_features_to_select", "device"}


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
        spec.seed("corruption", repetition),
        spec.seed("split", repetition) or 0,
        has_groups=spec.stream == "fresh",
    )


@lru_cache(maxsize=2)
def cached_table(
    name: str,
    scenario: str,
    noise_fraction: float,
    seed: int | None,
    split_seed: int,
    *,
    has_groups: bool = False,
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
    groups = dataset.groups() if has_groups else None
    return CellTable(facts, data.split(corrupted, split_seed, groups).scaled())


def check_components(spec: RunSpec) -> None:
    """Refuse names and settings that nobody knows."""
    _check("there is no scenario", [spec.scenario], SCENARIOS)
    n_extra_columns(1, spec.noise_fraction)
    name = spec.selector_name
    _check("there is no selector", [name], SELECTORS)
    arguments = sorted({*SELECTORS[name]().get_params()} - _DECIDED)
    _check(f"selector {name!r} has no setting", spec.selector_settings, arguments)
    name = spec.downstream
    if name == NO_PREDICTOR:
        return
    _check("there is no downstream", [name], PREDICTORS)
    settings = PREDICTORS[name].settings
    if settings is not None:
        for given in (spec.downstream_settings, *spec.predictors):
            _check(f"downstream {name!r} has no setting", given, sorted(settings))


def check_table(spec: RunSpec) -> None:
    """Refuse a data set that nobody knows, and more columns to keep than it has."""
    n_columns = find_entry(spec.dataset).n_columns
    if spec.scenario != "none":
        n_columns += n_extra_columns(n_columns, spec.noise_fraction)
    if isinstance(spec.keep, int) and spec.keep > n_columns:
        raise ValueError(
            f"keep must be at most {n_columns}, the columns of {spec.dataset!r} in "
            f"scenario {spec.scenario!r}, got {spec.keep} for selector "
            f"{spec.selector!r}."
        )


def _check(said: str, names: Iterable[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise ValueError(f"{said} {name!r}{did_you_mean(name, known)}")


# What has settings.
PARTS = ("selector", "downstream")
# As in the benchmark, settings are judged by one seed that is none of the runs'.
SPARE_REPETITION = -1


def own_settings(spec: RunSpec) -> Settings:
    """Return the settings before tuning."""
    return {part: getattr(spec, f"{part}_settings") for part in PARTS}


def merged(settings: Settings, tuned: Settings) -> Settings:
    """Return tuned settings, and on top of them those that were given."""
    return {part: {**tuned.get(part, {}), **settings[part]} for part in settings}


def select(
    spec: RunSpec, table: CellTable, settings: Mapping[str, Any], repetition: int
) -> Selection:
    """Fit the selector on the train part."""
    return selectors.select(
        spec.selector_name,
        table.split,
        keep=_n_to_keep(spec, table.facts.n_original),
        seed=spec.seed("selector", repetition),
        settings=settings,
        device=spec.device,
    )


def evaluate(
    spec: RunSpec,
    table: CellTable,
    supports: Sequence[npt.NDArray[np.bool_]],
    settings: Mapping[str, Any],
    repetitions: Sequence[int],
    *,
    imputed: Sequence[int] = (),
) -> list[downstream.Evaluation]:
    """Train the predictor on the columns that each run keeps, as one stack if it can.

    Supports may only differ where the predictor stacks columns, and then none is empty.
    A run is the same in any stack but for rounding, which a long training amplifies as
    it does any other change of the last digit.

    The benchmark scales the kept columns anew. A column's scale depends on no other
    column, but for the numbers that its jitter of 1e-3 takes from a common stream: so
    this is the same up to that, and saves seconds a trial.
    """
    every = np.stack(supports)
    some = np.asarray(every.any(axis=0))
    is_seen = every[:, some]
    return downstream.evaluate(
        spec.downstream,
        table.split.keep(some),
        [spec.seed("downstream", repetition) or 0 for repetition in repetitions],
        settings=settings,
        device=spec.device,
        imputed=imputed,
        is_seen=None if is_seen.all() else is_seen,
    )


def _n_to_keep(spec: RunSpec, n_original: int) -> float | str:
    keep: str | int = spec.keep
    if keep == "default":
        keep = {"none": "all", "autonfs": "own"}.get(spec.selector_name, "original")
    counts: dict[str, float | str] = {"original": n_original, "own": "auto", "all": 1.0}
    return keep if isinstance(keep, int) else counts[keep]
