"""Candidate sets: rules that turn the votes of a gated stack into columns."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.intp]

# Sizes of ranked candidates grow by this factor.
_SIZE_RATIO = 1.3
# How far beyond the members' own count a single held-out part may be trusted.
_HEADROOM = 1.25


@dataclass(frozen=True)
class Votes:
    """What the members of a gated stack kept, for some or all of them.

    Attributes
    ----------
    kept : array of shape (balances, members, columns)
    logits : array of the same shape
    """

    kept: BoolArray
    logits: npt.NDArray[np.float32]

    def of(self, members: IndexArray) -> "Votes":
        """Return the votes of some members."""
        return Votes(self.kept[:, members], self.logits[:, members])

    def frequency(self) -> FloatArray:
        """Return the share of members that keep a column, (balances, columns)."""
        return np.asarray(self.kept.mean(axis=1, dtype=np.float64))

    def ranked(self) -> IndexArray:
        """Return the columns, best first.

        A column that survives at many balances and for many members comes first; a
        tie goes to the larger mean gate, then to the larger mean logit.
        """
        logits = self.logits.astype(np.float64)
        gates = 1.0 / (1.0 + np.exp(-np.clip(logits, -30, 30)))
        keys = (logits, gates, self.kept)  # the last key counts first
        return np.lexsort([-key.mean(axis=(0, 1)) for key in keys])


@dataclass(frozen=True)
class Rule:
    """How to turn votes into a set.

    Attributes
    ----------
    kind : "majority" or "top"
        The columns most members keep at one balance, or the best ranked of the path.
    balance_index : int
        The balance of "majority", and the one nearest in count for "top".
    size : int
        The count of "top".
    """

    kind: str
    balance_index: int
    size: int = 0

    def columns(self, votes: Votes) -> IndexArray:
        """Return the columns this rule picks, in ascending order."""
        if self.kind == "top":
            return np.sort(votes.ranked()[: self.size])
        return np.flatnonzero(votes.frequency()[self.balance_index] >= 0.5)


def candidate_rules(
    votes: Votes, *, is_returned_as_judged: bool, least: int, most: int
) -> list[Rule]:
    """List the rules worth a refit.

    Parameters
    ----------
    votes : Votes
        Of all members.
    is_returned_as_judged : bool
        Whether the very set that is refitted will be the answer, as with a single
        held-out part. Then majorities at single balances are candidates too, besides
        ranked sets, and these go a quarter beyond what a member keeps on average at
        the lowest balance. With several parts a rule is judged by the sets it makes of
        each part's members, and ranked sets go up to that average.
    least, most : int
        Bounds on the number of columns kept.
    """
    n_columns = votes.kept.shape[-1]
    counts = votes.kept.sum(axis=-1).mean(axis=1)  # mean count at each balance
    largest = counts.max() * (_HEADROOM if is_returned_as_judged else 1.0)
    largest = int(np.clip(np.ceil(largest), least, min(most, n_columns)))
    rules = []
    if is_returned_as_judged:
        majorities = [Rule("majority", p) for p in range(len(counts))]
        rules += [r for r in majorities if least <= len(r.columns(votes)) <= largest]
    rules += [
        Rule("top", int(np.abs(counts - size).argmin()), size)
        for size in _sizes(least, largest)
    ]
    by_set = {tuple(rule.columns(votes)): rule for rule in reversed(rules)}
    return list(reversed(by_set.values()))


def _sizes(least: int, largest: int) -> list[int]:
    """Return growing sizes from `least` to `largest`."""
    sizes = [least]
    while sizes[-1] < largest:
        sizes.append(min(largest, max(sizes[-1] + 1, round(sizes[-1] * _SIZE_RATIO))))
    return sizes
