"""What a search found."""

from dataclasses import dataclass
from typing import NamedTuple

from featuresieve.engine import History
from featuresieve.problem import BoolArray, IndexArray
from featuresieve.search._choice import Judgement
from featuresieve.search._evidence import Evidence
from featuresieve.search._votes import Votes

# Confidence with which the best candidate must beat a constant for the answer not to be
# doubtful.
CONFIDENCE = 0.95


class Candidate(NamedTuple):
    """One row of the path: a set that was refitted, and how it did."""

    balance: float
    n_kept: int
    loss: float
    loss_error: float
    is_chosen: bool


@dataclass(frozen=True)
class SearchResult:
    """What a search found."""

    support: BoolArray  # by gate
    votes: Votes
    balance: float
    path: list[Candidate]
    history: History  # of the gated stack
    screened: IndexArray | None = None  # gates that it is of; None: no gate is left out
    judgement: Judgement | None = None  # if candidates were refitted, as in `path`
    is_collapsed: bool = False  # nothing got the votes, at a given balance half of them
    is_uninformative: bool = False  # not shown to beat a constant on held-out rows
    is_cut_short: bool = False  # by the time limit
    # Held-out rows without the most common target; None if no set was refitted.
    n_uncommon: int | None = None
    evidence: Evidence | None = None  # if candidates were refitted
    # Part of the usual refit after which the chosen set was at its best.
    predictor_share: float = 1.0

    @property
    def is_hardly_judged(self) -> bool:
        """Tell whether even if all uncommon rows gain, that may be chance."""
        return self.n_uncommon is not None and 0.5**self.n_uncommon > 1 - CONFIDENCE
