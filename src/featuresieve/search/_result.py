"""What a search found."""

from dataclasses import dataclass

from featuresieve.engine import History
from featuresieve.problem import BoolArray, FloatArray
from featuresieve.search._candidates import Votes
from featuresieve.search._choice import Judgement

# Confidence with which the best candidate must beat a constant for the answer not to be
# doubtful.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Candidate:
    """One row of the path: a set that was refitted, and how it did."""

    balance: float
    n_kept: int
    loss: float
    loss_error: float
    is_chosen: bool


@dataclass(frozen=True)
class SearchResult:
    """What a search found.

    Attributes
    ----------
    support : array of shape (gates,)
    votes : Votes
        What every member kept at every balance.
    balance_index : int
        Which balance was chosen.
    balances : array of shape (balances,)
    path : list of Candidate
    history : History
        Of the gated stack.
    judgement : Judgement or None
        Of the candidates in the order of the path, if they were refitted.
    is_collapsed : bool
        No member kept anything, or at a single balance fewer than half of them.
    is_uninformative : bool
        No candidate was shown to beat a constant on held-out rows.
    is_cut_short : bool
        The time limit shortened the search.
    n_uncommon : int or None
        Held-out rows without the most common target; None if no set was refitted.
    predictor_share : float
        Part of the usual refit after which the chosen set was at its best.
    """

    support: BoolArray
    votes: Votes
    balance_index: int
    balances: FloatArray
    path: list[Candidate]
    history: History
    judgement: Judgement | None = None
    is_collapsed: bool = False
    is_uninformative: bool = False
    is_cut_short: bool = False
    n_uncommon: int | None = None
    predictor_share: float = 1.0

    @property
    def is_hardly_judged(self) -> bool:
        """Tell whether even if all uncommon rows gain, that may be chance."""
        return self.n_uncommon is not None and 0.5**self.n_uncommon > 1 - CONFIDENCE
