"""The progress of a comparison: a table of what is known so far, the best first."""

import shutil
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from featuresieve.process import as_clock, show_status
from sievebench.labels import SELECTOR_LABELS

if TYPE_CHECKING:
    from sievebench.compare import SelectorResult

_BAR_WIDTH = 24
_LABEL_WIDTH = max(map(len, SELECTOR_LABELS.values()))


class LiveTable:
    """Tell on standard error how far a comparison is.

    A terminal shows a table, sorted by the mean score of the folds that are finished;
    anything else gets a line for each selector that is over.
    """

    def __init__(self, n_folds: int, is_quiet: bool) -> None:
        self._n_folds, self._is_quiet = n_folds, is_quiet
        self._n_over = 0
        self._started = time.monotonic()

    def __call__(
        self, name: str, what: str, results: Sequence["SelectorResult"]
    ) -> None:
        """Show what is known, as `run_comparison` tells it."""
        is_over = what in ("finished", "failed")
        self._n_over += is_over
        if self._is_quiet:
            return
        seconds = time.monotonic() - self._started
        if sys.stderr.isatty():
            n_columns, n_lines = shutil.get_terminal_size()
            rows = self._rows(results)[: n_lines - 3]  # the best, if not all fit
            lines = [*rows, self._bar(results, seconds)]
            show_status("\n".join(line[: n_columns - 1] for line in lines))
        elif is_over:
            line = f"[{self._n_over}/{len(results)}] {name} {what}"
            print(f"{line} after {seconds:.0f} s in all", file=sys.stderr)

    def close(self) -> None:
        """Clear the table."""
        if not self._is_quiet:
            show_status("")

    def _rows(self, results: Sequence["SelectorResult"]) -> list[str]:
        """Return a line for each selector, those without a score last."""
        scored = []
        for result in results:
            scores = [fold.score for fold in result.folds]
            mean = sum(scores) / len(scores) if scores else float("-inf")
            number = f"{mean:.4f}" if scores else "–"
            state = f"{len(scores)}/{self._n_folds}  {result.reason}"
            label = SELECTOR_LABELS[result.selector].ljust(_LABEL_WIDTH)
            scored.append((mean, f"{label} {number:>10}  {state}"))
        scored.sort(key=lambda pair: -pair[0])
        heading = f"{'selector':<{_LABEL_WIDTH}} {'score':>10}  folds"
        return [heading, *(line for _, line in scored)]

    def _bar(self, results: Sequence["SelectorResult"], seconds: float) -> str:
        """Return a bar of the folds that are done, or will not be."""
        n_all = len(results) * self._n_folds
        waited_for = ("running", "waiting")
        n_left = sum(
            self._n_folds - len(result.folds)
            for result in results
            if result.reason in waited_for
        )
        filled = round((1 - n_left / n_all) * _BAR_WIDTH)
        bar = "#" * filled + "." * (_BAR_WIDTH - filled)
        return f"[{bar}] {n_all - n_left}/{n_all} folds, {as_clock(seconds)}"
