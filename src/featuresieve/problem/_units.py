"""Sets of features that are decided together, most of them of one feature."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from featuresieve.tables import IndexArray


@dataclass(frozen=True, eq=False)
class Units:
    """Sets of features in two arrays: a list of arrays is slow where it is long."""

    features: IndexArray  # set after set
    edges: IndexArray  # where each set begins, and where the last one ends

    @classmethod
    def of(cls, sets: Iterable[Sequence[int] | IndexArray]) -> "Units":
        """Put sets one after the other."""
        arrays = [np.asarray(one, dtype=np.intp) for one in sets]
        sizes = np.array([0, *map(len, arrays)], dtype=np.intp)
        return cls(np.concatenate([np.arange(0), *arrays]), np.cumsum(sizes))

    def __len__(self) -> int:
        return len(self.edges) - 1

    def __getitem__(self, unit: int) -> IndexArray:
        return self.features[self.edges[unit] : self.edges[unit + 1]]

    def __iter__(self) -> Iterator[IndexArray]:
        return (self[unit] for unit in range(len(self)))

    @property
    def sizes(self) -> IndexArray:
        """Return how many features each unit has."""
        return np.diff(self.edges)

    @property
    def firsts(self) -> IndexArray:
        """Return the first feature of each unit."""
        return self.features[self.edges[:-1]]

    def take(self, units: IndexArray) -> "Units":
        """Return some units, in this order."""
        sizes = self.sizes[units]
        features = self.features[indices_of_runs(self.edges[:-1][units], sizes)]
        return Units(features, np.cumsum([0, *sizes.tolist()]))


def indices_of_runs(starts: IndexArray, sizes: IndexArray) -> IndexArray:
    """Return start, start + 1, ... of each run, run after run."""
    indices = np.repeat(starts - np.cumsum(sizes) + sizes, sizes)
    return indices + np.arange(len(indices))
