"""What speaks for and against an answer, besides the curve of nested sets."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from featuresieve.problem import BoolArray, Gates
from featuresieve.search._choice import Judgement
from featuresieve.search._refit import HeldOutLosses
from featuresieve.search._votes import Votes


@dataclass(frozen=True)
class Evidence:
    """What held-out rows and votes say; losses are shares of the loss of a constant."""

    gain: float  # of the elected set over a constant
    # The gate that every part of the rows ranks first, if it alone was refitted, and
    # its gain.
    first: int | None
    first_gain: float
    whole: tuple[float, float] | None  # gain of all columns and its error, if tried
    lost: float  # what the elected set loses to all columns; NaN if that was not tried
    lost_error: float
    agreement: float  # what two parts elect in common, of what either elects
    close_calls: (
        BoolArray  # gates whose votes are a chance from being too few, or enough
    )


def gathered(
    votes: Votes,
    own: Sequence[Votes],
    judgement: Judgement,
    losses: HeldOutLosses,
    whole: HeldOutLosses | None,
    gates: Gates,
) -> Evidence:
    """Return what the refits and the votes, `own` of each part, say."""
    scale = max(judgement.null_loss, 1e-12)
    gains = 1 - judgement.means / scale
    firsts = {int(part.ranked[0]) for part in own}
    is_alone = len(firsts) == 1 and judgement.sizes[0] == 1 < gates.n_features_total
    lost = error = np.nan
    of_whole = None
    if whole is not None:
        of_whole = 1 - float(whole.means[0]) / scale, float(whole.errors[0]) / scale
        lost, error = whole.gain_over(losses.rows[judgement.elected], 0)
    return Evidence(
        gain=float(gains[judgement.elected]),
        first=firsts.pop() if is_alone else None,
        first_gain=float(gains[0]),
        whole=of_whole,
        lost=lost / scale,
        lost_error=error / scale,
        agreement=_agreement([part.is_elected() for part in own]),
        close_calls=votes.close_calls() & ~gates.is_forced,
    )


def _agreement(sets: Sequence[BoolArray]) -> float:
    """Return the mean share of common members of two sets; 1 of two empty ones."""
    shares = [
        (a & b).sum() / (a | b).sum() if (a | b).any() else 1.0
        for a, b in combinations(sets, 2)
    ]
    return float(np.mean(shares)) if shares else 1.0
