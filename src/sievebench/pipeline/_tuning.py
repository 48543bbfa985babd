"""The settings of a cell, searched on the validation part."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import torch

from featuresieve.errors import one_line
from sievebench.downstream import PREDICTORS
from sievebench.pipeline._cell import (
    SPARE_REPETITION,
    CellTable,
    evaluate,
    merged,
    own_settings,
    select,
)
from sievebench.run_spec import RunSpec
from sievebench.selectors import SELECTORS, Selection
from sievebench.stack.on_gpu import side_by_side
from sievebench.tuning import (
    NothingWorkedError,
    Settings,
    SharedStudy,
    TuningResult,
    tune,
)

S = TypeVar("S")
T = TypeVar("T")


def tune_cell(
    spec: RunSpec, table: CellTable, journal: Path | SharedStudy | None
) -> TuningResult:
    """Search the settings of selector and predictor together, but for those given."""
    spaces = {"downstream": PREDICTORS[spec.downstream].space}
    if spec.tunes_selector:
        spaces["selector"] = SELECTORS[spec.selector_name].search_space()
    given = own_settings(spec)
    spaces = {
        part: {name: drawn for name, drawn in space.items() if name not in given[part]}
        for part, space in spaces.items()
    }
    judge = _Judge(spec, table)
    try:
        return tune(
            spaces,
            judge,
            n_trials=spec.n_trials,
            seed=spec.seed("tuning"),
            journal=journal,
            batch_size=spec.trials_at_once,
            max_seconds=spec.tuning_seconds,
        )
    except NothingWorkedError as error:
        raise ValueError(f"{error} The last one: {judge.problems[-1:]}") from error


class _Judge:
    """Say what settings are worth on the validation part, those of a batch together."""

    def __init__(self, spec: RunSpec, table: CellTable) -> None:
        self._spec, self._table = spec, table
        # Many trials differ in the predictor's settings only.
        self._selections: dict[str, Selection | None] = {}
        self.problems: list[str] = []  # why settings did not work

    def __call__(self, batch: Sequence[Settings]) -> list[float | None]:
        """Return one score for each settings, None where they do not work."""
        own, device = own_settings(self._spec), self._spec.device
        complete = [merged(own, tuned) for tuned in batch]
        fresh = {
            key: settings["selector"]
            for settings in complete
            if (key := _key_of(settings)) not in self._selections
        }
        fit = partial(select, self._spec, self._table, repetition=SPARE_REPETITION)
        found = side_by_side(
            [partial(self._tried, fit, chosen) for chosen in fresh.values()], device
        )
        self._selections.update(zip(fresh, found, strict=True))
        return side_by_side(
            [partial(self._tried, self._score, settings) for settings in complete],
            device,
        )

    def _tried(self, work: Callable[[S], T], settings: S) -> T | None:
        """Return what comes of it, None if the settings do not work."""
        try:
            return work(settings)
        except torch.AcceleratorError:  # the GPU is lost to this process, not a trial
            raise
        except (ArithmeticError, RuntimeError, ValueError) as error:
            self.problems.append(one_line(error, has_kind=True, longest=None))
            return None

    def _score(self, settings: Settings) -> float | None:
        selection = self._selections[_key_of(settings)]
        if selection is None:
            return None
        (found,) = evaluate(
            self._spec,
            self._table,
            [selection.support],
            settings["downstream"],
            [SPARE_REPETITION],
        )
        return found.validation_score


def _key_of(settings: Settings) -> str:
    """Return what the selection depends on."""
    return repr(sorted(settings["selector"].items()))
