"""What a search asks of the fit around it: seed, time, and who follows its stages."""

from typing import Protocol

from featuresieve.engine import Monitor


class Stages(Protocol):
    """Who follows the stages of a fit."""

    @property
    def is_resumable(self) -> bool:
        """Tell whether a later fit may go on where this one ends."""

    def stage(self, name: str) -> Monitor | None:
        """Return what follows the next stage, or None if nobody wants to know."""


class SearchRun(Stages, Protocol):
    """A fit, as a search sees it."""

    seed: int
    started: float

    def deadline(self, share: float) -> float | None:
        """Return the moment at which a share of the time is spent, if it is limited."""


class Unwatched:
    """Stages that nobody follows."""

    is_resumable = False

    def stage(self, name: str) -> None:
        """Return None."""
