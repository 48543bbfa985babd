"""Processes that train one stack together: each is a rank, known by its number.

Every rank runs the whole program. What takes long, the training of slices, is divided;
what was learnt is then sent to all, so that they go on alike. Nothing is sent but that,
a few megabytes between two records, through gloo: also from GPUs, whose own library for
gradients of every step has nothing to do here.
"""

import atexit
import multiprocessing
import os
import re
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from joblib.parallel import get_active_backend
from torch import Tensor

from featuresieve.engine._state import by_dtype
from featuresieve.errors import (
    CheckpointError,
    FeatureSieveError,
    RankError,
    TrainingDivergedError,
    differing,
    one_line,
)

Result = TypeVar("Result")

# Steps between two moments at which the ranks agree on whether to go on: a divisor of
# those after which a run knows its speed.
BEAT = 8
# Errors that every rank meets at the same moment: they may go on with another fit.
_MET_BY_ALL = (TrainingDivergedError, CheckpointError)


@dataclass(frozen=True)
class _Failure:
    """What a rank tells that has an error before it begins."""

    text: str


class Ranks:
    """A process among those that train together; alone unless it is told of others.

    Every method but `is_first` has to be called by all of them, in the same order.
    They are connected by a process group of torch, None for the default one.
    """

    def __init__(self, number: int = 0, size: int = 1, group: Any = None) -> None:
        self.number, self.size, self._group = number, size, group
        self.stage = "the preparation"  # for the error if one is lost
        self._is_begun = False  # whether all have the same fit

    @property
    def is_first(self) -> bool:
        """Tell whether this is the rank that decides, prints and writes."""
        return self.number == 0

    def gather(self, value: Any) -> list[Any]:
        """Return what each rank has for the others."""
        if self.size == 1:
            return [value]
        values: list[Any] = [None] * self.size
        with self._explaining():
            dist.all_gather_object(values, value, self._group)
        for number, other in enumerate(values):
            if isinstance(other, _Failure):
                raise RankError(f"rank {number} could not begin: {other.text}")
        return values

    def from_first(self, function: Callable[[], Result]) -> Result:
        """Return what a function returns on the first rank, or raise what it raises."""
        if self.size == 1:
            return function()
        told: list[Any] = [None, None]
        if self.is_first:
            try:
                told[0] = function()
            except FeatureSieveError as error:
                told[1] = error
        with self._explaining():
            dist.broadcast_object_list(told, 0, self._group)
        if told[1] is not None:
            raise told[1]
        return told[0]  # type: ignore[no-any-return]

    def most(self, number: int) -> int:
        """Return the largest of the numbers that the ranks have, none negative."""
        if self.size == 1:
            return number
        numbers = torch.tensor([number], dtype=torch.int64)
        with self._explaining():
            dist.all_reduce(numbers, dist.ReduceOp.MAX, self._group)
        return int(numbers)

    def broadcast_(self, tensors: Sequence[Tensor], owner: int) -> None:
        """Write the tensors of one rank into those of all."""
        if self.size == 1:
            return
        for group in by_dtype(tensors).values():
            numbers = torch.cat([tensor.reshape(-1) for tensor in group]).cpu()
            with self._explaining():
                dist.broadcast(numbers, owner, self._group)
            if owner != self.number:
                parts = numbers.split([tensor.numel() for tensor in group])
                for tensor, part in zip(group, parts, strict=True):
                    tensor.copy_(part.view(tensor.shape))

    def begin(self, facts: Mapping[str, Any]) -> None:
        """Go on if the facts of a fit are the same on every rank."""
        for number, other in enumerate(told := self.gather(dict(facts))):
            if other != told[0]:
                raise RankError(
                    "every rank has to fit the same data with the same arguments; "
                    f"{differing(told[0], other, 'on rank 0', f'on rank {number}')}."
                )
        self._is_begun = True

    @contextmanager
    def leaving_on_error(self) -> Iterator[None]:
        """Let the others know of an error in the block, so that they do not wait."""
        try:
            yield
        except BaseException as error:
            if self._is_begun or not isinstance(error, Exception):
                if not isinstance(error, _MET_BY_ALL):
                    self._group = None
                    _leave()
            elif not isinstance(error, RankError):
                with suppress(RankError):  # they wait to hear of this one
                    self.gather(_Failure(one_line(error, has_kind=True)))
            raise
        self.most(0)  # nobody is gone while another still reads

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Turn the loss of another rank into one error that says what to do."""
        try:
            yield
        except RuntimeError as error:
            # What holds a group when Python ends, as the frames below do, may abort it.
            traceback.clear_frames(error.__traceback__)
            self._group = None
            _leave()  # others may wait for this one
            raise RankError(
                f"rank {self.number} of {self.size} has lost another during "
                f"{self.stage}. Look there for the reason, and start all ranks again; "
                "a fit with checkpoint=... then goes on where the file stands, also "
                f"with another number of ranks. It said: {_short(error)}"
            ) from error


_lock = threading.Lock()
# The default group that was joined; what fits use instead of it if the caller made it;
# whether another rank was lost; whether the group is that of a parent process.
_world: Any = None
_group: Any = None
_is_lost = _is_inherited = False


def local_size() -> int:
    """Return how many ranks share this machine."""
    return max(1, _number_from("LOCAL_WORLD_SIZE") or 1)


def local_number() -> int:
    """Return which of the ranks on this machine this is."""
    return _number_from("LOCAL_RANK") or 0


@contextmanager
def joined_ranks() -> Iterator[Ranks]:
    """Have the ranks within the block: those of the caller's group, or the launcher's.

    A launcher sets RANK and WORLD_SIZE. What runs in a worker of joblib or of a
    `multiprocessing.Pool` is alone: it inherits both, and others have the same.
    """
    if not _is_one_of_several():
        yield Ranks()
        return
    if not _lock.acquire(blocking=False):
        raise RankError(
            "two fits at once in one process cannot both be divided among ranks; fit "
            "one after the other, or in workers of joblib."
        )
    try:
        ranks = _join()
        with ranks.leaving_on_error():
            yield ranks
    finally:
        _lock.release()


def _is_one_of_several() -> bool:
    """Tell whether this process shall join others."""
    is_child = multiprocessing.parent_process() is not None
    is_main = threading.current_thread() is threading.main_thread()
    is_task = get_active_backend()[0].nesting_level > 0 and (is_child or not is_main)
    if is_task or _is_inherited or not dist.is_available():
        return False
    if dist.is_initialized():
        return bool(dist.get_world_size() > 1)
    if multiprocessing.current_process().daemon:
        return False
    is_ranked = _number_from("RANK") is not None
    return is_ranked and (_number_from("WORLD_SIZE") or 1) > 1


def _note_fork() -> None:
    """Note in a child whether it has a group that is its parent's."""
    global _is_inherited
    _is_inherited = dist.is_available() and dist.is_initialized()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def _number_from(name: str) -> int | None:
    """Return a whole number that the environment holds."""
    text = os.environ.get(name, "")
    return int(text) if text.isdecimal() else None


def _join() -> Ranks:
    """Return the ranks, connected, which the first fit of a process has to wait for."""
    global _world, _group
    if _is_lost:
        raise RankError(
            "the ranks lost one another in a fit before; start all of them again."
        )
    if _world is None or dist.group.WORLD is not _world:
        _group = None
        try:
            if dist.is_initialized():
                _group = dist.new_group(backend="gloo")
            else:
                dist.init_process_group("gloo")
        except (RuntimeError, ValueError) as error:
            raise RankError(
                "the ranks that RANK and WORLD_SIZE speak of did not find one another; "
                "each has to call fit, and MASTER_ADDR and MASTER_PORT have to name "
                f"one place. It said: {_short(error)}"
            ) from error
        _world = dist.group.WORLD
        atexit.register(_let_go)
    return Ranks(dist.get_rank(), dist.get_world_size(), _group)


def _short(error: RuntimeError | ValueError) -> str:
    """Return what gloo says, without its source file and its advice."""
    return re.sub(r"^\[/\S+\] ", "", one_line(error).partition(". This is")[0])


def _leave() -> None:
    """Close the connections, on which the others may wait."""
    global _is_lost
    _is_lost = True
    _let_go()


def _let_go() -> None:
    """Destroy what was made here, unless the caller has, and forget the rest."""
    global _world, _group
    is_there = _world is not None and dist.group.WORLD is _world
    group, _world, _group = _group, None, None
    if is_there:
        with suppress(RuntimeError, ValueError):
            dist.destroy_process_group(group)
