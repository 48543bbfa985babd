"""Records as one flat table: a row a run, as `sievebench.analysis` expects it."""

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sievebench.store._records import RunRecord

if TYPE_CHECKING:  # pandas: only when a table is made
    import pandas as pd

_NO_FACTS = {"metric": "", "is_sample": False} | dict.fromkeys(
    ("n_rows", "n_original", "n_features"), math.nan
)


def collect(records: Iterable[RunRecord]) -> "pd.DataFrame":
    """Return one row a run; a cell that is not done has one for each seed all the same.

    A column that was left out makes two more rows, retrained and imputed.
    """
    import pandas as pd

    return pd.DataFrame([row for record in records for row in _rows(record)])


def _rows(record: RunRecord) -> Iterator[dict[str, Any]]:
    results = {run.seed: run for run in record.runs}
    for seed in record.spec.seeds:
        run = results.get(seed)
        row = {
            **_of_cell(record),
            "seed": seed,
            "score": _number(run.score if run else None),
            "validation_score": _number(run.validation_score if run else None),
            "n_kept": len(run.kept) if run else math.nan,
            "n_added_kept": run.n_added_kept if run else math.nan,
            "seconds": run.selector_seconds if run else math.nan,
            "rule": run.decision.get("rule", "") if run else "",
            "downstream_seconds": run.downstream_seconds if run else math.nan,
            "removed": "",
            "removal": "",
        }
        yield row
        for removal in run.removals if run else ():
            less = {
                **row,
                "removed": f"column {removal.column}",
                "validation_score": math.nan,
            }
            yield {**less, "removal": "retrained", "score": removal.retrained}
            yield {**less, "removal": "imputed", "score": removal.imputed}


def _of_cell(record: RunRecord) -> dict[str, Any]:
    spec, facts, environment = record.spec, record.facts, record.environment
    names = ("experiment", "dataset", "scenario", "selector", "downstream")
    is_varied = spec.experiment == "balance"
    return {
        **{name: getattr(spec, name) for name in names},
        "balance": float(spec.selector_settings["balance"]) if is_varied else math.nan,
        "status": record.status,
        "reason": record.reason,
        **(_NO_FACTS if facts is None else {n: getattr(facts, n) for n in _NO_FACTS}),
        "n_trials": spec.n_trials,
        "cell_seconds": record.seconds,
        "finished": record.finished,
        "commit": environment.get("commit", ""),
        "device": environment.get("device", ""),
        "key": spec.key,
        "predictors": _digest(spec.predictors),
    }


def _digest(predictors: Sequence[Mapping[str, Any]]) -> str:
    """Return a name for the predictors of another experiment, empty without any."""
    if not predictors:
        return ""
    text = json.dumps([dict(settings) for settings in predictors], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def _number(value: float | None) -> float:
    return math.nan if value is None else value
