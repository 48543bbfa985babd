"""The trials of one search in a file, a line each.

A search that begins again draws the same settings, and finds here what they were worth
and when that was known: it goes on where it was killed, with the time it had left, and
ends as if nothing had happened.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# Part ("selector", "downstream") → its settings.
Settings = Mapping[str, Mapping[str, Any]]


class JournalError(ValueError):
    """A file is no journal of trials."""


class TrialJournal:
    """The trials of earlier processes, and those of this one."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._scores: dict[str, float | None] = {}
        self._seconds: dict[str, float] = {}
        if path is not None and path.exists():
            text = path.read_bytes()
            whole = text[: text.rfind(b"\n") + 1]
            for number, line in enumerate(whole.splitlines(), start=1):
                settings, score, seconds = _parsed(line, path, number)
                self._scores[_key_of(settings)] = score
                self._seconds[_key_of(settings)] = seconds
            if len(whole) < len(text):
                os.truncate(path, len(whole))

    def __contains__(self, settings: Settings) -> bool:
        """Return whether these settings were tried."""
        return _key_of(settings) in self._scores

    def score_of(self, settings: Settings) -> float | None:
        """Return what settings that were tried are worth."""
        return self._scores[_key_of(settings)]

    def seconds_of(self, settings: Settings) -> float:
        """Return how long the search had gone on when that was known."""
        return self._seconds[_key_of(settings)]

    def add(self, settings: Settings, score: float | None, seconds: float) -> None:
        """Write a trial down."""
        score = None if score is None else float(score)  # not one of numpy's
        self._scores[_key_of(settings)] = score
        self._seconds[_key_of(settings)] = seconds
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            trial = {"settings": settings, "score": score, "seconds": seconds}
            file.write(f"{json.dumps(trial)}\n")


def _key_of(settings: Settings) -> str:
    """Return the same text for the same settings, tuples and lists alike."""
    return json.dumps(settings, sort_keys=True)


def _parsed(
    line: bytes, path: Path, number: int
) -> tuple[Settings, float | None, float]:
    """Return the trial of a line; those of older journals have no seconds."""
    try:
        trial = json.loads(line)
        settings, score = trial["settings"], trial["score"]
        seconds = float(trial.get("seconds", 0.0))
        return settings, None if score is None else float(score), seconds
    except (ValueError, KeyError, TypeError) as error:
        raise JournalError(
            f"{path}, line {number}, is no trial; remove the file to search again."
        ) from error
