"""The trials of one search in a file, a line each.

A search that begins again draws the same settings, and finds here what they were worth
and when that was known: it goes on where it was killed, with the time it had left, and
ends as if nothing had happened.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

# Part ("selector", "downstream") → its settings.
Settings = Mapping[str, Mapping[str, Any]]


class Trial(NamedTuple):
    """What settings are worth, and how long the search had gone on by then."""

    score: float | None  # None if they do not work
    seconds: float


class JournalError(ValueError):
    """A file is no journal of trials."""


class TrialJournal:
    """The trials of earlier processes, and those of this one; no path forgets them."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._trials: dict[str, Trial] = {}
        if path is not None and path.exists():
            text = path.read_bytes()
            # The last line is broken off if its process was killed.
            whole = text[: text.rfind(b"\n") + 1]
            for number, line in enumerate(whole.splitlines(), start=1):
                key, trial = _parsed(line, path, number)
                self._trials[key] = trial
            if len(whole) < len(text):
                os.truncate(path, len(whole))

    def get(self, settings: Settings) -> Trial | None:
        """Return the trial of these settings, None if they were not tried."""
        return self._trials.get(_key_of(settings))

    def add(self, settings: Settings, score: float | None, seconds: float) -> None:
        """Write a trial down."""
        score = None if score is None else float(score)  # not one of numpy's
        self._trials[_key_of(settings)] = Trial(score, seconds)
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            trial = {"settings": settings, "score": score, "seconds": seconds}
            file.write(f"{json.dumps(trial)}\n")


def _key_of(settings: Settings) -> str:
    """Return the same text for the same settings, tuples and lists alike."""
    return json.dumps(settings, sort_keys=True)


def _parsed(line: bytes, path: Path, number: int) -> tuple[str, Trial]:
    """Return the trial of a line; those of older journals have no seconds."""
    try:
        values = json.loads(line)
        key, score = _key_of(values["settings"]), values["score"]
        seconds = float(values.get("seconds", 0.0))
        return key, Trial(None if score is None else float(score), seconds)
    except (ValueError, KeyError, TypeError) as error:
        raise JournalError(
            f"{path}, line {number}, is no trial; remove the file to search again."
        ) from error
