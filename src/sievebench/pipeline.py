"""One cell from name to record: load, corrupt, split, tune, select, predict."""

import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sievebench import corruption, data, downstream, selectors
from sievebench.data import MissingDataError, Split
from sievebench.downstream import PREDICTORS
from sievebench.run_spec import RunSpec
from sievebench.selectors import SELECTORS, Selection
from sievebench.store import DatasetFacts, RunRecord, RunResult
from sievebench.tuning import NothingWorkedError, Settings, TuningResult, tune

# As in the benchmark, settings are judged by one seed that is none of the runs'.
_TUNING_REPETITION = -1
# Scaling takes seconds on a large table, and trials often keep the same columns.
_MOST_REMEMBERED = 3


@dataclass(frozen=True)
class _Table:
    """A corrupted table in three parts, raw and scaled; and some of its columns."""

    facts: DatasetFacts
    raw: Split
    scaled: Split
    kept: dict[bytes, Split] = field(default_factory=dict)


def run_one(spec: RunSpec, *, journal: Path | None = None) -> RunRecord:
    """Run a cell; whatever happens is a record.

    Parameters
    ----------
    spec : RunSpec
    journal : Path or None, default=None
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
        reason = _reason_to_skip(spec, table.raw)
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
    raw = data.split(corrupted, split_seed)
    facts = DatasetFacts(
        n_rows=corrupted.n_rows,
        n_original=corrupted.n_original,
        n_features=corrupted.n_columns,
        metric=corrupted.metric,
        is_sample=corrupted.is_sample,
        checksum=corrupted.checksum,
    )
    return _Table(facts, raw, raw.scaled())


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


def _tune(spec: RunSpec, table: _Table, journal: Path | None) -> TuningResult:
    """Search the settings of selector and predictor together."""
    spaces = {"downstream": PREDICTORS[spec.downstream].space}
    if spec.tunes_selector:
        spaces["selector"] = SELECTORS[spec.selector_name].search_space()
    own, problems = _own_settings(spec), []
    # Many trials differ in the predictor's settings only.
    selections: dict[str, Selection] = {}

    def judge(batch: Sequence[Settings]) -> list[float | None]:
        scores: list[float | None] = []
        for tuned in batch:
            try:
                settings = _merged(own, tuned)
                key = repr(sorted(settings["selector"].items()))
                if key not in selections:
                    selections[key] = _select(
                        spec, table, settings["selector"], _TUNING_REPETITION
                    )
                scores.append(_judged(spec, table, selections[key], settings))
            except (ArithmeticError, RuntimeError, ValueError) as error:
                problems.append(_one_line(error))
                scores.append(None)
        return scores

    try:
        return tune(
            spaces,
            judge,
            n_trials=spec.n_trials,
            seed=spec.seed("tuning"),
            journal=journal,
        )
    except NothingWorkedError as error:
        raise ValueError(f"{error} The last one: {problems[-1:]}") from error


def _judged(
    spec: RunSpec, table: _Table, selection: Selection, settings: Settings
) -> float:
    """Return the validation score of settings."""
    (found,) = _evaluate(
        spec, table, selection, settings["downstream"], [_TUNING_REPETITION]
    )
    return found.validation_score


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
    selections = {
        seed: _select(spec, table, settings["selector"], seed) for seed in spec.seeds
    }
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
                n_added_kept=int((~table.raw.is_original[kept]).sum()),
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
        table.scaled,
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
    """Train the predictor on the kept columns, scaled anew as in the benchmark."""
    kept = _kept_columns(table, selection.support)
    seeds = [spec.seed("downstream", repetition) or 0 for repetition in repetitions]
    return downstream.evaluate(
        spec.downstream, kept, seeds, settings=settings, device=spec.device
    )


def _kept_columns(table: _Table, support: npt.NDArray[np.bool_]) -> Split:
    """Return the kept columns, scaled; the last few supports are remembered."""
    key = support.tobytes()
    if key not in table.kept:
        if len(table.kept) >= _MOST_REMEMBERED:
            table.kept.clear()
        table.kept[key] = table.raw.keep(support).scaled()
    return table.kept[key]


def _one_line(error: Exception) -> str:
    """Return kind and message of an error."""
    text = " ".join(str(error).split()) or "no message"
    return f"{type(error).__name__}: {text}"
