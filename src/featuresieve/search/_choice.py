"""Which candidate set is the answer: the smallest shown to be good enough."""

from dataclasses import dataclass, replace

import numpy as np

from featuresieve.problem import BoolArray, FloatArray, IndexArray
from featuresieve.search._refit import HeldOutLosses

# Standard errors by which a set may seem worse than the best and still be plausible,
# and by which a smaller one must be shown to be good enough.
_PLAUSIBLE_ERRORS, _SHOWN_ERRORS = 0.5, 1.0


@dataclass(frozen=True, eq=False)
class Judgement:
    """What held-out rows say about candidate sets; enough to choose again.

    Attributes
    ----------
    sets : array of shape (candidates, gates) of bool
        Or, of a fitted estimator, (candidates, features).
    sizes : array of shape (candidates,)
        Features in each.
    means : array of shape (candidates,)
        Mean held-out losses.
    excess, errors : arrays of shape (candidates, candidates)
        How much more the second loses than the first, and the standard error of that.
    must_gain : array of shape (candidates,) of bool
        Sets so large that they count only if they are shown to be better.
    best_share : array of shape (candidates,)
        Part of the training after which each was at its best.
    null_loss : float
        Held-out loss of a constant.
    fewest : int or None
        The candidate with the fewest features, if none beats a constant: the answer
        then, whatever the tolerance.
    """

    sets: BoolArray
    sizes: IndexArray
    means: FloatArray
    excess: FloatArray
    errors: FloatArray
    must_gain: BoolArray
    best_share: FloatArray
    null_loss: float
    fewest: int | None = None

    @classmethod
    def of(
        cls,
        losses: HeldOutLosses,
        sets: BoolArray,
        sizes: IndexArray,
        must_gain: BoolArray,
        null_loss: float,
    ) -> "Judgement":
        """Compare every candidate with every other, row by row."""
        pairs = [losses.excess_over(i) for i in range(len(sets))]
        return cls(
            sets=sets,
            sizes=sizes,
            means=losses.means,
            excess=np.array([excess for excess, _ in pairs]),
            errors=np.array([error for _, error in pairs]),
            must_gain=must_gain,
            best_share=losses.best_share,
            null_loss=null_loss,
        )

    def take(self, order: IndexArray) -> "Judgement":
        """Return the same judgement with its candidates in another order."""
        fewest = None if self.fewest is None else order.tolist().index(self.fewest)
        return replace(
            self,
            sets=self.sets[order],
            sizes=self.sizes[order],
            means=self.means[order],
            excess=self.excess[np.ix_(order, order)],
            errors=self.errors[np.ix_(order, order)],
            must_gain=self.must_gain[order],
            best_share=self.best_share[order],
            fewest=fewest,
        )

    def counted(self) -> list[int]:
        """Return the candidates that need not gain, and those that are shown to."""
        trusted = np.flatnonzero(~self.must_gain)
        best = min(trusted, key=self.means.__getitem__)
        is_shown = self.excess[best] + _SHOWN_ERRORS * self.errors[best] < 0
        return [int(i) for i in np.flatnonzero(is_shown | ~self.must_gain)]

    def best(self) -> int:
        """Return the candidate with the least loss among those that count."""
        return min(self.counted(), key=self.means.__getitem__)

    def choose(self, tolerance: float) -> int:
        """Return the smallest candidate shown to be good enough.

        Candidates that must gain count if they are better, by one standard error of the
        difference, than the best of the others. Plausible is a candidate that may be as
        good as the best: its excess loss, less half a standard error, is within the
        tolerance. The largest plausible candidate is the reference, and a smaller one
        is good enough if its excess over it, plus one error, is within the tolerance.
        So many rows allow a small answer, and few rows, which cannot show that columns
        may go, keep what the gates kept.

        The tolerance is a share of the best loss, but never more than five times that
        share of what the best candidate gains over a constant: on a hard problem the
        loss is nearly all noise, and a share of it would swallow the whole gain.
        """
        if self.fewest is not None:
            return self.fewest
        counted, best = self.counted(), self.best()
        least_loss = float(self.means[best])
        gain = max(self.null_loss - least_loss, 0.0)
        allowed = tolerance * min(least_loss, 5 * gain)
        is_plausible = (
            self.excess[best] - _PLAUSIBLE_ERRORS * self.errors[best] <= allowed
        )
        plausible = [i for i in counted if is_plausible[i]]
        reference = max(plausible, key=lambda i: (self.sizes[i], -self.means[i]))
        is_shown = (
            self.excess[reference] + _SHOWN_ERRORS * self.errors[reference] <= allowed
        )
        good = [i for i in plausible if is_shown[i] or i == reference]
        return min(good, key=lambda i: (self.sizes[i], self.means[i]))
