"""The two steps of every run: select, then predict from what is kept."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sievebench import downstream, selectors
from sievebench.pipeline._cell import CellTable
from sievebench.run_spec import RunSpec
from sievebench.selectors import Selection
from sievebench.tuning import Settings

# What has settings.
PARTS = ("selector", "downstream")
# As in the benchmark, settings are judged by one seed that is none of the runs'.
SPARE_REPETITION = -1


def own_settings(spec: RunSpec) -> Settings:
    """Return the settings before tuning."""
    return {part: getattr(spec, f"{part}_settings") for part in PARTS}


def merged(settings: Settings, tuned: Settings) -> Settings:
    """Return tuned settings, and on top of them those that were given."""
    return {part: {**tuned.get(part, {}), **settings[part]} for part in settings}


def select(
    spec: RunSpec, table: CellTable, settings: Mapping[str, Any], repetition: int
) -> Selection:
    """Fit the selector on the train part."""
    return selectors.select(
        spec.selector_name,
        table.split,
        keep=_n_to_keep(spec, table.facts.n_original),
        seed=spec.seed("selector", repetition),
        settings=settings,
        device=spec.device,
    )


def evaluate(
    spec: RunSpec,
    table: CellTable,
    supports: Sequence[npt.NDArray[np.bool_]],
    settings: Mapping[str, Any],
    repetitions: Sequence[int],
    *,
    imputed: Sequence[int] = (),
) -> list[downstream.Evaluation]:
    """Train the predictor on the columns that each run keeps, as one stack if it can.

    Supports may only differ where the predictor stacks columns, and then none is empty.
    A run is the same in any stack but for rounding, which a long training amplifies as
    it does any other change of the last digit.

    The benchmark scales the kept columns anew. A column's scale depends on no other
    column, but for the numbers that its jitter of 1e-3 takes from a common stream: so
    this is the same up to that, and saves seconds a trial.
    """
    every = np.stack(supports)
    some = np.asarray(every.any(axis=0))
    is_seen = every[:, some]
    return downstream.evaluate(
        spec.downstream,
        table.split.keep(some),
        [spec.seed("downstream", repetition) or 0 for repetition in repetitions],
        settings=settings,
        device=spec.device,
        imputed=imputed,
        is_seen=None if is_seen.all() else is_seen,
    )


def _n_to_keep(spec: RunSpec, n_original: int) -> float | str:
    if isinstance(spec.keep, int):
        return spec.keep
    keep: str = spec.keep
    if keep == "default":
        keep = {"none": "all", "autonfs": "own"}.get(spec.selector_name, "original")
    counts: dict[str, float | str] = {"original": n_original, "own": "auto", "all": 1.0}
    return counts[keep]
