"""From an encoded problem to the support, and to the networks that predict from it."""

from dataclasses import replace
from typing import Any

import numpy as np

from featuresieve.problem import CountLimits, IndexArray, Problem
from featuresieve.search._judge import NETWORKS
from featuresieve.search._one_balance import fit_at_balance
from featuresieve.search._price import balance_at_price
from featuresieve.search._result import SearchResult
from featuresieve.search._run import SearchRun
from featuresieve.search._screen import SCREENED_PRICE, n_voters, screen_of
from featuresieve.search._settings import Settings
from featuresieve.search._splits import HeldOutSplit
from featuresieve.search._stacks import FixedMaskRun, train_fixed_mask
from featuresieve.search._vote_search import Goal, VoteSearch

# Members at a balance that the user gives, and the share of them that keep a feature.
_N_MEMBERS, _MAJORITY = 4, 0.5
# Networks whose predictions are averaged.
_N_PREDICTORS = 2
# Their learning rate where `task_learning_rate` was set for a search of the user's own.
_PREDICTOR_RATE = 2e-3


def find_support(
    problem: Problem,
    settings: Settings,
    limits: CountLimits,
    work: SearchRun,
    *,
    balance: float | str,
    tolerance: float,
    goal: Goal = "minimal",
    judge: Any = NETWORKS,
    splits: list[HeldOutSplit] | None = None,
) -> SearchResult:
    """Run the search that `balance` asks for; `splits` replace its own."""
    if isinstance(balance, str) and balance == "auto":
        return VoteSearch(
            problem,
            settings,
            limits,
            work,
            tolerance=tolerance,
            goal=goal,
            judge=judge,
            splits=splits,
        ).run()
    if isinstance(balance, str):
        share, screen = None, screen_of(problem, [], settings.n_threads)
        problem = problem.with_balanced_classes()
        price = balance_at_price(problem, settings)
        n_columns = problem.n_columns
        if screen is not None:
            price, n_columns = price * SCREENED_PRICE, screen.n_columns(problem)
        n_members = n_voters(n_columns, settings)
    else:
        share, price, screen = _MAJORITY, float(balance), None
        n_members = settings.training.n_members or _N_MEMBERS
    return fit_at_balance(
        problem,
        settings,
        price,
        limits,
        work,
        n_members=n_members,
        vote_share=share,
        screen=screen,
    )


def train_predictor(
    problem: Problem,
    settings: Settings,
    gates: IndexArray,
    share: float,
    work: SearchRun,
    *,
    is_auto: bool,
) -> FixedMaskRun:
    """Refit the networks on the kept columns and all rows.

    As long as was best for the chosen candidate; without candidates, as long as an
    automatic search, whatever `n_epochs` says of the gates.
    """
    if not is_auto:
        training = replace(
            settings.training, n_epochs=None, task_learning_rate=_PREDICTOR_RATE
        )
        settings = replace(settings, training=training)
    narrow = problem.take(gates)
    return train_fixed_mask(
        narrow,
        settings,
        [np.arange(len(narrow.gates))] * _N_PREDICTORS,
        settings.schedule(narrow.n_rows, narrow.n_columns, _N_PREDICTORS, share),
        seed=work.seed + 2,
        deadline=work.deadline(1.0),
        monitor=work.stage("predictor"),
    )
