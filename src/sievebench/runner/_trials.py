"""Where the trials of a cell lie: in a file of the store, or in a shared database."""

from pathlib import Path

from sievebench.run_spec import RunSpec
from sievebench.store import Store
from sievebench.tuning import SharedStudy, forget_study


def trials_of(
    spec: RunSpec, store: Store, storage: str | None = None
) -> Path | SharedStudy:
    """Return where the tuning of a cell remembers its trials."""
    if storage is None:
        return store.journal_of(spec)
    return SharedStudy(storage, f"{store.folder.name}/{spec.key}")


def forget_trials(spec: RunSpec, store: Store, storage: str | None = None) -> None:
    """Remove the trials of a cell."""
    trials = trials_of(spec, store, storage)
    if isinstance(trials, SharedStudy):
        forget_study(trials)
    else:
        trials.unlink(missing_ok=True)
