"""Cells in processes of this machine: hand out, listen, end what takes too long."""

import math
import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from featuresieve.process import interrupts_held
from sievebench.run_spec import RunSpec
from sievebench.store import RunRecord, Status, Store

# Called with a cell, how it ended, and its seconds; "started" is told too, and, while
# nothing else happens, that the cell that began first is "running".
Progress = Callable[[RunSpec, str, float], None]

_TICK_SECONDS = 1.0
FAREWELL_SECONDS = 5.0


@dataclass
class _Worker:
    """A process, and the cell it is at."""

    process: BaseProcess
    pipe: Connection
    spec: RunSpec | None = None
    started: float = field(default_factory=time.monotonic)
    is_ready: bool = False


class ProcessRunner:
    """The parent's loop."""

    def __init__(
        self,
        store: Store,
        storage: str | None,
        limit: float | None,
        tell: Progress,
        endings: Counter[str],
    ) -> None:
        self._store, self._storage = store, storage
        self._limit = math.inf if limit is None else limit
        self._tell, self._endings = tell, endings
        self._workers: list[_Worker] = []

    def run(self, waiting: list[RunSpec], n_workers: int) -> None:
        """Run until no cell is left; leave no process behind."""
        todo = waiting[::-1]  # taken from the end
        try:
            for _ in range(min(n_workers, len(todo))):
                self._add_worker()
            while self._workers:
                self._listen(todo)
                self._end_late(todo)
        finally:
            # All before any is waited for: the end of one can make others that share
            # its GPU fail, which would be written down as a failure of their cells.
            for worker in self._workers:
                worker.process.kill()
            for worker in self._workers:
                self._clear_away(worker)

    def _add_worker(self) -> None:
        """Start a process that Ctrl-C does not reach: this one decides."""
        with interrupts_held():
            self._workers.append(start_worker(self._store.folder, self._storage))

    def _listen(self, todo: list[RunSpec]) -> None:
        """Wait for a word of any worker, at most until the next limit or tick."""
        busy = [worker for worker in self._workers if worker.spec is not None]
        first = min(busy, key=lambda worker: worker.started, default=None)
        patience = _TICK_SECONDS
        if first is not None:
            left = first.started + self._limit - time.monotonic()
            patience = min(max(0.0, left), patience)
        by_pipe = {worker.pipe: worker for worker in self._workers}
        pipes = wait(list(by_pipe), timeout=patience)
        if not pipes and first is not None and first.spec is not None:
            self._tell(first.spec, "running", time.monotonic() - first.started)
        for pipe in pipes:
            worker = by_pipe[pipe]  # type: ignore[index]
            try:
                word = worker.pipe.recv()
            except (EOFError, OSError):  # the process ended
                self._replace(worker, todo)
                continue
            if worker.spec is not None:
                self._finish(worker, word)
            worker.is_ready = True
            self._give(worker, todo)

    def _give(self, worker: _Worker, todo: list[RunSpec]) -> None:
        """Hand out the next cell, or send the worker home."""
        if not todo:
            with suppress(OSError):
                worker.pipe.send(None)
            worker.process.join(FAREWELL_SECONDS)
            # One that waits for a thread that a selector left would never end.
            self._clear_away(worker)
            self._workers.remove(worker)
            return
        worker.spec, worker.started = todo.pop(), time.monotonic()
        with suppress(OSError):  # a process that ended is found when it is listened to
            worker.pipe.send(worker.spec)
        self._tell(worker.spec, "started", 0.0)

    def _finish(self, worker: _Worker, status: str) -> None:
        assert worker.spec is not None
        self._endings[status] += 1
        self._tell(worker.spec, status, time.monotonic() - worker.started)
        worker.spec = None

    def _end_late(self, todo: list[RunSpec]) -> None:
        for worker in list(self._workers):
            is_late = time.monotonic() - worker.started >= self._limit
            if worker.spec and is_late and not worker.pipe.poll():
                reason = f"took more than {self._limit:g} s"
                self._replace(worker, todo, "timeout", reason)

    def _replace(
        self,
        worker: _Worker,
        todo: list[RunSpec],
        status: Status = "failed",
        reason: str = "",
    ) -> None:
        """Clear away a worker that ended or is late, and start another if needed."""
        self._clear_away(worker)
        self._workers.remove(worker)
        code = worker.process.exitcode
        if worker.spec is not None:
            reason = reason or f"its process ended with code {code}"
            self._give_up(worker, worker.spec, status, reason)
        elif not worker.is_ready:
            raise RuntimeError(
                f"a worker ended before its first cell, with code {code}."
            )
        if todo:
            self._add_worker()

    def _clear_away(self, worker: _Worker) -> None:
        """End a process at once, and remove the record it may have half written."""
        kill_worker(worker)
        if worker.spec is not None and worker.process.pid is not None:
            self._store.forget_part(worker.spec, worker.process.pid)

    def _give_up(
        self, worker: _Worker, spec: RunSpec, status: Status, reason: str
    ) -> None:
        """Write the record that the worker cannot write, unless it just did."""
        record = self._store.read(spec)
        is_done = record is not None and record.status == "done"
        if not is_done:
            seconds = time.monotonic() - worker.started
            self._store.write(RunRecord(spec, status, reason=reason, seconds=seconds))
        self._finish(worker, "done" if is_done else status)


def start_worker(folder: Path, storage: str | None) -> _Worker:
    """Start a process; it imports what it needs before its first cell's time runs."""
    context = multiprocessing.get_context("spawn")
    pipe, far_end = context.Pipe()
    arguments = (far_end, folder, storage)
    process = context.Process(target=work_there, args=arguments, daemon=True)
    threads = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = "1"  # of the process that starts
    try:
        process.start()
    finally:
        del os.environ["OMP_NUM_THREADS"]
        if threads is not None:
            os.environ["OMP_NUM_THREADS"] = threads
    far_end.close()  # so that the end of the process is the end of the pipe
    return _Worker(process, pipe)


def kill_worker(worker: _Worker) -> None:
    """End a process at once."""
    worker.process.kill()
    worker.process.join()
    worker.pipe.close()


def work_there(pipe: Connection, folder: Path, storage: str | None) -> None:
    """Import and do the work there: the parent needs neither torch nor pandas."""
    from sievebench.runner.worker import work

    work(pipe, folder, storage)
