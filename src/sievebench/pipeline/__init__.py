"""One cell from name to record: load, corrupt, split, tune, select, predict."""

import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from featuresieve.errors import one_line
from sievebench.data import MissingDataError, Split
from sievebench.pipeline._cell import (
    CellTable,
    cached_table,
    check_components,
    check_table,
    merged,
    own_settings,
    table_of,
)
from sievebench.pipeline._runs import remove_columns, run_seeds, time_seeds
from sievebench.pipeline._tuning import tune_cell
from sievebench.run_spec import RunSpec
from sievebench.selectors import SELECTORS
from sievebench.store import RunRecord, RunResult
from sievebench.tuning import Settings, SharedStudy

__all__ = ["cached_table", "check_components", "check_table", "run_one"]

# Experiments whose runs are not just selected and predicted.
_STUDIES: dict[str, Callable[[RunSpec, CellTable, Settings], tuple[RunResult, ...]]] = {
    "removal": remove_columns,
    "scaling": time_seeds,
}


def run_one(spec: RunSpec, *, journal: Path | SharedStudy | None = None) -> RunRecord:
    """Run a cell; whatever happens is a record. The journal remembers its trials."""
    started = time.perf_counter()
    known: dict[str, Any] = {}
    try:
        check_components(spec)
        table = table_of(spec, spec.seeds[0])
        known["facts"] = table.facts
        reason = _reason_to_skip(spec, table.split)
        if reason:
            return RunRecord(spec, "skipped", reason=reason, **known)
        settings = own_settings(spec)
        if spec.n_trials:
            tuned = tune_cell(spec, table, journal)
            known["tuning"] = vars(tuned)
            settings = merged(settings, tuned.settings)
        runs = _run_splits(spec, settings)
        seconds = time.perf_counter() - started
        return RunRecord(spec, "done", runs=runs, seconds=seconds, **known)
    except MissingDataError as error:
        reason = one_line(error, has_kind=True, longest=None)
        return RunRecord(spec, "skipped", reason=reason)
    except Exception as error:  # a failure is a record
        seconds = time.perf_counter() - started
        return RunRecord(
            spec,
            "failed",
            reason=one_line(error, has_kind=True, longest=None),
            details=traceback.format_exc(),
            seconds=seconds,
            **known,
        )


def _run_splits(spec: RunSpec, settings: Settings) -> tuple[RunResult, ...]:
    """Run all seeds on one split, or each on its own."""
    run = _STUDIES.get(spec.experiment, run_seeds)
    if not spec.has_draws:
        return run(spec, table_of(spec, spec.seeds[0]), settings)
    return tuple(
        result
        for seed in spec.seeds
        for result in run(replace(spec, seeds=(seed,)), table_of(spec, seed), settings)
    )


def _reason_to_skip(spec: RunSpec, split: Split) -> str:
    """Say why a cell cannot be run, nothing if it can."""
    kind = SELECTORS[spec.selector_name]
    if split.task not in kind.supported_tasks:
        return f"{spec.selector_name} does not do {split.task}"
    if spec.keep == "own" and not kind.has_automatic_count:
        return f"{spec.selector_name} does not choose the number of columns itself"
    return ""
