"""All that carries information: vote again, where what was found is mostly hidden."""

from collections.abc import Callable

import numpy as np

from featuresieve.problem import BoolArray
from featuresieve.search._stacks import GateRun
from featuresieve.search._votes import Votes

# What a feature costs in a round, as a share of the usual price, and the share of the
# members that must keep it.
ROUND_PRICE, _ROUND_SHARE = 2 / 3, 0.07
_MOST_ROUNDS = 10
# Chances that a member sees a feature that was found: some see none of them, and keep
# what stands in for them; others some, and keep what matters beside one of them.
_CHANCES = np.array([0.0, 0.25, 0.5, 0.5])

# Train and count the votes of a round, given its number and the closed gates.
Vote = Callable[[int, BoolArray], tuple[GateRun, Votes]]
# Tell whether as many gates, each split's own by these votes, beat a constant.
Holds = Callable[[int, Votes, int], bool]


def all_relevant(
    votes: Votes, found: BoolArray, vote: Vote, holds: Holds, seed: int
) -> tuple[BoolArray, Votes]:
    """Return all gates that carry information, and the votes that say so.

    A round that finds nothing new is the last, and so is one whose findings do not
    predict by themselves, or which a deadline cut short. The votes for a gate are those
    of the round that found it, or of the last.
    """
    found, kept, logits = found.copy(), votes.kept.copy(), votes.logits.copy()
    rounds = np.where(found, 0, _MOST_ROUNDS + 1)
    for number in range(1, _MOST_ROUNDS + 1):
        rng = np.random.default_rng([seed, number])
        chances = _CHANCES[np.arange(len(kept)) % len(_CHANCES), None]
        is_closed = (rng.random(kept.shape) >= chances) & found
        run, new = vote(number, is_closed)
        is_new = (new.kept.mean(axis=0) >= _ROUND_SHARE) & ~found
        kept[:, ~found], logits[:, ~found] = new.kept[:, ~found], new.logits[:, ~found]
        if not is_new.any():
            break
        is_last = run.is_cut_short or not holds(
            number, new.without(found), int(is_new.sum())
        )
        found |= is_new
        rounds[is_new] = number
        if is_last:
            break
    return found, Votes(kept, logits, votes.is_last, rounds)
