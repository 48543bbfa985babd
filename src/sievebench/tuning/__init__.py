"""Tuning: Optuna asks, the caller answers, a journal file or a database remembers.

Several processes may work on one journal, on several machines with a shared disk too,
or on one database: each asks for settings and tells scores until there are enough
trials. One that was killed loses the trials it was at, and no other.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sievebench.search_space import SearchSpace
from sievebench.tuning._shared import (
    SharedStudy,
    StorageError,
    forget_study,
    open_storage,
)
from sievebench.tuning._suggestion import suggest_settings

if TYPE_CHECKING:  # an extra, and slow to import
    import optuna

__all__ = [
    "NothingWorkedError",
    "Settings",
    "SharedStudy",
    "StorageError",
    "TuningResult",
    "forget_study",
    "open_storage",
    "suggest_settings",
    "tune",
]

# Part ("selector", "downstream") → its settings.
Settings = Mapping[str, Mapping[str, Any]]
# Called with the settings of a batch; None stands for settings that do not work.
Judge = Callable[[Sequence[Settings]], Sequence[float | None]]

_STUDY = "study"
_SETTINGS = "settings"


class NothingWorkedError(ValueError):
    """No settings of a search got a score."""


@dataclass(frozen=True)
class TuningResult:
    """The best settings found.

    Attributes
    ----------
    settings : mapping from part to settings
    score : float
        On the validation part.
    n_trials, n_failed : int
        Trials in all, and those whose settings did not work.
    seconds : float
        Spent here; earlier or other processes' trials are not counted.
    """

    settings: Settings
    score: float
    n_trials: int
    n_failed: int
    seconds: float


def tune(
    spaces: Mapping[str, SearchSpace],
    judge: Judge,
    *,
    n_trials: int,
    seed: int | None,
    journal: Path | SharedStudy | None = None,
    batch_size: int = 1,
    max_seconds: float | None = None,
) -> TuningResult:
    """Find the settings with the largest score, by TPE as in the benchmark.

    Parameters
    ----------
    spaces : mapping from part to search space
        All parts are searched together.
    judge : callable
        Returns the validation score of each settings of a batch.
    n_trials : int
        In all; those in the journal count.
    seed : int or None
    journal : Path, SharedStudy or None, default=None
        The file or database where trials are remembered; None forgets them.
    batch_size : int, default=1
        How many settings are asked for at once.
    max_seconds : float or None, default=None
        Ask for no more settings after so many seconds, once one has a score.

    Returns
    -------
    TuningResult

    Raises
    ------
    NothingWorkedError
        If no settings worked.
    """
    started = time.perf_counter()
    study = _study(seed, journal)
    while (n_left := n_trials - len(finished := _finished(study))) > 0:
        is_late = max_seconds and time.perf_counter() - started > max_seconds
        if is_late and _scored(finished):
            break
        trials = [study.ask() for _ in range(min(batch_size, n_left))]
        batch = [suggest_settings(trial, spaces) for trial in trials]
        for trial, settings in zip(trials, batch, strict=True):
            trial.set_user_attr(_SETTINGS, settings)
        for trial, score in zip(trials, judge(batch), strict=True):
            _tell(study, trial, score)
    finished = _finished(study)
    scored = _scored(finished)
    if not scored:
        raise NothingWorkedError(f"none of {len(finished)} settings worked.")
    best = max(scored, key=lambda trial: (trial.value, -trial.number))
    return TuningResult(
        settings=_restored(best.user_attrs[_SETTINGS]),
        score=float(best.value or 0.0),
        n_trials=len(finished),
        n_failed=len(finished) - len(scored),
        seconds=time.perf_counter() - started,
    )


def _study(seed: int | None, journal: Path | SharedStudy | None) -> "optuna.Study":
    """Return the study of a journal or a database, begun or gone on with."""
    import optuna
    from optuna.storages import BaseStorage, JournalStorage
    from optuna.storages.journal import JournalFileBackend

    from sievebench.tuning._sampler import SharedSampler

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    storage: BaseStorage | None = None
    name = _STUDY
    if isinstance(journal, SharedStudy):
        storage, name = open_storage(journal.address), journal.name
    elif journal is not None:
        journal.parent.mkdir(parents=True, exist_ok=True)
        storage = JournalStorage(JournalFileBackend(str(journal)))
    study = optuna.create_study(
        storage=storage, study_name=name, direction="maximize", load_if_exists=True
    )
    # Whoever goes on must not draw the first settings again.
    n_before = len(study.trials)
    own_seed = None if seed is None else (seed + n_before) % 2**32
    study.sampler = SharedSampler(own_seed, n_before)
    return study


def _finished(study: "optuna.Study") -> list["optuna.trial.FrozenTrial"]:
    """Return the trials that were told a score, or that they do not work."""
    return [trial for trial in study.trials if trial.state.is_finished()]


def _scored(
    trials: "Sequence[optuna.trial.FrozenTrial]",
) -> list["optuna.trial.FrozenTrial"]:
    """Return the trials whose settings worked."""
    return [trial for trial in trials if trial.value is not None]


def _tell(study: "optuna.Study", trial: "optuna.Trial", score: float | None) -> None:
    """Tell a score; not-a-number counts as settings that do not work."""
    from optuna.trial import TrialState

    if score is None or score != score:
        study.tell(trial, state=TrialState.FAIL)
    else:
        study.tell(trial, score)


def _restored(settings: Settings) -> Settings:
    """Return settings from a journal: JSON has no tuples."""
    return {
        part: {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in values.items()
        }
        for part, values in settings.items()
    }
