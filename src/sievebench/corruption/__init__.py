"""Stage 2: columns that a selector should not keep are appended to a table."""

from dataclasses import replace

import numpy as np

from sievebench.corruption._scenarios import SCENARIOS
from sievebench.corruption._streams import DRAWS_PER_COLUMN, LegacyStream, OwnStream
from sievebench.data import Dataset

__all__ = ["SCENARIOS", "apply", "n_extra_columns"]


def n_extra_columns(n_columns: int, noise_fraction: float) -> int:
    """Return how many columns make up a fraction p of a table that had D columns.

    ``int(D / (1 - p) * p)``, in the benchmark's order of operations; p is up to 0.9.
    """
    most = DRAWS_PER_COLUMN / (DRAWS_PER_COLUMN + 1)
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
    `noise_fraction`, from 0 to 0.9, is the share of added columns among all. A seed of
    None draws the benchmark's own numbers (NumPy's legacy generator, seed 0), another
    those of a stream of its own.
    """
    if scenario not in SCENARIOS:
        raise ValueError(
            f"scenario must be one of {', '.join(SCENARIOS)}, got {scenario!r}."
        )
    n_extra = n_extra_columns(dataset.n_columns, noise_fraction)
    stream = LegacyStream() if seed is None else OwnStream(seed)
    extra = SCENARIOS[scenario](dataset.X, n_extra, stream)
    n_added = extra.shape[1]
    names = tuple(f"{scenario}_{number}" for number in range(n_added))
    return replace(
        dataset,
        X=np.hstack([dataset.X, extra]),
        column_names=(*dataset.column_names, *names),
        is_original=np.append(dataset.is_original, np.zeros(n_added, dtype=np.bool_)),
    )
