"""How long the rest will take, judged by what is finished."""

from collections.abc import Iterable, Sequence
from statistics import fmean

from sievebench.run_spec import RunSpec


def remaining_seconds(
    finished: Iterable[tuple[RunSpec, float]], left: Sequence[RunSpec], n_workers: int
) -> float | None:
    """Estimate the seconds until all cells are done.

    A cell is expected to take as long as the finished ones of its selector on the same
    table, else of its selector, else of all.
    """
    seconds: dict[tuple[str, ...], list[float]] = {}
    for spec, spent in finished:
        for kind in _kinds(spec):
            seconds.setdefault(kind, []).append(spent)
    if not seconds:
        return None
    means = {kind: fmean(values) for kind, values in seconds.items()}
    total = sum(
        next(means[kind] for kind in _kinds(spec) if kind in means) for spec in left
    )
    return total / max(1, min(n_workers, len(left)))


def _kinds(spec: RunSpec) -> tuple[tuple[str, ...], ...]:
    """Return what a cell is compared with, the nearest first."""
    return ((spec.selector, spec.dataset), (spec.selector,), ())
