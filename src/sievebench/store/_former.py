"""Records of an experiment as what a later one takes over."""

import math
from collections.abc import Collection, Iterable
from typing import Any

from sievebench.reuse import Cell, Former, Place
from sievebench.store._record import RunRecord


def former_results(
    records: Iterable[RunRecord], n_predictors: int, not_from: Collection[str] = ()
) -> Former:
    """Return what an experiment found.

    Parameters
    ----------
    records : iterable of RunRecord
        Those that are not done are left out, but for selectors that do not do a table.
    n_predictors : int
        Different settings of predictors that are taken from the cells of one place:
        those with the best scores of their searches, on validation rows.
    not_from : collection of str, default=()
        Selectors, with all their variants, whose searches give no predictor.

    Returns
    -------
    Former
    """
    records = list(records)
    done = [record for record in records if record.status == "done"]
    searched: dict[Place, list[RunRecord]] = {}
    for record in done:
        is_wanted = record.spec.selector_name not in not_from
        if is_wanted and record.tuning.get("score") is not None:
            searched.setdefault(_cell(record)[:3], []).append(record)
    return Former(
        columns={_cell(r): tuple(run.kept for run in r.runs) for r in done},
        settings={_cell(r): _settings(r, "selector") for r in done},
        predictors={
            place: tuple(_best_predictors(found, n_predictors))
            for place, found in searched.items()
        },
        # Without the table there are no facts about it.
        unfit=frozenset(_cell(r) for r in records if r.status == "skipped" and r.facts),
    )


def _cell(record: RunRecord) -> Cell:
    """Return which cell of its experiment a record is of."""
    spec = record.spec
    return (spec.dataset, spec.scenario, spec.downstream, spec.selector)


def _settings(record: RunRecord, part: str) -> dict[str, Any]:
    """Return the settings that the runs of a cell had."""
    tuned = record.tuning.get("settings", {}).get(part, {})
    return {**tuned, **getattr(record.spec, f"{part}_settings")}


def _best_predictors(
    records: Iterable[RunRecord], n_wanted: int
) -> list[dict[str, Any]]:
    """Return different settings, those with the best validation score first."""
    best: list[dict[str, Any]] = []
    for record in sorted(records, key=_by_score):
        settings = _settings(record, "downstream")
        if settings not in best and len(best) < n_wanted:
            best.append(settings)
    return best


def _by_score(record: RunRecord) -> tuple[float, str]:
    """Return what the best search comes first by; ties go by name."""
    score = float(record.tuning["score"])
    return (math.inf if math.isnan(score) else -score, record.spec.key)
