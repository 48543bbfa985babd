"""Where the randomness of a scenario comes from."""

from typing import Protocol

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]
Matrix = npt.NDArray[np.float64]

# Index draws are always so many times the columns, so that scenarios with different
# noise shares begin with the same columns. It also bounds the share: 9 / (9 + 1).
DRAWS_PER_COLUMN = 9


class Stream(Protocol):
    """What a scenario may draw."""

    def indices(self, n_columns: int, n_kept: int) -> Indices:
        """Return columns drawn with replacement, (n_kept,)."""

    def normal(self, n_rows: int, n_kept: int) -> Matrix:
        """Return standard normal values, (n_rows, n_kept)."""


class LegacyStream:
    """The benchmark's own numbers: NumPy's RandomState, seed 0."""

    def __init__(self) -> None:
        self._source = np.random.RandomState(0)

    def indices(self, n_columns: int, n_kept: int) -> Indices:
        drawn = self._source.randint(n_columns, size=DRAWS_PER_COLUMN * n_columns)
        return drawn[:n_kept].astype(np.int64)

    def normal(self, n_rows: int, n_kept: int) -> Matrix:
        return self._source.randn(n_rows, n_kept)


class OwnStream:
    """Numbers of a seed of one's own; a larger share begins as a smaller one does."""

    def __init__(self, seed: int) -> None:
        self._columns, self._values = np.random.default_rng(seed).spawn(2)

    def indices(self, n_columns: int, n_kept: int) -> Indices:
        drawn = self._columns.integers(n_columns, size=DRAWS_PER_COLUMN * n_columns)
        return drawn[:n_kept]

    def normal(self, n_rows: int, n_kept: int) -> Matrix:
        return np.ascontiguousarray(self._values.standard_normal((n_kept, n_rows)).T)
