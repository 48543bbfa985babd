"""How much each row counts: sample weights and class weights."""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.class_weight import compute_sample_weight

from featuresieve.errors import as_float, shown
from featuresieve.tables import FloatArray, IndexArray

# Whole-number weights are taken as copies up to this many times the rows.
_MOST_COPIES = 10
_LARGEST = 1e200


@dataclass(frozen=True)
class SampleWeights:
    """Which rows are learnt from, and how much each counts."""

    rows: IndexArray  # of the table; one of weight k may stand here k times
    weights: FloatArray | None  # of these; None: all count alike
    by_row: FloatArray | None  # what each row of the table counts in all


def row_weights(
    sample_weight: Any, class_weight: Any, y: npt.NDArray[Any] | None, n_rows: int
) -> SampleWeights:
    """Combine the weights the user passed; class weights need the labels `y`.

    A weight of k means k copies of the row. Whole-number weights are taken at their
    word (up to ten times the rows in all); others multiply the row's loss. Rows of
    weight zero are left out.
    """
    given = _checked(sample_weight, n_rows)
    if given is None and class_weight is None:
        return SampleWeights(np.arange(n_rows), None, None)
    total = np.ones(n_rows) if given is None else given
    if class_weight is not None:
        total = total * _by_class(class_weight, y, given)
    rows = np.flatnonzero(total > 0)
    if len(rows) == 0:
        raise ValueError("class_weight and sample_weight must not make all weights 0.")
    used = total[rows]
    if (used == np.rint(used)).all() and used.sum() <= _MOST_COPIES * n_rows:
        return SampleWeights(np.repeat(rows, used.astype(np.intp)), None, total)
    return SampleWeights(rows, used / used.mean(), total)


def _checked(sample_weight: Any, n_rows: int) -> FloatArray | None:
    """Return the weights as an array, or say what is wrong with them."""
    if sample_weight is None:
        return None
    weights = _real_numbers(sample_weight)
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have shape ({n_rows},), one weight a row, got "
            f"{weights.shape}."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        wrong = weights[~(np.isfinite(weights) & (weights >= 0))][0]
        raise ValueError(f"sample_weight must be finite and >= 0, got {wrong}.")
    if weights.max() > _LARGEST:
        raise ValueError(
            f"sample_weight must be at most {_LARGEST:g}, so that sums of weights are "
            f"finite, got {weights.max()}."
        )
    if not weights.any():
        raise ValueError("sample_weight must not be zero for every row.")
    return weights


def _real_numbers(sample_weight: Any) -> FloatArray:
    """Return what the user passed as an array of real numbers."""
    if hasattr(sample_weight, "detach"):
        sample_weight = sample_weight.detach().cpu().numpy()
    try:
        weights = np.asarray(sample_weight)
        if weights.dtype.kind == "c":
            raise TypeError  # numpy would leave the imaginary part out
        return weights.astype(np.float64)
    except OverflowError:
        raise ValueError(
            f"sample_weight must be at most {_LARGEST:g}, got {shown(sample_weight)}."
        ) from None
    except (TypeError, ValueError):
        raise TypeError(
            f"sample_weight must hold real numbers, got {shown(sample_weight)}."
        ) from None


def _by_class(
    class_weight: Any, y: npt.NDArray[Any] | None, sample_weight: FloatArray | None
) -> FloatArray:
    """Return the weight that each row has by its class."""
    is_balanced = isinstance(class_weight, str) and class_weight == "balanced"
    if not is_balanced and not isinstance(class_weight, Mapping):
        raise ValueError(
            f"class_weight must be a dict, 'balanced' or None, got {class_weight!r}."
        )
    if y is None:
        raise ValueError("class_weight must be None for regression.")
    if isinstance(class_weight, Mapping):
        for label, weight in class_weight.items():
            if not isinstance(weight, Real) or not 0 <= as_float(weight) <= _LARGEST:
                raise ValueError(
                    "every entry of class_weight must be finite and >= 0, and at most "
                    f"{_LARGEST:g}, got {label!r}: {shown(weight)}."
                )
        class_weight = {k: float(weight) for k, weight in class_weight.items()}
    elif y.ndim == 1:
        return _balanced(y, sample_weight)
    return np.asarray(compute_sample_weight(class_weight, y), dtype=np.float64)


def _balanced(y: npt.NDArray[Any], sample_weight: FloatArray | None) -> FloatArray:
    """Return weights with which every class counts as much as the others."""
    codes = np.unique(y, return_inverse=True)[1].reshape(-1)
    totals = np.bincount(codes, sample_weight)
    even = totals.sum() / len(totals)
    factors = np.divide(even, totals, out=np.zeros(len(totals)), where=totals > 0)
    return np.asarray(factors[codes])


def row_group_codes(groups: Any, n_rows: int) -> IndexArray | None:
    """Return a number for each row that is the same for rows of one group.

    None if there are no groups; labels may be of any kind that can be compared.
    """
    if groups is None:
        return None
    if isinstance(groups, str):
        raise TypeError(
            "groups must hold a label for each row; the name of a column is for "
            f"streams, got {groups!r}."
        )
    if getattr(groups, "ndim", 1) != 1:  # of a table, the list is of its names
        raise ValueError("groups must be one-dimensional, with one label a row.")
    labels = list(groups.tolist() if hasattr(groups, "tolist") else groups)
    if len(labels) != n_rows:
        raise ValueError(
            f"groups must have one label for each of the {n_rows} rows of X, "
            f"got {len(labels)}."
        )
    codes: dict[Any, int] = {}
    try:
        numbers = [codes.setdefault(label, len(codes)) for label in labels]
    except TypeError:
        raise ValueError(
            "groups must be one-dimensional, with one label a row."
        ) from None
    # A value that is not equal to itself is missing (NaN, NaT); pandas has NA, too.
    is_missing = [x is None or str(x) == "<NA>" or x != x for x in codes]
    if any(is_missing):
        raise ValueError("groups must have a label in every row, got missing ones.")
    if len(codes) < 2:
        raise ValueError("groups must have at least 2 different labels, got 1.")
    return np.array(numbers, dtype=np.intp)
