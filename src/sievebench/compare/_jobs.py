"""Jobs of a comparison side by side: a process each, time limits, no one left over."""

import multiprocessing
import pickle
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing import connection, forkserver
from typing import Any, Literal, Self

import joblib

from featuresieve.process import interrupts_delayed, interrupts_held

# "waited" comes about once a second, with no job.
What = Literal["started", "scored", "failed", "waited"]
_TICK_SECONDS = 1.0


@dataclass(frozen=True)
class Job:
    """A selector, and the fold in which a process judges it."""

    selector: str  # short name
    fold: int  # its number


@dataclass(frozen=True)
class Event:
    """What a job has come to."""

    what: What
    job: Job | None = None
    value: Any = None  # a FoldScore; why it failed


class _Running:
    """A job in its process, which `stop` ends."""

    def __init__(self, job: Job, work: bytes, limit_seconds: float | None) -> None:
        self.job, self._limit_seconds = job, limit_seconds
        self.deadline = float("inf")
        context = _context()
        self.pipe, self._far_end = context.Pipe(duplex=False)
        self._process = context.Process(
            target=_judge, args=(self._far_end, work, job), daemon=True
        )

    def start(self) -> None:
        """Start the process."""
        with interrupts_delayed():  # half started, it could not be told to end
            self._process.start()
        self._far_end.close()  # so that the end of the process is the end of the pipe

    def stop(self) -> None:
        """End the process, wherever it is."""
        if self._process.pid is not None:
            self._process.kill()
            self._process.join()
        self.pipe.close()

    def next_event(self) -> Event | None:
        """Return what the process has said, if the caller has to know."""
        try:
            what, value = self.pipe.recv()
        except (EOFError, OSError):
            self._process.join(5)
            code = self._process.exitcode
            return self._failed(f"its process ended with code {code}")
        if what == "failed":
            return self._failed(value)
        if what == "scored":
            return Event("scored", self.job, value)
        is_fitting = what == "fitting" and self._limit_seconds is not None
        limit = self._limit_seconds if is_fitting else None
        self.deadline = float("inf") if limit is None else time.monotonic() + limit
        return None

    def out_of_time(self) -> Event:
        """Return the end of a fit that takes longer than the limit."""
        limit = self._limit_seconds
        return self._failed(f"out of time: a fit took more than {limit:g} s")

    def _failed(self, reason: str) -> Event:
        return Event("failed", self.job, reason)


class JobProcesses:
    """Run jobs, so many at a time, each in a process of its own.

    `work` is what all jobs share, pickled. A fit may take `limit_seconds`. No
    process is left over after the block.
    """

    def __init__(
        self, jobs: Iterable[Job], n_jobs: int, work: bytes, limit_seconds: float | None
    ) -> None:
        self._waiting = deque(jobs)
        self._n_jobs, self._work, self._limit_seconds = n_jobs, work, limit_seconds
        self._running: list[_Running] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for running in self._running:
            running.stop()

    def drop(self, selector: str, after: int) -> None:
        """Give up the jobs of a selector for the folds behind one."""

        def is_kept(job: Job) -> bool:
            return job.selector != selector or job.fold <= after

        self._waiting = deque(filter(is_kept, self._waiting))
        for running in list(self._running):
            if not is_kept(running.job):
                self._end(running)

    def events(self) -> Iterator[Event]:
        """Start the jobs in their order, and tell what they come to."""
        while self._running or self._waiting:
            while self._waiting and len(self._running) < self._n_jobs:
                yield Event("started", self._start().job)
            said = self._said()
            yield from said or [Event("waited")]

    def _start(self) -> _Running:
        running = _Running(self._waiting.popleft(), self._work, self._limit_seconds)
        self._running.append(running)  # first: what is in the list will be ended
        running.start()
        return running

    def _said(self) -> list[Event]:
        """Wait a little; return what there is to tell, and end what is over."""
        deadline = min(running.deadline for running in self._running)
        seconds = min(_TICK_SECONDS, max(0.0, deadline - time.monotonic()))
        ready = connection.wait([running.pipe for running in self._running], seconds)
        events = []
        for running in list(self._running):
            if running.pipe in ready:
                event = running.next_event()
            elif running.deadline <= time.monotonic():
                event = running.out_of_time()
            else:
                continue
            if event is not None:
                events.append(event)
                self._end(running)
        return events

    def _end(self, running: _Running) -> None:
        running.stop()
        self._running.remove(running)


def usable_cores() -> int:
    """Return how many cores this process may use."""
    return int(joblib.cpu_count())


def pickled(*work: Any) -> bytes:
    """Return what all jobs share: packed once, and unpacked in each process."""
    return pickle.dumps(work, protocol=pickle.HIGHEST_PROTOCOL)


def _context() -> Any:
    """Return a way to start processes that have not run a thread before."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    # The server imports torch and the selectors once; forks of it start at once.
    context.set_forkserver_preload(["sievebench.compare._judging"])
    # It is started deaf to Ctrl-C, and with it all its forks: if it ignored Ctrl-C by
    # itself, it would have to load its modules first, and print a traceback for one
    # that comes in that time. The parent hears it right afterwards.
    with interrupts_held():
        forkserver.ensure_running()
    return context


def _judge(pipe: connection.Connection, work: bytes, job: Job) -> None:
    """Import and run the child's work there, so that the parent does without torch."""
    from sievebench.compare._judging import judge_fold

    judge_fold(pipe, job.selector, job.fold, *pickle.loads(work))
