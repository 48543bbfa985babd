"""Candidate sets: rules that turn the votes of a gated stack into gates to open."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from featuresieve.engine import threshold_mask, vote_mask
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

# Sizes of ranked candidates grow by this factor.
_SIZE_RATIO = 1.3
# How far beyond the members' own count a single held-out part may be trusted, and how
# far it is asked at all: what lies between must be shown to be better.
_TRUST, _REACH = 1.6, 2.5
# Networks times columns of refits that take a moment.
_MOST_SMALL = 2**18


@dataclass(frozen=True)
class Votes:
    """What the members of a gated stack kept, for some or all of them.

    Attributes
    ----------
    kept : array of shape (balances, members, gates)
    logits : array of the same shape
    is_last : array of shape (gates,) or None
        Gates that are ranked last whatever the votes, because they open more features
        than may be kept.
    """

    kept: BoolArray
    logits: npt.NDArray[np.float32]
    is_last: BoolArray | None = None

    def of(self, members: IndexArray) -> "Votes":
        """Return the votes of some members."""
        return Votes(self.kept[:, members], self.logits[:, members], self.is_last)

    def frequency(self) -> FloatArray:
        """Return the share of members that keep a gate open, (balances, gates)."""
        return np.asarray(self.kept.mean(axis=1, dtype=np.float64))

    def ranked(self) -> IndexArray:
        """Return the gates, best first.

        A gate that survives at many balances and for many members comes first; a tie
        goes to the larger mean opening, then to the larger mean logit.
        """
        return self._ranked

    @cached_property  # every rule asks for it, and wide tables take long to rank
    def _ranked(self) -> IndexArray:
        """Rank the gates."""
        logits = self.logits.astype(np.float64)
        keys: list[npt.NDArray[Any]]
        keys = [-logits.mean(axis=(0, 1)), -self._openings()]
        keys.append(-self.kept.mean(axis=(0, 1)))
        if self.is_last is not None:
            keys.append(self.is_last)
        return np.lexsort(keys)  # the last key counts first

    def importances(self) -> FloatArray:
        """Return the share of members that keep a gate, in the order of `ranked`.

        Of all balances; a tie goes to the larger mean opening, which counts like one
        more member.
        """
        n_members = self.kept.shape[0] * self.kept.shape[1]
        counts = self.kept.sum(axis=(0, 1))
        return np.asarray((counts + self._openings()) / (n_members + 1))

    def _openings(self) -> FloatArray:
        """Return the mean opening of each gate."""
        logits = np.clip(self.logits.astype(np.float64), -30, 30)
        return np.asarray((1.0 / (1.0 + np.exp(-logits))).mean(axis=(0, 1)))


@dataclass(frozen=True)
class Rule:
    """How to turn votes into a set.

    Attributes
    ----------
    kind : "majority", "top" or "fill"
        The gates most members keep at one balance, or the best ranked of the path, or
        the best ranked that add up to a count.
    balance_index : int
        The balance of "majority", and the one nearest in count for the others.
    size : int
        The number of gates of "top", the number of features of "fill".
    must_gain : bool
        Whether the set is so large that it only counts if it is shown to be better than
        the best of those that are not.
    """

    kind: str
    balance_index: int
    size: int = 0
    must_gain: bool = False

    def gates(self, votes: Votes, gates: Gates) -> IndexArray:
        """Return the gates this rule picks, in ascending order."""
        if self.kind == "top":
            return np.sort(votes.ranked()[: self.size])
        if self.kind == "fill":
            return fill(votes.ranked(), gates, self.size)
        return np.flatnonzero(votes.frequency()[self.balance_index] >= 0.5)


def candidate_rules(
    votes: Votes, gates: Gates, bounds: CountLimits, *, is_returned_as_judged: bool
) -> list[Rule]:
    """List the rules worth a refit.

    Parameters
    ----------
    votes : Votes
        Of all members.
    gates : Gates
    bounds : CountLimits
        How many features may be kept.
    is_returned_as_judged : bool
        Whether the very set that is refitted will be the answer, as with a single
        held-out part. Then majorities at single balances are candidates too, besides
        ranked sets, and these go to two and a half times what a member keeps on average
        at the lowest balance; beyond 1.6 times they must gain. With several parts a
        rule is judged by the sets it makes of each part's members, and ranked sets go
        up to that average.
    """
    counts = votes.kept.sum(axis=-1).mean(axis=1)  # mean count at each balance
    sizes = prefix_sizes(votes.ranked(), gates, bounds)
    if not sizes:
        return [fewest_rule(votes, gates, bounds)]
    trust, reach = (_TRUST, _REACH) if is_returned_as_judged else (1.0, 1.0)
    trusted, largest = (
        int(np.clip(np.ceil(counts.max() * share), sizes[0], sizes[-1]))
        for share in (trust, reach)
    )
    rules = []
    if is_returned_as_judged:
        for p in range(len(counts)):
            majority = Rule("majority", p)
            kept = majority.gates(votes, gates)
            if len(kept) <= largest and _is_within(gates.count(kept), bounds):
                rules.append(replace(majority, must_gain=len(kept) > trusted))
    rules += [
        replace(_top(votes, size), must_gain=size > trusted)
        for size in _growing(sizes[0], largest)
    ]
    by_set = {tuple(rule.gates(votes, gates)): rule for rule in reversed(rules)}
    return list(reversed(by_set.values()))


def fewest_rule(votes: Votes, gates: Gates, bounds: CountLimits) -> Rule:
    """Return the rule that keeps the fewest features allowed, by rank."""
    sizes = prefix_sizes(votes.ranked(), gates, bounds)
    if sizes:
        return _top(votes, sizes[0])
    return replace(_top(votes, nearest_count(gates, bounds)), kind="fill")


def _top(votes: Votes, size: int) -> Rule:
    """Return the rule of the best ranked, at the balance nearest in count."""
    counts = votes.kept.sum(axis=-1).mean(axis=1)
    return Rule("top", int(np.abs(counts - size).argmin()), size)


def prefix_sizes(ranked: IndexArray, gates: Gates, bounds: CountLimits) -> list[int]:
    """Return how many of the best ranked gates may be opened, ascending.

    Forced gates come first in any ranking, and are always among them.
    """
    counts = np.cumsum(gates.n_features[ranked])
    sizes = np.arange(1, len(ranked) + 1)
    is_allowed = (counts >= bounds.least) & (counts <= bounds.most)
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


def _is_within(count: int, bounds: CountLimits) -> bool:
    """Tell whether a count of features is allowed."""
    return bounds.least <= count <= bounds.most


def small_enough(
    rules: list[Rule], votes: Votes, gates: Gates, n_networks: int
) -> list[Rule]:
    """Return the rules of small sets, at least one, that can be refitted in a moment.

    Gates that were hardly trained keep half of a wide table, and a network for each
    candidate on so many columns would take longer to set up than time was given.

    Parameters
    ----------
    rules : list of Rule
    votes : Votes
    gates : Gates
    n_networks : int
        That each rule needs.
    """
    sizes = [len(rule.gates(votes, gates)) for rule in rules]
    by_size = sorted(range(len(rules)), key=sizes.__getitem__)
    kept = [
        place
        for n, place in enumerate(by_size, start=1)
        if n == 1 or n * n_networks * sizes[place] <= _MOST_SMALL
    ]
    return [rules[place] for place in sorted(kept)]


def _growing(least: int, largest: int) -> list[int]:
    """Return growing sizes from `least` to `largest`."""
    sizes = [least]
    while sizes[-1] < largest:
        sizes.append(min(largest, max(sizes[-1] + 1, round(sizes[-1] * _SIZE_RATIO))))
    return sizes


def decide(
    run: GateRun,
    settings: Settings,
    n_balances: int,
    seed: int,
    gates: Gates,
    bounds: CountLimits,
) -> Votes:
    """Turn the logits of a run into what each member keeps."""
    logits = torch.from_numpy(run.logits)
    if settings.training.decision == "vote":
        generator = torch.Generator().manual_seed(seed)
        n_votes = run.schedule.steps_per_epoch
        kept = vote_mask(logits, settings.training.noise, n_votes, generator).numpy()
    else:
        kept = threshold_mask(logits).numpy()
    kept = kept | gates.is_forced
    decided = np.where(gates.is_forced, np.float32(np.inf), run.logits)
    most = bounds.most if bounds.exactly is None else bounds.exactly
    room = most - gates.count(np.flatnonzero(gates.is_forced))
    is_last = (gates.n_features > room) & ~gates.is_forced
    shape = (n_balances, -1, len(gates))
    return Votes(kept.reshape(shape), decided.reshape(shape), is_last)
