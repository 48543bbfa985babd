"""From an encoded problem to the support, and to the networks that predict from it."""

from dataclasses import replace

import numpy as np

from featuresieve.problem import CountLimits, IndexArray, Problem
from featuresieve.search._balance_path import BalanceSearch, fit_at_balance
from featuresieve.search._penalty_path import balance_at_price
from featuresieve.search._refit import REFIT_SHARE
from featuresieve.search._result import SearchResult
from featuresieve.search._run import SearchRun, Stages
from featuresieve.search._settings import Settings
from featuresieve.search._stacks import FixedMaskRun, train_fixed_mask

# Networks whose predictions are averaged.
_N_PREDICTORS = 2
# Their learning rate where `task_learning_rate` was set for a search of the user's own.
_PREDICTOR_RATE = 2e-3


def find_support(
    problem: Problem,
    settings: Settings,
    bounds: CountLimits,
    work: SearchRun,
    *,
    balance: float | str,
    tolerance: float,
    max_time: float | None,
) -> SearchResult:
    """Run the search that `balance` asks for."""
    if isinstance(balance, str) and balance == "auto":
        return BalanceSearch(
            problem,
            settings,
            bounds,
            tolerance=tolerance,
            seed=work.seed,
            started=work.started,
            max_time=max_time,
            monitor=work.monitor,
        ).run()
    if isinstance(balance, str):
        balance = balance_at_price(problem, settings)
    return fit_at_balance(
        problem,
        settings,
        float(balance),
        bounds,
        seed=work.seed,
        deadline=work.deadline(0.8),
        monitor=work.monitor,
    )


def train_predictor(
    problem: Problem,
    settings: Settings,
    gates: IndexArray,
    share: float,
    *,
    is_auto: bool,
    seed: int,
    deadline: float | None,
    monitor: Stages,
) -> FixedMaskRun:
    """Refit the networks on the kept columns and all rows.

    As long as was best for the chosen candidate; without candidates, half as long as an
    automatic search, whatever `n_epochs` says of the gates.
    """
    if not is_auto:
        training = replace(settings.training, task_learning_rate=_PREDICTOR_RATE)
        settings = replace(settings, n_epochs=None, training=training)
    narrow = problem.take(gates)
    share = REFIT_SHARE * share
    return train_fixed_mask(
        narrow,
        settings,
        [np.arange(len(narrow.gates))] * _N_PREDICTORS,
        settings.schedule(narrow.n_rows, narrow.n_columns, _N_PREDICTORS, share),
        seed=seed + 2,
        deadline=deadline,
        monitor=monitor.stage("predictor"),
    )
