"""TPE for one process or several: whoever shares a study draws settings of its own."""

import optuna


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
