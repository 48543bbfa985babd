"""The folds that a splitter of the user's makes, in terms of the problem."""

import hashlib
import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from featuresieve.errors import shown
from featuresieve.problem import EncodedProblem, IndexArray, Target
from featuresieve.search import HeldOutSplit

# Every fold has members of its own, at least two.
_MOST_FOLDS = 50


def check_folds(cv: Any) -> None:
    """Refuse what makes no folds."""
    is_count = isinstance(cv, int | np.integer) and not isinstance(cv, bool)
    is_other = isinstance(cv, str | bytes | type)
    makes_folds = not is_other and (hasattr(cv, "split") or hasattr(cv, "__iter__"))
    if not (cv is None or (is_count and cv >= 2) or makes_folds):
        raise ValueError(
            "cv must be None, a number of folds of at least 2, a splitter such as "
            "GroupKFold(5), or an iterable of (train, test) row numbers, got "
            f"{shown(cv)}."
        )


def folds_of(
    cv: Any, prepared: EncodedProblem, target: Target, groups: IndexArray | None
) -> list[HeldOutSplit] | None:
    """Return the folds of `cv`, or None for the library's own.

    A splitter is asked with the numbers of the rows in place of X.
    """
    if cv is None:
        return None
    n_rows = len(target.values)
    splitter = check_cv(cv, target.values, classifier=target.task == "classification")
    numbers = np.arange(n_rows).reshape(-1, 1)
    with warnings.catch_warnings():  # they are kept together without it, too
        warnings.filterwarnings("ignore", "The groups parameter is ignored")
        folds = list(splitter.split(numbers, target.values, groups))
    if not 1 <= len(folds) <= _MOST_FOLDS:
        raise ValueError(
            f"cv must make between 1 and {_MOST_FOLDS} folds, got {len(folds)}."
        )
    splits = []
    for number, (train, test) in enumerate(folds):
        is_train = _mask(train, n_rows, number)[prepared.rows]
        is_test = _mask(test, n_rows, number)[prepared.rows]
        if (is_train & is_test).any():
            raise ValueError(f"cv must keep rows apart, got some twice in {number}.")
        if is_train.sum() < 2 or not is_test.any():
            raise ValueError(
                "every fold of cv must have at least 2 rows to learn from and 1 held "
                f"out that count, got {is_train.sum()} and {is_test.sum()} in fold "
                f"{number}."
            )
        splits.append(HeldOutSplit(np.flatnonzero(is_train), np.flatnonzero(is_test)))
    return splits


def digest_of(splits: list[HeldOutSplit] | None) -> str | None:
    """Return what tells folds from others, as a checkpoint holds it."""
    if splits is None:
        return None
    digest = hashlib.blake2b(digest_size=16)
    for split in splits:
        for rows in (split.fit_rows, split.test_rows):
            digest.update(f"{len(rows)} ".encode() + rows.astype(np.int64).tobytes())
    return digest.hexdigest()


def _mask(rows: Any, n_rows: int, number: int) -> Any:
    """Return which rows a side of a fold holds."""
    rows = np.asarray(rows)
    mask = np.zeros(n_rows, dtype=bool)
    is_whole = rows.ndim == 1 and (rows.dtype.kind in "iu" or rows.size == 0)
    if is_whole and not ((rows < 0) | (rows >= n_rows)).any():
        mask[rows.astype(np.intp)] = True
        return mask
    if rows.dtype == bool and rows.shape == mask.shape:
        return rows
    raise ValueError(
        f"cv must hold numbers of rows, 0 to {n_rows - 1}, got {shown(rows)} in fold "
        f"{number}."
    )
