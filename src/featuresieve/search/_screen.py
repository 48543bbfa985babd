"""Of more columns than there are rows, those that a test finds, the only candidates.

Where a price that keeps chance out is nearly what features are worth, or more, members
can not tell the columns that matter from the best of many that do not; a test of each
column by itself can. The members are left to say which of those that it finds stand for
each other. Columns that matter only together are lost.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import false_discovery_control

from featuresieve.engine import CLOSED
from featuresieve.problem import (
    FALSE_ALARM,
    BoolArray,
    IndexArray,
    Problem,
    chance_of_gates,
)
from featuresieve.search._price import is_price_high
from featuresieve.search._settings import Settings
from featuresieve.search._splits import HeldOutSplit, RowArray
from featuresieve.search._stacks import GateRun, train_gates
from featuresieve.search._votes import LEAST_VOTES, VOTE_SHARE, Votes

# Members; and members times columns that are affordable.
N_MEMBERS, MEMBER_COLUMNS = 100, 160_000
# What a feature costs that was found, as a share of the usual price, which is high
# because chance gives votes to noise: of this little is left.
SCREENED_PRICE = 1 / 4


@dataclass(frozen=True, eq=False)
class Screen:
    """What tests of the gates one by one say."""

    is_found: BoolArray  # at a false discovery rate of 5 %, or forced
    # As many gates, by the rows that each split learns from, (splits, gates).
    by_split: BoolArray
    places: IndexArray  # of the gates, the least likely to be noise first

    def n_columns(self, problem: Problem) -> int:
        """Return how many columns the members see."""
        return len(problem.gates.columns_of(np.flatnonzero(self.is_found)))

    def ranked_last(self, votes: Votes, is_open: BoolArray) -> Votes:
        """Return votes in which closed gates come last, in the order of the test."""
        logits = np.where(is_open, votes.logits, np.float32(CLOSED) - self.places)
        is_last = ~is_open if votes.is_last is None else votes.is_last | ~is_open
        return replace(votes, logits=logits.astype(np.float32), is_last=is_last)


def has_few_rows(problem: Problem) -> bool:
    """Tell whether there are more columns than rows, and few rows."""
    has_more = problem.n_columns > problem.n_groups
    return has_more and is_price_high(problem.with_balanced_classes())


def screen_of(
    problem: Problem, splits: Sequence[HeldOutSplit], n_threads: int
) -> Screen | None:
    """Test every gate, on all rows and on those of each split.

    None if none is found, or if rows are not few. `problem` has the weights of the
    user: balanced ones count few rows as many.
    """
    if not has_few_rows(problem):
        return None
    is_shut = problem.gates.is_shut
    is_shut = np.zeros(len(problem.gates), bool) if is_shut is None else is_shut

    def places(rows: RowArray | None) -> tuple[BoolArray, IndexArray]:
        chance = chance_of_gates(problem, rows, n_threads)
        found = false_discovery_control(chance[~is_shut]) <= FALSE_ALARM
        is_found = problem.gates.is_forced.copy()
        is_found[~is_shut] |= found
        order = np.lexsort((chance, is_shut, ~is_found))
        return is_found, np.argsort(order)

    is_found, ranks = places(None)
    n_found = int(is_found.sum())
    if n_found == problem.gates.is_forced.sum():
        return None
    by_split = [places(split.fit_rows)[1] < n_found for split in splits]
    return Screen(is_found, np.array(by_split).reshape(-1, len(ranks)), ranks)


def n_voters(n_columns: int, settings: Settings) -> int:
    """Return how many members vote.

    Fewer on wide tables, but so many that the share of votes is the least number.
    """
    if settings.training.n_members is not None:
        return settings.training.n_members
    fewest = round(LEAST_VOTES / VOTE_SHARE)
    return min(N_MEMBERS, max(fewest, MEMBER_COLUMNS // n_columns))


def train_open_gates(
    problem: Problem,
    settings: Settings,
    balance: float,
    roles: Sequence[tuple[RowArray, RowArray]],
    is_open: BoolArray,
    **others: Any,
) -> GateRun:
    """Train members that see some of the gates, (members, gates); no other is built."""
    if is_open.all():
        balances = np.full(len(roles), balance)
        return train_gates(problem, settings, balances, roles, **others)
    gates = np.flatnonzero(is_open.any(axis=0))
    narrow = problem if len(gates) == is_open.shape[1] else problem.take(gates)
    # λ is shared out among the features of the stack.
    share = narrow.n_features / problem.n_features
    run = train_gates(
        narrow,
        settings,
        np.full(len(roles), share * balance),
        roles,
        is_closed=~is_open[:, gates],
        **others,
    )
    logits = np.full((len(roles), len(problem.gates)), CLOSED, dtype=np.float32)
    logits[:, gates] = run.logits
    return replace(run, logits=logits, gates=gates)
