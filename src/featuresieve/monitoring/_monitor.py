"""Follow a fit from outside: what is told, asked and kept between two steps."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from featuresieve.engine import BEAT, Ranks, Resumable, StackTrainer
from featuresieve.errors import TrainingDivergedError
from featuresieve.monitoring._callbacks import CallbackObserver
from featuresieve.monitoring._checkpoint import Checkpoint
from featuresieve.monitoring._progress import Progress
from featuresieve.process import HeldInterrupts

# What is to be done after a step; of two wishes the larger counts.
_GO_ON, _WRITE, _STOP, _INTERRUPT = range(4)


# Who is told of the progress of a fit, and may stop a stage of it.
Observer = Progress | CallbackObserver


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
    def following(self, trainer: StackTrainer) -> Iterator[None]:
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

    def after_step(self, trainer: StackTrainer) -> bool:
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

    def _wish_after(self, trainer: StackTrainer) -> int:
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
