"""Trials in a database, for workers that share no disk."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:  # an extra, and slow to import
    import optuna

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


def forget_study(study: SharedStudy) -> None:
    """Remove the trials of a cell, if there are any."""
    import optuna

    storage = open_storage(study.address)
    if study.name in optuna.get_all_study_names(storage):
        optuna.delete_study(study_name=study.name, storage=storage)


def _patiently(open_it: Callable[[], T]) -> T:
    """Return what `open_it` returns; workers that start together make tables at once.

    All but one of them fail then, and find the tables at the next attempt.
    """
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
