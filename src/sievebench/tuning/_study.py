"""Draw settings from search spaces, with Optuna as the source."""

from collections.abc import Mapping
from typing import Any

import optuna
from optuna import Trial

from sievebench import search_space as space
from sievebench.tuning._trials import SharedStudy, open_storage


class SharedSampler(optuna.samplers.TPESampler):
    """TPE that reproduces a lone process, and leaves its seed when it has company.

    Processes that begin a study together have the same seed, and would draw the same
    settings. A trial's number tells: one that does not follow the last was another
    process's in between.
    """

    def __init__(self, seed: int | None, next_number: int) -> None:
        super().__init__(seed=seed, constant_liar=True)
        self._next_number = next_number

    def before_trial(
        self, study: optuna.Study, trial: optuna.trial.FrozenTrial
    ) -> None:
        """Draw a new seed if another process began a trial meanwhile."""
        if trial.number != self._next_number:
            self.reseed_rng()
        self._next_number = trial.number + 1
        super().before_trial(study, trial)


_PLAIN = (str, int, float, bool, type(None))


def suggest_settings(
    trial: Trial, spaces: Mapping[str, space.SearchSpace]
) -> dict[str, dict[str, Any]]:
    """Draw all settings of a trial."""
    return {
        part: {
            name: _suggest(trial, f"{part}.{name}", distribution)
            for name, distribution in drawn.items()
        }
        for part, drawn in spaces.items()
    }


def _suggest(trial: Trial, name: str, distribution: space.Distribution) -> Any:
    match distribution:
        case space.Uniform(low, high):
            return trial.suggest_float(name, low, high)
        case space.LogUniform(low, high):
            return trial.suggest_float(name, low, high, log=True)
        case space.Integer(low, high, step):
            return trial.suggest_int(name, low, high, step=step)
        case space.Choice(values):
            if all(isinstance(value, _PLAIN) for value in values):
                return trial.suggest_categorical(name, values)
            # What Optuna cannot store is drawn by its index.
            return values[trial.suggest_categorical(name, tuple(range(len(values))))]
        case space.ZeroOr(inner):
            is_zero = trial.suggest_categorical(f"{name}.is_zero", (True, False))
            return 0.0 if is_zero else _suggest(trial, name, inner)
        case space.HiddenSizes(n_layers, size):
            count = trial.suggest_int(f"{name}.n_layers", n_layers.low, n_layers.high)
            which = ("first", *["middle"] * (count > 2), *["last"] * (count > 1))
            first, *rest = (
                trial.suggest_int(f"{name}.{place}", size.low, size.high)
                for place in which
            )
            return (first, *rest[:-1] * (count - 2), *rest[-1:])


def study_of(seed: int | None, shared: SharedStudy | None = None) -> optuna.Study:
    """Return a new study, or that of a database, begun or gone on with."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(
        storage=open_storage(shared.address) if shared else None,
        study_name=shared.name if shared else None,
        direction="maximize",
        load_if_exists=True,
    )
    # Whoever goes on must not draw the first settings again.
    n_before = len(study.trials)
    own_seed = None if seed is None else (seed + n_before) % 2**32
    study.sampler = SharedSampler(own_seed, n_before)
    return study
