"""What the members of a stack keep, counted: the order of the gates, and sets of them.

Near-copies split the votes, and chance gives a few to noise. At a high price a member
keeps little besides what it needs, so few votes are enough to tell the two apart.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from featuresieve.engine import CLOSED, threshold_mask, vote_mask
from featuresieve.problem import (
    BoolArray,
    CountLimits,
    FloatArray,
    Gates,
    IndexArray,
    nearest_count,
)
from featuresieve.search._settings import Settings
from featuresieve.search._stacks import GateRun

# Share of the members that must keep a feature, and the least number of them.
VOTE_SHARE, LEAST_VOTES = 0.1, 2
# Sizes of nested sets grow by this factor, up to this many times the chosen one.
_SIZE_RATIO, REACH = 1.3, 2
# Networks times columns of refits that take a moment.
_MOST_SMALL = 2**18


@dataclass(frozen=True)
class Votes:
    """What the members of a gated stack kept, for some or all of them."""

    kept: BoolArray  # (members, gates)
    logits: npt.NDArray[np.float32]  # (members, gates)
    # Gates that are ranked last whatever the votes, because they are shut, or open more
    # features than may be kept.
    is_last: BoolArray | None = None
    # The round that found each gate; those of an earlier one are ranked before.
    rounds: IndexArray | None = None

    def of(self, members: slice) -> "Votes":
        """Return the votes of some members."""
        return Votes(self.kept[members], self.logits[members], self.is_last)

    def frequency(self) -> FloatArray:
        """Return the share of members that keep a gate open."""
        return np.asarray(self.kept.mean(axis=0, dtype=np.float64))

    def without(self, is_hidden: BoolArray) -> "Votes":
        """Return the same votes, none of them for some gates."""
        logits = np.where(is_hidden, np.float32(CLOSED), self.logits)
        return Votes(self.kept & ~is_hidden, logits, self.is_last)

    def is_elected(self, share: float | None = None) -> BoolArray:
        """Tell which gates have the votes to be kept."""
        n_members = len(self.kept)
        least = max(min(LEAST_VOTES, n_members), VOTE_SHARE * n_members)
        if share is not None:
            least = share * n_members
        elected = np.asarray(self.kept.sum(axis=0) >= least)
        return elected if self.is_last is None else elected & ~self.is_last

    def close_calls(self) -> BoolArray:
        """Tell which gates are within a standard error of the votes that are needed."""
        n_members = len(self.kept)
        bar = max(LEAST_VOTES, VOTE_SHARE * n_members)
        away = np.abs(self.kept.sum(axis=0) + 0.5 - bar)
        return np.asarray(away <= np.sqrt(bar * (1 - VOTE_SHARE)))

    def n_elected(self, share: float | None = None) -> int:
        """Return how many gates, the first of `ranked`, have the votes to be kept."""
        return int(self.is_elected(share).sum())

    @cached_property  # asked for again and again, and wide tables take long to rank
    def ranked(self) -> IndexArray:
        """Return the gates by votes, then by mean opening, then by mean logit."""
        keys: list[npt.NDArray[Any]]
        keys = [-self.logits.mean(axis=0, dtype=np.float64), -self._openings()]
        keys.append(-self.kept.sum(axis=0))
        if self.rounds is not None:
            keys.append(self.rounds)
        if self.is_last is not None:
            keys.append(self.is_last)
        return np.lexsort(keys)  # the last key counts first

    def importances(self) -> FloatArray:
        """Return the share of members that keep a gate, in the order of `ranked`.

        A tie goes to the larger mean opening, which counts like one more member.
        """
        counts = self.kept.sum(axis=0)
        return np.asarray((counts + self._openings()) / (len(self.kept) + 1))

    def _openings(self) -> FloatArray:
        """Return the mean opening of each gate."""
        logits = np.clip(self.logits.astype(np.float64), -30, 30)
        return np.asarray((1.0 / (1.0 + np.exp(-logits))).mean(axis=0))


def decide(
    run: GateRun, settings: Settings, seed: int, gates: Gates, limits: CountLimits
) -> Votes:
    """Turn the logits of a run into what each member keeps."""
    logits = torch.from_numpy(run.logits)
    if settings.training.decision == "vote":
        generator = torch.Generator().manual_seed(seed)
        n_votes = run.schedule.steps_per_epoch
        kept = vote_mask(logits, settings.training.noise, n_votes, generator).numpy()
    else:
        kept = threshold_mask(logits).numpy()
    decided = np.where(gates.is_forced, np.float32(np.inf), run.logits)
    most = limits.most if limits.exactly is None else limits.exactly
    room = most - gates.count(np.flatnonzero(gates.is_forced))
    is_last = (gates.n_features > room) & ~gates.is_forced
    if gates.is_shut is not None:
        is_last |= gates.is_shut
    return Votes(kept | gates.is_forced, decided, is_last)


def elected(
    votes: Votes, gates: Gates, limits: CountLimits, share: float | None = None
) -> IndexArray:
    """Return the gates with the votes to be kept, as many as are allowed, ascending."""
    ranked = votes.ranked
    if limits.exactly is not None:
        return fill(ranked, gates, limits.exactly)
    sizes = prefix_sizes(ranked, gates, limits)
    if not sizes:
        return fill(ranked, gates, nearest_count(gates, limits))
    return np.sort(ranked[: int(np.clip(votes.n_elected(share), sizes[0], sizes[-1]))])


def nested_sizes(
    votes: Votes, gates: Gates, limits: CountLimits, reach: int = REACH
) -> list[int]:
    """Return sizes of sets worth a refit, in gates, ascending.

    From the least that is allowed to `reach` times the elected ones, these among them;
    empty if no number of best ranked gates is allowed.
    """
    allowed = prefix_sizes(votes.ranked, gates, limits)
    if not allowed:
        return []
    chosen = int(np.clip(votes.n_elected(), allowed[0], allowed[-1]))
    most = reach * chosen
    if votes.is_last is not None:
        most = max(chosen, min(most, int((~votes.is_last).sum())))
    largest = int(np.clip(most, allowed[0], allowed[-1]))
    return sorted({*_growing(allowed[0], largest), chosen})


def prefix_sizes(ranked: IndexArray, gates: Gates, limits: CountLimits) -> list[int]:
    """Return how many of the best ranked gates may be opened, ascending.

    Forced gates come first in any ranking, and are always among them.
    """
    counts = np.cumsum(gates.n_features[ranked])
    sizes = np.arange(1, len(ranked) + 1)
    is_allowed = (counts >= limits.least) & (counts <= limits.most)
    return [int(s) for s in sizes[is_allowed & (sizes >= gates.is_forced.sum())]]


def fill(ranked: IndexArray, gates: Gates, count: int) -> IndexArray:
    """Return the best ranked gates that open exactly `count` features, ascending.

    A gate is passed over if the rest could not make up the count any more.
    """
    sizes = [int(size) for size in gates.n_features[ranked]]
    reachable = [1]  # sums of what comes after each gate, as bits, from the back
    for size in reversed(sizes[1:]):
        reachable.append(reachable[-1] | reachable[-1] << size)
    chosen, left = [], count
    for gate, size, rest in zip(ranked, sizes, reversed(reachable), strict=True):
        if size <= left and rest >> (left - size) & 1:
            chosen.append(gate)
            left -= size
    assert left == 0
    return np.sort(np.array(chosen, dtype=np.intp))


def small_enough(sizes: list[int], n_networks: int) -> list[int]:
    """Return the sizes, one at least, whose sets can be refitted in a moment.

    Gates that were hardly trained keep half of a wide table, and networks on so many
    columns, `n_networks` for each size, would take longer to set up than time is left.
    """
    return [
        size
        for n, size in enumerate(sizes, start=1)
        if n == 1 or n * n_networks * size <= _MOST_SMALL
    ]


def _growing(least: int, largest: int) -> list[int]:
    """Return growing sizes from `least` to `largest`."""
    sizes = [least]
    while sizes[-1] < largest:
        sizes.append(min(largest, max(sizes[-1] + 1, round(sizes[-1] * _SIZE_RATIO))))
    return sizes
