"""Members at one balance, which vote; no set is refitted."""

import numpy as np

from featuresieve.problem import BoolArray, CountLimits, IndexArray, Problem
from featuresieve.search._result import Candidate, SearchResult
from featuresieve.search._run import SearchRun
from featuresieve.search._screen import Screen, train_open_gates
from featuresieve.search._settings import Settings
from featuresieve.search._splits import RowArray, gate_halves
from featuresieve.search._stacks import GateRun
from featuresieve.search._votes import Votes, decide, elected


def fit_at_balance(
    problem: Problem,
    settings: Settings,
    balance: float,
    limits: CountLimits,
    work: SearchRun,
    *,
    n_members: int,
    vote_share: float | None,
    screen: Screen | None = None,
) -> SearchResult:
    """Train members at one balance on all rows and let them vote."""
    rows = np.arange(problem.n_rows)
    is_open = np.ones((n_members, len(problem.gates)), dtype=bool)
    if screen is not None:
        is_open &= screen.is_found
    run = train_open_gates(
        problem,
        settings,
        balance,
        member_roles(problem, settings, rows, n_members, work.seed),
        is_open,
        seed=work.seed,
        may_shrink=vote_share is None,  # the published search is left as it is
        deadline=work.deadline(0.8),
        monitor=work.stage("gates"),
    )
    votes = decide(run, settings, work.seed, problem.gates, limits)
    if screen is not None:
        votes = screen.ranked_last(votes, screen.is_found)
    kept = elected(votes, problem.gates, limits, vote_share)
    n_elected = votes.n_elected(vote_share)
    return plain_result(problem, kept, votes, balance, run, n_elected)


def plain_result(
    problem: Problem,
    kept: IndexArray,
    votes: Votes,
    balance: float,
    run: GateRun,
    n_elected: int,
) -> SearchResult:
    """Return a result without refits."""
    row = Candidate(balance, problem.gates.count(kept), np.nan, np.nan, True)
    return SearchResult(
        support=as_mask(kept, len(problem.gates)),
        votes=votes,
        balance=balance,
        path=[row],
        history=run.history,
        screened=run.gates,
        is_collapsed=n_elected == 0,
        is_cut_short=run.is_cut_short,
    )


def member_roles(
    problem: Problem,
    settings: Settings,
    rows: RowArray,
    n_members: int,
    seed: int,
    n_threads: int = 1,
) -> list[tuple[RowArray, RowArray]]:
    """Return the task rows and the gate rows of each member."""
    if settings.training.gate_rows == "shared":
        return [(rows, rows)] * n_members
    n_halvings = -(-n_members // 2)
    return gate_halves(problem, rows, n_halvings, seed, n_threads)[:n_members]


def as_mask(gates: IndexArray, n_gates: int) -> BoolArray:
    """Return a boolean mask of some gates."""
    mask = np.zeros(n_gates, dtype=bool)
    mask[gates] = True
    return mask
