"""Stage 2: columns that a selector should not keep are appended to a table."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sievebench.data import Dataset, Matrix

# Index draws are always so many times the columns, so that scenarios with different
# noise shares begin with the same columns. It also bounds the share: 9 / (9 + 1).
_DRAWS_PER_COLUMN = 9
_MIXING_WEIGHT = 0.5


class Stream:
    """What a scenario may draw: numbers of a seed, or the benchmark's own (None).

    Those are of NumPy's RandomState, seed 0. With a seed, a larger share of added
    columns begins as a smaller one does.
    """

    def __init__(self, seed: int | None) -> None:
        self._legacy = np.random.RandomState(0) if seed is None else None
        self._columns, self._values = np.random.default_rng(seed or 0).spawn(2)

    def indices(self, n_columns: int, n_kept: int) -> npt.NDArray[np.int64]:
        """Return columns drawn with replacement, (n_kept,)."""
        draw = self._legacy.randint if self._legacy else self._columns.integers
        drawn = draw(n_columns, size=_DRAWS_PER_COLUMN * n_columns)
        return np.asarray(drawn[:n_kept], dtype=np.int64)

    def normal(self, n_rows: int, n_kept: int) -> Matrix:
        """Return standard normal values, (n_rows, n_kept)."""
        if self._legacy:
            return self._legacy.randn(n_rows, n_kept)
        return np.ascontiguousarray(self._values.standard_normal((n_kept, n_rows)).T)


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


def n_extra_columns(n_columns: int, noise_fraction: float) -> int:
    """Return how many columns make up a fraction p of a table that had D columns.

    ``int(D / (1 - p) * p)``, in the benchmark's order of operations; p is up to 0.9.
    """
    most = _DRAWS_PER_COLUMN / (_DRAWS_PER_COLUMN + 1)
    if not 0 <= noise_fraction <= most:
        raise ValueError(
            f"noise_fraction must be between 0 and {most}, got {noise_fraction!r}."
        )
    return int(n_columns / (1 - noise_fraction) * noise_fraction)


def apply(
    dataset: Dataset,
    scenario: str,
    noise_fraction: float = 0.5,
    seed: int | None = None,
) -> Dataset:
    """Append the columns of a scenario, marked as not original.

    The data set is not yet split: the benchmark adds columns before anything else.
    `noise_fraction`, from 0 to 0.9, is the share of added columns among all; the seed
    is that of `Stream`.
    """
    if scenario not in SCENARIOS:
        raise ValueError(
            f"scenario must be one of {', '.join(SCENARIOS)}, got {scenario!r}."
        )
    n_extra = n_extra_columns(dataset.n_columns, noise_fraction)
    extra = SCENARIOS[scenario](dataset.X, n_extra, Stream(seed))
    n_added = extra.shape[1]
    names = tuple(f"{scenario}_{number}" for number in range(n_added))
    return replace(
        dataset,
        X=np.hstack([dataset.X, extra]),
        column_names=(*dataset.column_names, *names),
        is_original=np.append(dataset.is_original, np.zeros(n_added, dtype=np.bool_)),
    )
