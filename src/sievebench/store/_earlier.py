"""Records of an experiment as what a later one takes over."""

import math
from collections.abc import Collection, Iterable
from statistics import fmean
from typing import Any

from featuresieve.errors import did_you_mean
from sievebench.run_spec import Cell, EarlierResults, Group
from sievebench.store._record import RunRecord


def counts_kept(records: Iterable[RunRecord], selector: str) -> dict[Group, int]:
    """Return how many columns a selector kept, on the average of its seeds."""
    records = list(records)
    known = dict.fromkeys(record.spec.selector for record in records)
    if known and selector not in known:
        hint = did_you_mean(selector, known)
        raise ValueError(f"there is no record of {selector!r}{hint}")
    return {
        _cell(record)[:3]: max(1, round(fmean(len(run.kept) for run in record.runs)))
        for record in _done(records)
        if record.spec.selector == selector
    }


def earlier_results(
    records: Iterable[RunRecord], n_predictors: int, not_from: Collection[str] = ()
) -> EarlierResults:
    """Return what an experiment found: in finished cells, and which cannot be run.

    Predictors are the different settings of a group whose searches had the best scores
    on validation rows. Searches of the selectors in `not_from` give none: one variant,
    or by the name before the colon all of them.
    """
    records = list(records)
    done = _done(records)
    left_out = _named(records, not_from)
    searched: dict[Group, list[RunRecord]] = {}
    for record in done:
        if record.tuning.get("score") is None:
            continue
        if record.spec.selector not in left_out:
            searched.setdefault(_cell(record)[:3], []).append(record)
    if left_out and done and not searched:
        raise ValueError(
            f"not_from = {list(not_from)} leaves no search to take a predictor from."
        )
    return EarlierResults(
        columns={_cell(r): tuple(run.kept for run in r.runs) for r in done},
        settings={_cell(r): _settings(r, "selector") for r in done},
        predictors={
            group: tuple(_best_predictors(found, n_predictors))
            for group, found in searched.items()
        },
        sources={_cell(r): r.spec.column_source for r in done},
        # Without the table there are no facts about it.
        unfit=frozenset(_cell(r) for r in records if r.status == "skipped" and r.facts),
    )


def _cell(record: RunRecord) -> Cell:
    spec = record.spec
    return (spec.dataset, spec.scenario, spec.downstream, spec.selector)


def _done(records: Iterable[RunRecord]) -> list[RunRecord]:
    """Return the finished records, or say which are two versions of one cell."""
    done: dict[Cell, RunRecord] = {}
    for record in records:
        if record.status != "done":
            continue
        other = done.setdefault(_cell(record), record)
        if other is not record:
            raise ValueError(
                f"{other.spec.key}.json and {record.spec.key}.json are two versions of "
                "one cell: take away the one that is not wanted."
            )
    return list(done.values())


def _named(records: Iterable[RunRecord], names: Collection[str]) -> set[str]:
    """Return the selectors that some names stand for, or say which one is unknown."""
    known = dict.fromkeys(record.spec.selector for record in records)
    found: set[str] = set()
    for name in names:
        meant = {s for s in known if name in (s, s.partition(":")[0])}
        if known and not meant:
            raise ValueError(
                f"not_from names {name!r}, of which there is no record"
                f"{did_you_mean(name, known)}"
            )
        found |= meant
    return found


def _settings(record: RunRecord, part: str) -> dict[str, Any]:
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
