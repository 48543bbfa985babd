"""Follow a fit from outside: what is told, asked and kept between two steps."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Protocol

from featuresieve.engine import BEAT, FollowedTrainer, Ranks, Resumable
from featuresieve.errors import TrainingDivergedError
from featuresieve.monitoring._checkpoint import Checkpoint
from featuresieve.process import HeldInterrupts

# What is to be done after a step; of two wishes the larger counts.
_GO_ON, _WRITE, _STOP, _INTERRUPT = range(4)


class Observer(Protocol):
    """Someone who is told of the progress of a fit, and may stop a stage of it."""

    def begin_stage(
        self, name: str, step: int, n_steps: int, wait: Callable[[], None]
    ) -> None:
        """Hear that a stage begins, at a later step than 0 if it is resumed.

        `wait` returns when the device has done what it was told to.
        """

    def after_step(self, step: int, n_steps: int) -> bool:
        """Hear how many steps are done of how many; return True to end the stage."""

    def end_stage(self, is_done: bool) -> None:
        """Hear that the stage is over, or that an error ended it."""


class StageMonitor:
    """Follow the training of one stack.

    Of several ranks the first one has observers and a file. What one of them is asked
    for, they all do at the next beat.
    """

    def __init__(
        self,
        name: str,
        number: int,
        observers: Sequence[Observer],
        checkpoint: Checkpoint | None,
        ranks: Ranks,
    ) -> None:
        self.name, self._number, self._ranks = name, number, ranks
        self._wish = _GO_ON
        self._observers, self._checkpoint = observers, checkpoint
        self._parts: dict[str, Resumable] = {}
        self._interrupts = HeldInterrupts()

    def add(self, name: str, part: Resumable) -> None:
        """Keep something in the checkpoint beside the trainer."""
        self._parts[name] = part

    @contextmanager
    def following(self, trainer: FollowedTrainer) -> Iterator[None]:
        """Resume the trainer, follow it, and keep what it found."""
        self.add("trainer", trainer)
        held: AbstractContextManager[Any] = nullcontext()
        if self._checkpoint is not None:
            self._checkpoint.resume_(self._number, self._parts)
            held = self._interrupts
        is_done = False
        for observer in self._observers:
            observer.begin_stage(
                self.name, trainer.step, trainer.planned_steps, trainer.synchronize
            )
        try:
            with held:
                yield
            is_done = True
        except TrainingDivergedError:  # it would diverge again
            if self._checkpoint is not None:
                self._checkpoint.remove()
            raise
        finally:
            for observer in self._observers:
                observer.end_stage(is_done)
        if self._checkpoint is not None:
            self._checkpoint.finish_stage(self._parts)
        if self._ranks.most(self._interrupts.is_asked):  # during the last step
            raise KeyboardInterrupt

    def after_step(self, trainer: FollowedTrainer) -> bool:
        """Tell the observers, write the checkpoint; return whether to stop."""
        self._wish = max(self._wish, self._wish_after(trainer))
        is_last = trainer.step == trainer.planned_steps
        if self._ranks.size > 1 and trainer.step % BEAT and not is_last:
            return False
        wish, self._wish = self._ranks.most(self._wish), _GO_ON
        if self._checkpoint is not None and wish in (_WRITE, _INTERRUPT):
            self._checkpoint.write(self._parts)
        if wish == _INTERRUPT:
            raise KeyboardInterrupt
        return wish == _STOP

    def _wish_after(self, trainer: FollowedTrainer) -> int:
        """Return what the observers, the clock and the user ask for."""
        is_stopped = False
        try:
            for observer in self._observers:
                is_stopped |= observer.after_step(trainer.step, trainer.planned_steps)
        except KeyboardInterrupt:  # the state is whole here
            return _INTERRUPT
        if self._interrupts.is_asked:
            return _INTERRUPT
        if is_stopped:
            return _STOP
        is_due = self._checkpoint is not None and self._checkpoint.is_due()
        return _WRITE if is_due else _GO_ON


class FitMonitor:
    """Follow a fit, stage by stage."""

    def __init__(
        self,
        observers: Sequence[Observer] = (),
        checkpoint: Checkpoint | None = None,
        ranks: Ranks | None = None,
    ) -> None:
        self._observers, self._checkpoint = observers, checkpoint
        self._ranks = ranks or Ranks()
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
