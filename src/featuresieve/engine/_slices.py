"""A step of a large stack on the CPU: slices of its members, on threads."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import Protocol, TypeVar

import torch
from torch import Tensor

from featuresieve.engine._task_network import StackedMLP
from featuresieve.engine._task_stack import TaskStack
from featuresieve.engine._training_data import TrainingData

# Multiply-adds of a forward pass: a step takes about a millisecond for each ten
# million, and a fifth of one for calling torch. Threads want milliseconds, and many
# slices read a batch as often, which takes one core an eighth more time with eight.
_LEAST_WORK, _LEAST_OF_SLICE, _MOST_SLICES = 40_000_000, 10_000_000, 8


Item = TypeVar("Item")
Result = TypeVar("Result")


def on_threads(
    function: Callable[[Item], Result], items: Iterable[Item], n_threads: int
) -> list[Result]:
    """Return what a function says of each item, one-thread arithmetic on each thread.

    Parameters
    ----------
    function : callable (item) -> result
    items : iterable
    n_threads : int
        With one nothing leaves the present thread.

    Returns
    -------
    list
    """
    if n_threads == 1:
        return [function(item) for item in items]
    with _pool(n_threads) as pool:
        return list(pool.map(function, items))


def _pool(n_threads: int) -> ThreadPoolExecutor:
    """Return threads which compute as `torch_defaults` says of the one that asks."""
    use_one = partial(torch.set_num_threads, 1)
    return ThreadPoolExecutor(n_threads, "featuresieve", use_one)


class Sliceable(Protocol):
    """A trainer of all members, or of those of a slice."""

    def step_on(
        self,
        batch: TrainingData,
        temperature: float,
        scale: float,
        noise: Tensor | None,
    ) -> None:
        """Do one gradient step."""

    def member_views(self, members: slice, *, is_brief: bool = False) -> list[Tensor]:
        """Return what training changes of some members; brief: the networks alone."""


def slices_of(n_members: int, n_numbers: int, batch_size: int) -> list[slice]:
    """Return the members of each slice; a stack that is not large is one slice.

    This follows from the problem alone, so that every product has the same shape
    whatever the number of threads. A power of two, as numbers of cores are.
    """
    work = batch_size * n_numbers
    most = min(work // _LEAST_OF_SLICE, n_members, _MOST_SLICES)
    n_slices = 1 if work < _LEAST_WORK else 1 << (most.bit_length() - 1)
    cuts = [k * n_members // n_slices for k in range(n_slices + 1)]
    return [slice(*pair) for pair in pairwise(cuts)]


def cuts_of(task: TaskStack, data: TrainingData, batch_size: int) -> list[slice]:
    """Return the members of each slice of a stack, all of them but for MLPs on CPUs."""
    if not isinstance(task, StackedMLP) or data.features.device.type != "cpu":
        return [slice(0, task.n_members)]
    n_rows = min(batch_size, len(data.targets))
    return slices_of(task.n_members, task.parameters.flat.numel(), n_rows)


class Slices:
    """The slices of a stack, each with parameters of its own, and their threads.

    On several threads `step` returns while they are at work, as a step on CUDA does:
    the next batch is picked meanwhile.

    Parameters
    ----------
    whole : Sliceable
    slices : sequence of slice
    part_of : callable (members) -> Sliceable
        Returns a trainer of a slice.
    n_threads : int
    """

    def __init__(
        self,
        whole: Sliceable,
        slices: Sequence[slice],
        part_of: Callable[[slice], Sliceable],
        n_threads: int,
    ) -> None:
        self._whole, self._n_threads = whole, min(n_threads, len(slices))
        self._parts = [(members, part_of(members)) for members in slices]
        self._pool: ThreadPoolExecutor | None = None
        self._running: list[Future[None]] = []

    def are(self, slices: Sequence[slice]) -> bool:
        """Tell whether the stack is cut so."""
        return [members for members, _ in self._parts] == list(slices)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Have the threads within the block."""
        if self._n_threads == 1:
            yield
            return
        with _pool(self._n_threads) as pool:
            self._pool = pool
            try:
                yield
                self.wait()
            finally:
                self._pool, self._running = None, []

    def step(
        self,
        batch: TrainingData,
        temperature: float,
        scale: float,
        noise: Tensor | None,
    ) -> None:
        """Take a step after the one before."""

        def take(members: slice, part: Sliceable) -> None:
            own = None if noise is None else noise[:, members]
            with torch.inference_mode():
                part.step_on(batch.of_members(members), temperature, scale, own)

        self.wait()
        for members, part in self._parts:
            if self._pool is None:
                take(members, part)
            else:
                self._running.append(self._pool.submit(take, members, part))

    def wait(self) -> None:
        """Return when the step is done."""
        running, self._running = self._running, []
        for future in running:
            future.result()

    def collect_(self, *, is_brief: bool = False) -> None:
        """Write what they have learnt into the whole stack."""
        self.wait()
        for members, part in self._parts:
            its = part.member_views(slice(None), is_brief=is_brief)
            ours = self._whole.member_views(members, is_brief=is_brief)
            for whole, own in zip(ours, its, strict=True):
                whole.copy_(own)
