"""Where the trials of a search lie: in a file, a line each, or in a database.

A search that begins again on its file draws the same settings, and finds here what they
were worth and when that was known: it goes on where it was killed, with the time it had
left, and ends as if nothing had happened. A database is for workers that share no disk.
"""

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    import optuna

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


T = TypeVar("T")

_N_ATTEMPTS = 5
_WAIT_SECONDS = 0.5


class StorageError(Exception):
    """A database for trials cannot be used; the message says why."""


@dataclass(frozen=True)
class SharedStudy:
    """Where the trials of one cell are remembered."""

    # Of the database, as SQLAlchemy and Optuna write it, for instance
    # ``postgresql+psycopg://user@host/name`` or ``sqlite:///trials.db``.
    address: str
    name: str  # of the study in it


@cache
def open_storage(address: str) -> "optuna.storages.RDBStorage":
    """Return the database of an address, with Optuna's tables in it."""
    import sqlalchemy.exc
    from optuna.storages import RDBStorage

    try:
        # A database may close a connection that waited through a long trial.
        return _patiently(
            lambda: RDBStorage(address, engine_kwargs={"pool_pre_ping": True})
        )
    except (sqlalchemy.exc.ArgumentError, sqlalchemy.exc.NoSuchModuleError) as error:
        raise StorageError(
            f"{_without_password(address)!r} is no address of a database such as "
            "postgresql+psycopg://user@host/name or sqlite:///trials.db."
        ) from error
    except ImportError as error:
        raise StorageError(
            f"{_without_password(address)} needs a driver that is not installed; for "
            "PostgreSQL: pip install 'featuresieve[postgresql]'."
        ) from error
    except sqlalchemy.exc.SQLAlchemyError as error:
        said = str(getattr(error, "orig", None) or error).strip()
        raise StorageError(
            f"{_without_password(address)} cannot be used: {said}"
        ) from error


def forget(trials: Path | SharedStudy) -> None:
    """Remove the trials of a cell, if there are any."""
    if isinstance(trials, Path):
        trials.unlink(missing_ok=True)
        return
    import optuna

    storage = open_storage(trials.address)
    if trials.name in optuna.get_all_study_names(storage):
        optuna.delete_study(study_name=trials.name, storage=storage)


def _patiently(open_it: Callable[[], T]) -> T:
    """Open it, again if need be: workers that start together make tables at once."""
    import sqlalchemy.exc

    for _ in range(_N_ATTEMPTS - 1):
        try:
            return open_it()
        except sqlalchemy.exc.DBAPIError:
            time.sleep(_WAIT_SECONDS)
    return open_it()


def _without_password(address: str) -> str:
    """Return an address that may be printed."""
    import sqlalchemy

    try:
        return sqlalchemy.make_url(address).render_as_string(hide_password=True)
    except sqlalchemy.exc.ArgumentError:
        return address
