"""A step of a large stack on the CPU: slices of its members, on threads."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import torch
from torch import Tensor

from featuresieve.engine._cuda_graph import CapturedStep
from featuresieve.engine._ranks import Ranks
from featuresieve.engine._task_network import StackedMLP
from featuresieve.engine._task_stack import TaskStack
from featuresieve.engine._training_data import TrainingData

if TYPE_CHECKING:
    from featuresieve.engine._trainer import StackTrainer

# Multiply-adds of a forward pass: a step takes about a millisecond for each ten
# million, and a fifth of one for calling torch. Threads want milliseconds, and many
# slices read a batch as often, which takes one core an eighth more time with eight.
_LEAST_WORK, _LEAST_OF_SLICE, _MOST_SLICES = 40_000_000, 10_000_000, 8
# On a GPU, where calling takes as long as this many: below, ranks gain nothing there.
_GPU, _LEAST_ON_GPU = "cuda", 4_000_000_000

TakeStep = Callable[[Tensor, float, float], None]
Item = TypeVar("Item")
Result = TypeVar("Result")


def on_threads(
    function: Callable[[Item], Result], items: Iterable[Item], n_threads: int
) -> list[Result]:
    """Return what a function says of each item, one-thread arithmetic on each thread.

    With one thread nothing leaves the present one.
    """
    if n_threads == 1:
        return [function(item) for item in items]
    with _pool(n_threads) as pool:
        return list(pool.map(function, items))


def on_ranks(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    n_threads: int,
    ranks: Ranks,
) -> list[Result]:
    """Return what a function says of each item, each rank asked of its share of them.

    What it returns is pickled. Each rank has `n_threads`.
    """
    own = on_threads(function, items[ranks.number :: ranks.size], n_threads)
    told = ranks.gather(own)
    return [told[k % ranks.size][k // ranks.size] for k in range(len(items))]


def _pool(n_threads: int) -> ThreadPoolExecutor:
    """Return threads which compute as `torch_defaults` says of the one that asks."""
    use_one = partial(torch.set_num_threads, 1)
    return ThreadPoolExecutor(n_threads, "featuresieve", use_one)


def cuts_of(
    task: TaskStack, data: TrainingData, batch_size: int, n_ranks: int
) -> list[slice]:
    """Return the members of each slice; a stack that is not large is one slice.

    On the CPU this follows from the problem alone, so that every product has the same
    shape whatever the number of threads and ranks: a power of two, as numbers of cores
    are. On GPUs it is one slice for each rank.
    """
    n_members, n_slices, device = task.n_members, 1, data.features.device.type
    if isinstance(task, StackedMLP):
        n_rows = min(batch_size, len(data.targets))
        work = n_rows * task.parameters.flat.numel()
        if device == _GPU and work >= _LEAST_ON_GPU:
            n_slices = min(n_ranks, n_members)
        elif device == "cpu" and work >= _LEAST_WORK:
            most = min(work // _LEAST_OF_SLICE, n_members, _MOST_SLICES)
            n_slices = 1 << (most.bit_length() - 1)
    cuts = [k * n_members // n_slices for k in range(n_slices + 1)]
    return [slice(*pair) for pair in pairwise(cuts)]


def watch(rows: Tensor, temperature: float, scale: float) -> None:
    """Take no step: another rank does."""


class Slices:
    """The slices of a stack, each with parameters of its own, and their threads.

    Ranks take them in turns; each trains only its own. On several threads a step
    returns while they are at work, as a step on CUDA does: the next batch is picked
    meanwhile. `part_of` returns a trainer of some members.
    """

    def __init__(
        self,
        whole: "StackTrainer",
        slices: Sequence[slice],
        part_of: Callable[[slice], "StackTrainer"],
        n_threads: int,
    ) -> None:
        self._whole, self._slices, self._ranks = whole, list(slices), whole.ranks
        own = self._slices[self._ranks.number :: self._ranks.size]
        self._parts = [(members, part_of(members)) for members in own]
        self._n_threads = max(1, min(n_threads, len(own)))
        self._pool: ThreadPoolExecutor | None = None
        self._running: list[Future[None]] = []

    def are(self, slices: Sequence[slice]) -> bool:
        """Tell whether the stack is cut so."""
        return self._slices == list(slices)

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

    def step_function(self) -> TakeStep:
        """Return what takes a step of this rank's slices, on CUDA a captured one."""
        features = self._whole.data.features
        if not self._parts:
            return watch
        if features.device.type == _GPU:
            [(members, part)] = self._parts

            def its_noise() -> Tensor | None:
                noise = self._whole.next_noise()
                return None if noise is None else noise[:, members]

            return CapturedStep(part.step_with_noise, its_noise, features)
        return self._step

    def _step(self, rows: Tensor, temperature: float, scale: float) -> None:
        """Take a step after the one before."""
        with torch.inference_mode():
            batch, noise = self._whole.batch(rows), self._whole.next_noise()

        def take(members: slice, part: "StackTrainer") -> None:
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
        """Write what they have learnt, on every rank, into the whole stack."""
        self.wait()
        for members, part in self._parts:
            its = part.member_views(slice(None), is_brief=is_brief)
            ours = self._whole.member_views(members, is_brief=is_brief)
            for whole, own in zip(ours, its, strict=True):
                whole.copy_(own)
        for number, members in enumerate(self._slices):
            views = self._whole.member_views(members, is_brief=is_brief)
            self._ranks.broadcast_(views, number % self._ranks.size)
