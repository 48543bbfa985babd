"""The scenarios: which columns are added to a table."""

from collections.abc import Callable

import numpy as np

from sievebench.corruption._streams import Matrix, Stream

_MIXING_WEIGHT = 0.5


def add_nothing(X: Matrix, n_extra: int, stream: Stream) -> Matrix:  # noqa: ARG001
    """Return no column, (n_rows, 0): the table as it is."""
    return np.empty((len(X), 0))


def add_random(X: Matrix, n_extra: int, stream: Stream) -> Matrix:
    """Return standard normal columns, (n_rows, n_extra)."""
    return stream.normal(len(X), n_extra)


def add_corrupted(X: Matrix, n_extra: int, stream: Stream) -> Matrix:
    """Return ``0.5 x_i + 0.5 s_i z``: drawn columns i, buried in noise of their spread.

    ``s_i`` is the standard deviation over all rows, missing values left out.
    """
    chosen = stream.indices(X.shape[1], n_extra)
    noise = stream.normal(len(X), n_extra)
    spread = np.nanstd(X, axis=0)[chosen]
    signal = _MIXING_WEIGHT * X[:, chosen]
    return np.asarray(signal + (1 - _MIXING_WEIGHT) * spread * noise)


def add_second_order(X: Matrix, n_extra: int, stream: Stream) -> Matrix:
    """Return ``x_a * x_b`` of drawn columns a and b; squares and repeats may occur."""
    first = stream.indices(X.shape[1], n_extra)
    second = stream.indices(X.shape[1], n_extra)
    return np.asarray(X[:, first] * X[:, second])


SCENARIOS: dict[str, Callable[[Matrix, int, Stream], Matrix]] = {
    "none": add_nothing,
    "random": add_random,
    "corrupted": add_corrupted,
    "second_order": add_second_order,
}
