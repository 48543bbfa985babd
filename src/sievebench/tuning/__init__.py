"""Tuning: Optuna asks, the caller answers, a journal file or a database remembers.

A journal is one process's: killed and begun again it goes on where it was, to the same
end. Several processes, on several machines too, may work on one database: each asks for
settings and tells scores until there are enough trials. One that was killed loses the
trials it was at, and no other.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

from sievebench.search_space import SearchSpace
from sievebench.tuning._trials import JournalError as JournalError
from sievebench.tuning._trials import Settings as Settings
from sievebench.tuning._trials import SharedStudy as SharedStudy
from sievebench.tuning._trials import StorageError as StorageError
from sievebench.tuning._trials import TrialJournal
from sievebench.tuning._trials import forget as forget
from sievebench.tuning._trials import open_storage as open_storage

if TYPE_CHECKING:  # an extra, and slow to import
    import optuna


# Called with the settings of a batch; None stands for settings that do not work.
Judge = Callable[[Sequence[Settings]], Sequence[float | None]]

_SETTINGS = "settings"


class NothingWorkedError(ValueError):
    """No settings of a search got a score."""


@dataclass(frozen=True)
class TuningResult:
    """The best settings found."""

    settings: Settings
    score: float  # on the validation part
    # Trials in all, and those whose settings did not work.
    n_trials: int
    n_failed: int
    seconds: float  # spent here; earlier or other processes' trials are not counted


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

    All parts of `spaces` are searched together, `batch_size` settings at a time, for
    which `judge` returns validation scores. `n_trials` count those in the journal. No
    more settings are asked for after `max_seconds`, once one has a score; those of
    earlier processes count, as far as the file says. A seed of None draws other
    settings each time, so that a file is of no use.
    """
    from optuna.trial import TrialState

    from sievebench.tuning._study import study_of, suggest_settings

    started = began = time.perf_counter()
    if isinstance(journal, SharedStudy):
        study, known = study_of(seed, journal), TrialJournal(None)
    else:
        study, known = study_of(seed), TrialJournal(journal)
    while (n_left := n_trials - len(finished := _finished(study))) > 0:
        is_late = max_seconds and time.perf_counter() - began > max_seconds
        if is_late and any(trial.value is not None for trial in finished):
            break
        trials = [study.ask() for _ in range(min(batch_size, n_left))]
        batch = [suggest_settings(trial, spaces) for trial in trials]
        for trial, settings in zip(trials, batch, strict=True):
            trial.set_user_attr(_SETTINGS, settings)
        fresh = [settings for settings in batch if known.get(settings) is None]
        # The seconds of an earlier process count: the search began so much earlier.
        before = [tried.seconds for s in batch if (tried := known.get(s))]
        began = min(began, time.perf_counter() - max(before, default=0.0))
        for settings, score in zip(fresh, judge(fresh) if fresh else (), strict=True):
            # Not-a-number counts as settings that do not work.
            is_score = score is not None and not isnan(score)
            seconds = time.perf_counter() - began
            known.add(settings, score if is_score else None, seconds)
        for trial, settings in zip(trials, batch, strict=True):
            tried = known.get(settings)
            if tried is None or tried.score is None:
                study.tell(trial, state=TrialState.FAIL)
            else:
                study.tell(trial, tried.score)
    finished = _finished(study)
    scored = [trial for trial in finished if trial.value is not None]
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


def _finished(study: "optuna.Study") -> list["optuna.trial.FrozenTrial"]:
    """Return the trials that were told a score, or that they do not work."""
    return [trial for trial in study.trials if trial.state.is_finished()]


def _restored(settings: Settings) -> Settings:
    """Return settings from a journal: JSON has no tuples."""
    return {
        part: {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in values.items()
        }
        for part, values in settings.items()
    }
