"""The trials of one search in a file, a line each.

A search that begins again draws the same settings, and finds here what they were worth:
it goes on where it was killed, and ends as if nothing had happened.
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
    """The trials of earlier processes, and those of this one.

    Parameters
    ----------
    path : Path or None
        None remembers nothing.

    Raises
    ------
    JournalError
        If the file holds anything else. The last line may be broken off: its process
        was killed.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._scores: dict[str, float | None] = {}
        if path is not None and path.exists():
            text = path.read_bytes()
            whole = text[: text.rfind(b"\n") + 1]
            for number, line in enumerate(whole.splitlines(), start=1):
                settings, score = _parsed(line, path, number)
                self._scores[_key_of(settings)] = score
            if len(whole) < len(text):
                os.truncate(path, len(whole))

    def __contains__(self, settings: Settings) -> bool:
        """Return whether these settings were tried."""
        return _key_of(settings) in self._scores

    def score_of(self, settings: Settings) -> float | None:
        """Return what settings that were tried are worth.

        Parameters
        ----------
        settings : mapping from part to settings

        Returns
        -------
        float or None
            None if they do not work.
        """
        return self._scores[_key_of(settings)]

    def add(self, settings: Settings, score: float | None) -> None:
        """Write a trial down.

        Parameters
        ----------
        settings : mapping from part to settings
        score : float or None
            None if they do not work.
        """
        score = None if score is None else float(score)  # not one of numpy's
        self._scores[_key_of(settings)] = score
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps({'settings': settings, 'score': score})}\n")


def _key_of(settings: Settings) -> str:
    """Return the same text for the same settings, tuples and lists alike."""
    return json.dumps(settings, sort_keys=True)


def _parsed(line: bytes, path: Path, number: int) -> tuple[Settings, float | None]:
    """Return the trial of a line."""
    try:
        trial = json.loads(line)
        settings, score = trial["settings"], trial["score"]
        return settings, None if score is None else float(score)
    except (ValueError, KeyError, TypeError) as error:
        raise JournalError(
            f"{path}, line {number}, is no trial; remove the file to search again."
        ) from error
