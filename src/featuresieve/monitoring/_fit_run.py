"""Set up what follows a fit: progress, callbacks and checkpoint, as asked for."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from featuresieve.engine import Ranks
from featuresieve.monitoring._callbacks import CallbackObserver
from featuresieve.monitoring._checkpoint import Checkpoint
from featuresieve.monitoring._fingerprint import fingerprint
from featuresieve.monitoring._monitor import Observer, StageMonitor
from featuresieve.monitoring._progress import Progress
from featuresieve.problem import CountLimits, Problem


class FitRun:
    """What follows one fit of an estimator.

    `seed` and `started` (a `time.monotonic`) are as given, or as the checkpoint of an
    earlier fit knows them. `data` holds X, y and sample_weight for callbacks.
    """

    def __init__(
        self,
        estimator: Any,
        params: Mapping[str, Any],
        problem: Problem,
        *,
        device: torch.device,
        limits: CountLimits,
        seed: int,
        started: float,
        data: dict[str, Any],
        ranks: Ranks | None = None,
    ) -> None:
        self._ranks = ranks or Ranks()
        self.started, self._max_time = started, params["max_time"]
        is_known = params["checkpoint"] is not None or self._ranks.size > 1
        facts = fingerprint(params, problem, device) if is_known else {}
        if self._ranks.size > 1:
            # What ranks must have in common besides, or they wait for others.
            more = {
                "random_state": None if params["random_state"] is None else seed,
                "max_time": params["max_time"],
                "checkpoint": params["checkpoint"] is not None,
            }
            self._ranks.begin(facts | more)
        self.seed = self._ranks.from_first(lambda: seed)
        self._checkpoint: Checkpoint | None = None
        if params["checkpoint"] is not None:
            self._checkpoint = Checkpoint(
                Path(os.fspath(params["checkpoint"])),
                facts,
                seed=self.seed,
                is_seed_free=params["random_state"] is None,
                started=started,
                ranks=self._ranks,
            )
            self.seed, self.started = self._checkpoint.seed, self._checkpoint.started
        stages = ["gates", "refit", "predictor"]
        if params["balance"] != "auto" or limits.exactly is not None:
            stages.remove("refit")
        elif params["goal"] == "all_relevant":
            stages.insert(2, "rounds")
        self._observers: list[Observer] = []
        if params["verbose"] and self._ranks.is_first:
            self._observers.append(Progress(stages, started))
        self._callbacks: CallbackObserver | None = None
        if CallbackObserver.is_wanted(estimator) and self._ranks.is_first:
            # Nobody knows beforehand how many rounds there are.
            n_stages = None if "rounds" in stages else len(stages)
            self._callbacks = CallbackObserver(estimator, n_stages, data)
            self._observers.append(self._callbacks)
        self._n_stages = 0

    @property
    def is_resumable(self) -> bool:
        """Tell whether a later fit may go on where this one ends."""
        return self._checkpoint is not None

    def stage(self, name: str) -> StageMonitor | None:
        """Return what follows the next stage, or None if nobody wants to know."""
        self._ranks.stage = f"the stage {name!r}"
        is_alone = self._ranks.size == 1
        if is_alone and not self._observers and self._checkpoint is None:
            return None
        number, self._n_stages = self._n_stages, self._n_stages + 1
        return StageMonitor(
            *(name, number, self._observers, self._checkpoint, self._ranks)
        )

    def deadline(self, share: float) -> float | None:
        """Return the moment at which a share of the time is spent, if it is limited."""
        if self._max_time is None:
            return None
        return self.started + share * float(self._max_time)

    def end_fit(self) -> None:
        """Tell the callbacks that the estimator is ready."""
        if self._callbacks is not None:
            self._callbacks.end_fit()

    def remove_checkpoint(self) -> None:
        """Delete the file of a fit that succeeded."""
        if self._checkpoint is not None:
            self._checkpoint.remove()
