"""One cell from name to record: load, corrupt, split, tune, select, predict."""

import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

from sievebench import corruption, data, downstream, selectors
from sievebench.data import MissingDataError, Split
from sievebench.downstream import PREDICTORS
from sievebench.run_spec import RunSpec
from sievebench.search_space import SearchSpace
from sievebench.selectors import SELECTORS, Selection
from sievebench.stack.side_by_side import side_by_side
from sievebench.store import DatasetFacts, RunRecord, RunResult
from sievebench.tuning import (
    NothingWorkedError,
    Settings,
    SharedStudy,
    TuningResult,
    tune,
)

S = TypeVar("S")
T = TypeVar("T")

# As in the benchmark, settings are judged by one seed that is none of the runs'.
_TUNING_REPETITION = -1


@dataclass(frozen=True)
class _Table:
    """A corrupted table in three scaled parts."""

    facts: DatasetFacts
    split: Split


def run_one(spec: RunSpec, *, journal: Path | SharedStudy | None = None) -> RunRecord:
    """Run a cell; whatever happens is a record.

    Parameters
    ----------
    spec : RunSpec
    journal : Path, SharedStudy or None, default=None
        Where the trials of tuning are remembered.

    Returns
    -------
    RunRecord
    """
    started = time.perf_counter()
    known: dict[str, Any] = {}
    try:
        _check_names(spec)
        table = _table_of(spec, spec.seeds[0])
        known["facts"] = table.facts
        reason = _reason_to_skip(spec, table.split)
        if reason:
            return RunRecord(spec, "skipped", reason=reason, **known)
        settings = _own_settings(spec)
        if spec.n_trials:
            tuned = _tune(spec, table, journal)
            known["tuning"] = vars(tuned)
            settings = _merged(settings, tuned.settings)
        runs = _run_splits(spec, settings)
        seconds = time.perf_counter() - started
        return RunRecord(spec, "done", runs=runs, seconds=seconds, **known)
    except MissingDataError as error:
        return RunRecord(spec, "skipped", reason=_one_line(error))
    except Exception as error:  # a failure is a record
        seconds = time.perf_counter() - started
        return RunRecord(
            spec,
            "failed",
            reason=_one_line(error),
            details=traceback.format_exc(),
            seconds=seconds,
            **known,
        )


def _check_names(spec: RunSpec) -> None:
    """Raise ValueError for a name that is in no registry."""
    for name, allowed in (
        (spec.selector_name, SELECTORS),
        (spec.downstream, PREDICTORS),
    ):
        if name not in allowed:
            raise ValueError(f"{name!r} must be one of {', '.join(allowed)}.")


def _table_of(spec: RunSpec, repetition: int) -> _Table:
    """Return the table that a run of the cell sees."""
    return _table(
        spec.dataset,
        spec.scenario,
        spec.noise_fraction,
        spec.seed("corruption"),
        spec.seed("split", repetition) or 0,
    )


@lru_cache(maxsize=2)
def _table(
    name: str,
    scenario: str,
    noise_fraction: float,
    seed: int | None,
    split_seed: int,
) -> _Table:
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
    return _Table(facts, data.split(corrupted, split_seed).scaled())


def _reason_to_skip(spec: RunSpec, split: Split) -> str:
    """Say why a cell cannot be run, nothing if it can."""
    kind = SELECTORS[spec.selector_name]
    if split.task not in kind.supported_tasks:
        return f"{spec.selector_name} does not do {split.task}"
    if spec.keep == "own" and not kind.has_automatic_count:
        return f"{spec.selector_name} does not choose the number of columns itself"
    return ""


def _n_to_keep(spec: RunSpec, n_original: int) -> int | float | str:
    """Return the selector's `n_features_to_select`."""
    if isinstance(spec.keep, int):
        return spec.keep
    keep: str = spec.keep
    if keep == "default":
        keep = {"none": "all", "autonfs": "own"}.get(spec.selector_name, "original")
    counts: dict[str, int | float | str] = {
        "original": n_original,
        "own": "auto",
        "all": 1.0,
    }
    return counts[keep]


def _own_settings(spec: RunSpec) -> Settings:
    """Return the settings before tuning."""
    return {
        "selector": spec.selector_settings,
        "downstream": spec.downstream_settings,
    }


def _merged(settings: Settings, tuned: Settings) -> Settings:
    """Return settings with the tuned ones on top."""
    return {part: {**settings[part], **tuned.get(part, {})} for part in settings}


def _tune(
    spec: RunSpec, table: _Table, journal: Path | SharedStudy | None
) -> TuningResult:
    """Search the settings of selector and predictor together, but for those given."""
    spaces = {
        "downstream": _without(
            PREDICTORS[spec.downstream].space, spec.downstream_settings
        )
    }
    if spec.tunes_selector:
        spaces["selector"] = _without(
            SELECTORS[spec.selector_name].search_space(), spec.selector_settings
        )
    judge = _Judge(spec, table)
    try:
        return tune(
            spaces,
            judge,
            n_trials=spec.n_trials,
            seed=spec.seed("tuning"),
            journal=journal,
            batch_size=spec.trials_at_once,
            max_seconds=spec.tuning_seconds,
        )
    except NothingWorkedError as error:
        raise ValueError(f"{error} The last one: {judge.problems[-1:]}") from error


def _without(space: SearchSpace, given: Mapping[str, Any]) -> SearchSpace:
    """Return what is left to search."""
    return {name: choice for name, choice in space.items() if name not in given}


class _Judge:
    """Say what settings are worth on the validation part, those of a batch together.

    Attributes
    ----------
    problems : list of str
        Why settings did not work.
    """

    def __init__(self, spec: RunSpec, table: _Table) -> None:
        self._spec, self._table = spec, table
        # Many trials differ in the predictor's settings only.
        self._selections: dict[str, Selection | None] = {}
        self.problems: list[str] = []

    def __call__(self, batch: Sequence[Settings]) -> list[float | None]:
        """Return one score for each settings, None where they do not work."""
        own, device = _own_settings(self._spec), self._spec.device
        merged = [_merged(own, tuned) for tuned in batch]
        fresh = {
            key: settings["selector"]
            for settings in merged
            if (key := _key_of(settings)) not in self._selections
        }
        found = side_by_side(
            [partial(self._tried, self._select, chosen) for chosen in fresh.values()],
            device,
        )
        self._selections.update(zip(fresh, found, strict=True))
        return side_by_side(
            [partial(self._tried, self._score, settings) for settings in merged],
            device,
        )

    def _tried(self, work: Callable[[S], T], settings: S) -> T | None:
        """Return what comes of it, None if the settings do not work."""
        try:
            return work(settings)
        except (ArithmeticError, RuntimeError, ValueError) as error:
            self.problems.append(_one_line(error))
            return None

    def _select(self, settings: Mapping[str, Any]) -> Selection:
        """Return what the selector says with these settings."""
        return _select(self._spec, self._table, settings, _TUNING_REPETITION)

    def _score(self, settings: Settings) -> float | None:
        """Return the validation score."""
        selection = self._selections[_key_of(settings)]
        if selection is None:
            return None
        (found,) = _evaluate(
            self._spec,
            self._table,
            selection,
            settings["downstream"],
            [_TUNING_REPETITION],
        )
        return found.validation_score


def _key_of(settings: Settings) -> str:
    """Return what the selection depends on."""
    return repr(sorted(settings["selector"].items()))


def _run_splits(spec: RunSpec, settings: Settings) -> tuple[RunResult, ...]:
    """Run all seeds on one split, or each on its own."""
    if not spec.splits_anew:
        return _run_seeds(spec, _table_of(spec, spec.seeds[0]), settings)
    return tuple(
        run
        for seed in spec.seeds
        for run in _run_seeds(
            replace(spec, seeds=(seed,)), _table_of(spec, seed), settings
        )
    )


def _run_seeds(
    spec: RunSpec, table: _Table, settings: Settings
) -> tuple[RunResult, ...]:
    """Select once a seed; seeds with the same columns are predicted as one stack."""
    found_by_seed = side_by_side(
        [
            partial(_select, spec, table, settings["selector"], seed)
            for seed in spec.seeds
        ],
        spec.device,
    )
    selections = dict(zip(spec.seeds, found_by_seed, strict=True))
    seeds_of: dict[bytes, list[int]] = {}
    for seed, selection in selections.items():
        seeds_of.setdefault(selection.support.tobytes(), []).append(seed)
    runs = {}
    for seeds in seeds_of.values():
        selection = selections[seeds[0]]
        found = _evaluate(spec, table, selection, settings["downstream"], seeds)
        for seed, evaluation in zip(seeds, found, strict=True):
            kept = selection.support.nonzero()[0]
            runs[seed] = RunResult(
                seed=seed,
                score=evaluation.score,
                validation_score=evaluation.validation_score,
                kept=tuple(kept.tolist()),
                n_added_kept=int((~table.split.is_original[kept]).sum()),
                selector_seconds=selections[seed].seconds,
                downstream_seconds=evaluation.seconds,
            )
    return tuple(runs[seed] for seed in spec.seeds)


def _select(
    spec: RunSpec, table: _Table, settings: Mapping[str, Any], repetition: int
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


def _evaluate(
    spec: RunSpec,
    table: _Table,
    selection: Selection,
    settings: Mapping[str, Any],
    repetitions: Sequence[int],
) -> list[downstream.Evaluation]:
    """Train the predictor on the kept columns.

    The benchmark scales them anew. A column's scale depends on no other column, but for
    the numbers that its jitter of 1e-3 takes from a common stream: so this is the same
    up to that, and saves seconds a trial.
    """
    kept = table.split.keep(selection.support)
    seeds = [spec.seed("downstream", repetition) or 0 for repetition in repetitions]
    return downstream.evaluate(
        spec.downstream, kept, seeds, settings=settings, device=spec.device
    )


def _one_line(error: Exception) -> str:
    """Return kind and message of an error."""
    text = " ".join(str(error).split()) or "no message"
    return f"{type(error).__name__}: {text}"
