"""What speaks for and against an answer, besides the curve of nested sets."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from featuresieve.problem import BoolArray, FloatArray, Gates, IndexArray, Problem
from featuresieve.search._refit import HeldOutLosses, refit_candidates
from featuresieve.search._settings import Settings
from featuresieve.search._splits import HeldOutSplit
from featuresieve.search._votes import Votes


@dataclass(frozen=True, eq=False)
class Evidence:
    """What held-out rows and votes say; losses are shares of the loss of a constant."""

    # What shuffling a gate of the elected set costs, and its error, (2, gates); NaN for
    # other gates.
    importance: FloatArray
    gain: float  # of the elected set over a constant
    # The gate that every part of the rows ranks first, if it alone was refitted, and
    # its gain.
    first: int | None
    first_gain: float
    whole: tuple[float, float] | None  # gain of all columns and its error, if tried
    lost: float  # what the elected set loses to all columns; NaN if that was not tried
    lost_error: float
    agreement: float  # what two parts elect in common, of what either elects
    close_calls: BoolArray  # gates with nearly too few votes, or nearly enough


def refit_both(
    problem: Problem,
    settings: Settings,
    splits: Sequence[HeldOutSplit],
    elected: IndexArray,
    *,
    is_all_tried: bool,
    seed: int,
    deadline: float | None,
) -> tuple[HeldOutLosses, HeldOutLosses | None]:
    """Refit what is elected, and shuffle it; refit all columns, if there are more.

    Nobody follows these stages: they are short, and the answer is there.
    """

    def refit(gates: IndexArray, seed: int, is_shuffled: bool) -> HeldOutLosses:
        sets = [[gates]] * len(splits)
        return refit_candidates(
            *(problem, settings, sets, splits),
            seed=seed,
            is_shuffled=is_shuffled,
            deadline=deadline,
        )

    usable = np.arange(len(problem.gates))
    if problem.gates.is_shut is not None:
        usable = usable[~problem.gates.is_shut]
    shuffled = refit(elected, seed, True)
    if not is_all_tried or len(usable) <= len(elected):
        return shuffled, None
    return shuffled, refit(usable, seed + 1, False)


def gathered(
    votes: Votes,
    own: Sequence[Votes],
    gates: Gates,
    elected: IndexArray,
    sizes: Sequence[int],
    losses: HeldOutLosses,
    both: tuple[HeldOutLosses | None, HeldOutLosses | None],
    null_loss: float,
) -> Evidence:
    """Return what the votes, `own` of each part, and the refits say.

    `losses` are those of `sizes`, `both` of what is elected and of all columns.
    """
    shuffled, whole = both
    # A constant that loses nothing, as of a constant target, measures nothing.
    scale = null_loss if null_loss > 1e-9 else 1.0
    importance = np.full((2, len(gates)), np.nan)
    if shuffled is not None and shuffled.rises is not None:
        importance[:, elected] = shuffled.rises / scale
    gains = (null_loss - losses.means) / scale
    candidate = int(np.searchsorted(sizes, len(elected)))
    firsts = {int(part.ranked[0]) for part in own}
    is_alone = len(firsts) == 1 and sizes[0] == 1 < len(gates)
    lost = error = np.nan
    of_whole = None
    if whole is not None:
        of_whole = (
            (null_loss - float(whole.means[0])) / scale,
            float(whole.errors[0]) / scale,
        )
        lost, error = whole.gain_over(losses.rows[candidate], 0)
    return Evidence(
        importance=importance,
        gain=float(gains[candidate]),
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
