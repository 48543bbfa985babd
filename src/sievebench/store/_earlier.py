"""Records of an experiment as what a later one takes over."""

import math
from collections.abc import Collection, Iterable
from statistics import fmean
from typing import Any

from featuresieve.errors import did_you_mean
from sievebench.run_spec import Cell, EarlierResults, Group
from sievebench.store._records import RunRecord


def counts_kept(records: Iterable[RunRecord], selector: str) -> dict[Group, int]:
    """Return how many columns a selector kept, on the average of its seeds."""
    records = list(records)
    known = dict.fromkeys(record.spec.selector for record in records)
    if known and selector not in known:
        hint = did_you_mean(selector, known)
        raise ValueError(f"there is no record of {selector!r}{hint}")
    return {
        record.spec.group: max(1, round(fmean(len(run.kept) for run in record.runs)))
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
        is_searched = record.tuning.get("score") is not None
        if is_searched and record.spec.selector not in left_out:
            searched.setdefault(record.spec.group, []).append(record)
    if left_out and done and not searched:
        raise ValueError(
            f"not_from = {list(not_from)} leaves no search to take a predictor from."
        )
    return EarlierResults(
        columns={r.spec.cell: tuple(run.kept for run in r.runs) for r in done},
        settings={r.spec.cell: _settings(r, "selector") for r in done},
        predictors={
            group: _best_predictors(found, n_predictors)
            for group, found in searched.items()
        },
        sources={r.spec.cell: r.spec.column_source for r in done},
        # Without the table there are no facts about it.
        unfit=frozenset(
            r.spec.cell for r in records if r.status == "skipped" and r.facts
        ),
    )


def _done(records: Iterable[RunRecord]) -> list[RunRecord]:
    """Return the finished records, or say which are two versions of one cell."""
    done: dict[Cell, RunRecord] = {}
    for record in records:
        if record.status != "done":
            continue
        other = done.setdefault(record.spec.cell, record)
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
) -> tuple[dict[str, Any], ...]:
    """Return different settings, the best validation score first; ties go by name."""

    def order(record: RunRecord) -> tuple[float, str]:
        score = float(record.tuning["score"])
        return (math.inf if math.isnan(score) else -score, record.spec.key)

    best: list[dict[str, Any]] = []
    for record in sorted(records, key=order):
        settings = _settings(record, "downstream")
        if settings not in best:
            best.append(settings)
    return tuple(best[:n_wanted])
