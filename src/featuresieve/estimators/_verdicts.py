"""What became of each feature, in a word, and which kept one stands for it."""

from typing import Any

import numpy as np
import numpy.typing as npt

from featuresieve.problem import (
    BoolArray,
    EncodedProblem,
    FloatArray,
    nearest_gates,
    related_gates,
)
from featuresieve.storage import VERDICTS

# Share of the members from which votes are no accident of one of them.
_FEW_VOTES = 0.02
# Share of a feature's variance that a kept one must explain to stand for it, and the
# share above which the two are nearly the same.
_STANDS_FOR, _NEARLY_SAME = 0.5, 0.8


def judged_features(
    prepared: EncodedProblem,
    support: BoolArray,
    frequency: FloatArray,
    n_threads: int = 1,
) -> dict[str, npt.NDArray[Any]]:
    """Return the verdict on each feature, as a number, and who stands for it.

    `support` and `frequency` are by feature. Who stands for a feature is a position, -1
    where nobody does.
    """
    firsts = prepared.units.firsts
    gates, is_kept = prepared.problem.gates, support[firsts]
    kept = np.flatnonzero(is_kept)
    nearest, share = nearest_gates(prepared.problem, kept, n_threads)
    matters = frequency[firsts] >= _FEW_VOTES
    matters |= related_gates(prepared.problem, n_threads)
    is_redundant = (matters & (share >= _STANDS_FOR)) | (share >= _NEARLY_SAME)
    is_copy = prepared.copy_of >= 0
    first_met = {
        "forced": gates.is_forced,
        "kept": is_kept,
        "constant": prepared.is_constant,
        "duplicate": is_copy,
        "redundant": is_redundant,
        "weak": matters,
    }
    code = np.select(
        list(first_met.values()),
        [VERDICTS.index(word) for word in first_met],
        VERDICTS.index("no signal"),
    )
    represented = np.where(is_redundant, firsts[kept[nearest]], -1)
    represented = np.where(is_copy, firsts[prepared.copy_of], represented)
    represented[is_kept | prepared.is_constant] = -1
    # A copy of what is not kept either is represented by who represents that.
    second = np.append(represented, -1)[prepared.copy_of]
    is_orphan = is_copy & ~is_kept & ~is_kept[prepared.copy_of]
    represented[is_orphan] = second[is_orphan]
    excluded = VERDICTS.index("excluded")
    return {
        "_verdict": prepared.by_feature(code.astype(np.uint8), excluded),
        "_represented_by": prepared.by_feature(represented.astype(np.int64), -1),
    }
