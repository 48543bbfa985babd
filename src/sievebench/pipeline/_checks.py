"""Whether everything that a cell names exists."""

from collections.abc import Collection, Iterable

from featuresieve.errors import did_you_mean
from sievebench.corruption import SCENARIOS, n_extra_columns
from sievebench.data import find_entry
from sievebench.downstream import PREDICTORS
from sievebench.run_spec import NO_PREDICTOR, RunSpec
from sievebench.selectors import SELECTORS

# Arguments of selectors that a run decides by itself.
_DECIDED = {"n_features_to_select", "device"}


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
    """Refuse a name that is in no registry."""
    if name not in known:
        raise ValueError(f"there is no {what} {name!r}{did_you_mean(name, known)}")


def _check_settings(whose: str, given: Iterable[str], known: Collection[str]) -> None:
    """Refuse settings that a selector or predictor does not have."""
    for name in given:
        if name not in known:
            raise ValueError(
                f"{whose} has no setting {name!r}{did_you_mean(name, sorted(known))}"
            )
