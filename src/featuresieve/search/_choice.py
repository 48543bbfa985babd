"""Which of nested sets is the answer: the elected one, or a smaller one as good."""

from dataclasses import dataclass

import numpy as np

from featuresieve.problem import BoolArray, FloatArray, IndexArray


@dataclass(frozen=True, eq=False)
class Judgement:
    """What held-out rows say about nested candidate sets; enough to choose again."""

    sets: BoolArray  # (candidates, gates), or features in a fitted estimator
    sizes: IndexArray  # features in each, ascending
    means: FloatArray  # mean held-out losses
    best_share: FloatArray  # part of the training after which each was at its best
    null_loss: float  # held-out loss of a constant
    elected: int  # the candidate that the members elected
    # The candidate with the fewest features, if none beats a constant: the answer then,
    # whatever the tolerance.
    fewest: int | None = None

    def choose(self, tolerance: float) -> int:
        """Return the elected candidate, or the smallest that gives up little for it.

        The tolerance is a share of what the elected candidate gains over a constant.
        """
        if self.fewest is not None:
            return self.fewest
        if tolerance == 0:
            return self.elected
        loss = self.means[self.elected]
        allowed = loss + tolerance * max(self.null_loss - loss, 0.0)
        is_good = self.means[: self.elected + 1] <= allowed
        return int(np.flatnonzero(is_good)[0])
