"""How far a run is, on standard error."""

import argparse
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from featuresieve.process import as_clock, show_status

if TYPE_CHECKING:
    from sievebench.run_spec import RunSpec
    from sievebench.store import Store

_LONGEST_REASON = 240


class RunProgress:
    """How far the cells are, with an estimate of what is left."""

    def __init__(
        self, cells: list["RunSpec"], store: "Store", options: argparse.Namespace
    ) -> None:
        retried = set(options.retry)
        records = {spec.key: store.read(spec) for spec in cells}
        self.left = {
            spec.key: spec
            for spec in cells
            if (record := records[spec.key]) is None or record.status in retried
        }
        self.store = store
        self.n_cells, self.n_workers = len(cells), options.workers
        self.is_quiet = options.quiet
        self.finished: list[tuple[RunSpec, float]] = []
        self.started = time.monotonic()
        there = Counter(
            record.status
            for key, record in records.items()
            if record is not None and key not in self.left
        )
        if there and not self.is_quiet:
            others = [
                f"{n} {status}" for status, n in there.items() if status != "done"
            ]
            how = f" ({', '.join(others)})" if others else ""
            print(
                f"{there.total()} of {len(cells)} cells are there{how}", file=sys.stderr
            )
        if self.left and not self.is_quiet and sys.stderr.isatty():
            print("starting ...", end="", file=sys.stderr, flush=True)

    def __call__(self, spec: "RunSpec", what: str, seconds: float) -> None:
        """Show that a cell started, is running or ended."""
        has_ended = what not in ("started", "running")
        if has_ended:
            self.left.pop(spec.key, None)
            self.finished.append((spec, seconds))
        is_terminal = sys.stderr.isatty()
        if self.is_quiet or not (has_ended or is_terminal):
            return
        n_done = self.n_cells - len(self.left)
        cell = f"{spec.dataset} {spec.scenario} {spec.selector} {spec.downstream}"
        line = f"[{n_done}/{self.n_cells}] {self._times()}  {cell} {what}"
        if has_ended:
            reason = "" if what == "done" else self._reason(spec)
            line += f" after {seconds:.1f} s{reason}"
        elif what == "running":
            line += f" for {as_clock(seconds)}"
        show_status(line)
        if not is_terminal:
            print(line, file=sys.stderr, flush=True)
        elif has_ended and what != "done":  # stays on the screen
            print(file=sys.stderr, flush=True)

    def _reason(self, spec: "RunSpec") -> str:
        record = self.store.read(spec)
        if record is None or not record.reason:
            return ""
        return (
            f": {textwrap.shorten(record.reason, _LONGEST_REASON, placeholder=' ...')}"
        )

    def _times(self) -> str:
        spent = as_clock(time.monotonic() - self.started)
        left = list(self.left.values())
        remaining = remaining_seconds(self.finished, left, self.n_workers)
        return spent if remaining is None else f"{spent}, {as_clock(remaining)} left"

    def close(self) -> None:
        """Clear the line."""
        if not self.is_quiet:
            show_status("")


def remaining_seconds(
    finished: Iterable[tuple["RunSpec", float]],
    left: Sequence["RunSpec"],
    n_workers: int,
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


def _kinds(spec: "RunSpec") -> tuple[tuple[str, ...], ...]:
    """Return what a cell is compared with, the nearest first."""
    return ((spec.selector, spec.dataset), (spec.selector,), ())
