"""What a cell names: whether all of it exists, and its table, ready for use."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache

from featuresieve.errors import did_you_mean
from sievebench import corruption, data
from sievebench.corruption import SCENARIOS, n_extra_columns
from sievebench.data import Split, find_entry
from sievebench.downstream import PREDICTORS
from sievebench.run_spec import NO_PREDICTOR, RunSpec
from sievebench.selectors import SELECTORS
from sievebench.store import DatasetFacts

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
    _check_name("scenario", spec.scenario, SCENARIOS)
    n_extra_columns(1, spec.noise_fraction)
    _check_name("selector", spec.selector_name, SELECTORS)
    arguments = set(SELECTORS[spec.selector_name]().get_params()) - _DECIDED
    _check_settings(
        f"selector {spec.selector_name!r}", spec.selector_settings, arguments
    )
    if spec.downstream == NO_PREDICTOR:
        return
    _check_name("downstream", spec.downstream, PREDICTORS)
    settings = PREDICTORS[spec.downstream].settings
    if settings is not None:
        for given in (spec.downstream_settings, *spec.predictors):
            _check_settings(f"downstream {spec.downstream!r}", given, settings)


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


def _check_name(what: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise ValueError(f"there is no {what} {name!r}{did_you_mean(name, known)}")


def _check_settings(whose: str, given: Iterable[str], known: Collection[str]) -> None:
    for name in given:
        if name not in known:
            raise ValueError(
                f"{whose} has no setting {name!r}{did_you_mean(name, sorted(known))}"
            )
