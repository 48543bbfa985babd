"""What a search asks of the fit around it: seed, time, and who follows its stages."""

import time
from typing import Protocol

from featuresieve.engine import Monitor


class SearchRun(Protocol):
    """A fit, as a search sees it."""

    seed: int

    @property
    def is_resumable(self) -> bool:
        """Tell whether a later fit may go on where this one ends."""

    def stage(self, name: str) -> Monitor | None:
        """Return what follows the next stage, or None if nobody wants to know."""

    def deadline(self, share: float) -> float | None:
        """Return the moment at which a share of the time is spent, if it is limited."""


class Unwatched:
    """A fit whose stages nobody follows; its time begins now."""

    is_resumable = False

    def __init__(self, seed: int = 0, max_time: float | None = None) -> None:
        self.seed, self._max_time, self._started = seed, max_time, time.monotonic()

    def stage(self, name: str) -> None:
        """Return None."""

    def deadline(self, share: float) -> float | None:
        """Return the moment at which a share of the time is spent, if it is limited."""
        return (
            None if self._max_time is None else self._started + share * self._max_time
        )
