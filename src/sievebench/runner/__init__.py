"""Run cells in parallel processes; what is finished is on disk before it is told."""

import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from sievebench.run_spec import RunSpec
from sievebench.runner._cluster import Cluster, ClusterError
from sievebench.runner._node import Order
from sievebench.runner._remaining import remaining_seconds
from sievebench.runner._trials import forget_trials
from sievebench.store import RunRecord, Status, Store
from sievebench.tuning import StorageError, open_storage

__all__ = [
    "Cluster",
    "ClusterError",
    "Progress",
    "StorageError",
    "remaining_seconds",
    "run_cells",
]

# Called with a cell, how it ended, and its seconds; "started" is told too.
Progress = Callable[[RunSpec, str, float], None]


@dataclass
class _Worker:
    """A process, and the cell it is at."""

    process: BaseProcess
    pipe: Connection
    spec: RunSpec | None = None
    started: float = field(default_factory=time.monotonic)
    is_ready: bool = False


def run_cells(
    specs: Sequence[RunSpec],
    store: Store,
    *,
    n_workers: int = 1,
    time_limit_seconds: float | None = None,
    retry: Iterable[Status] = (),
    storage: str | None = None,
    cluster: Cluster | None = None,
    progress: Progress | None = None,
) -> Counter[str]:
    """Run every cell that has no record yet.

    Parameters
    ----------
    specs : sequence of RunSpec
    store : Store
        Where records are written; those that are there are not made again.
    n_workers : int, default=1
        Processes.
    time_limit_seconds : float or None, default=None
        Of one cell; its process is killed after that.
    retry : iterable of {"failed", "timeout", "skipped"}, default=()
        Records with which ending to make again.
    storage : str or None, default=None
        Address of a database where the trials of tuning are remembered; None takes a
        file for each cell in the store.
    cluster : Cluster or None, default=None
        Whose machines run the cells; None starts processes here.
    progress : callable or None, default=None

    Returns
    -------
    Counter of status
        How the cells ended, earlier ones included.

    Raises
    ------
    StorageError
        If the database cannot be used.
    ClusterError
        If the machines of the cluster are lost.
    """
    if n_workers < 1:
        raise ValueError(f"n_workers must be an int >= 1, got {n_workers!r}.")
    if storage is not None:
        open_storage(storage)  # what is wrong shows before any work is done
    retried, endings = set(retry), Counter[str]()
    waiting = []
    for spec in specs:
        record = store.read(spec)
        if record is None or record.status in retried:
            if record is not None and record.status == "failed" and record.details:
                # Settings that did not work then may well work now. A process that was
                # killed has left no traceback, and its trials are good.
                forget_trials(spec, store, storage)
            waiting.append(spec)
        else:
            endings[record.status] += 1
    tell = progress or (lambda *_: None)
    if cluster is not None:
        limits = (time_limit_seconds, storage)
        folder = str(store.folder.absolute())
        orders = [Order(spec.as_dict(), folder, *limits) for spec in waiting]
        _run_on(cluster, orders, store, tell, endings)
        return endings
    runner = _Runner(store, storage, time_limit_seconds, tell, endings)
    runner.run(waiting, n_workers)
    return endings


def _run_on(
    cluster: Cluster,
    orders: Sequence[Order],
    store: Store,
    tell: Progress,
    endings: Counter[str],
) -> None:
    """Let a cluster run the cells; keep their records where its disk is not shared."""
    for text, seconds in cluster.carry_out(orders):
        record = RunRecord.from_json(text)
        if store.read(record.spec) != record:
            store.write(record)
        endings[record.status] += 1
        tell(record.spec, record.status, seconds)


class _Runner:
    """The parent's loop: hand out cells, listen, end what takes too long."""

    def __init__(
        self,
        store: Store,
        storage: str | None,
        limit: float | None,
        tell: Progress,
        endings: Counter[str],
    ) -> None:
        self._store, self._storage = store, storage
        self._limit, self._tell, self._endings = limit, tell, endings
        self._workers: list[_Worker] = []

    def run(self, waiting: list[RunSpec], n_workers: int) -> None:
        """Run until no cell is left; leave no process behind."""
        todo = waiting[::-1]  # taken from the end
        try:
            for _ in range(min(n_workers, len(todo))):
                self._workers.append(_start(self._store.folder, self._storage))
            while self._workers:
                self._listen(todo)
                self._end_late(todo)
        finally:
            for worker in self._workers:
                _kill(worker)

    def _listen(self, todo: list[RunSpec]) -> None:
        """Wait for a word of any worker, at most until the next limit."""
        by_pipe = {worker.pipe: worker for worker in self._workers}
        for pipe in wait(list(by_pipe), timeout=self._patience()):
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

    def _patience(self) -> float | None:
        """Return the seconds until a worker is late, None if none ever is."""
        busy = [worker for worker in self._workers if worker.spec is not None]
        if self._limit is None or not busy:
            return None
        first = min(worker.started for worker in busy)
        return max(0.0, first + self._limit - time.monotonic())

    def _give(self, worker: _Worker, todo: list[RunSpec]) -> None:
        """Hand out the next cell, or send the worker home."""
        if not todo:
            with suppress(OSError):
                worker.pipe.send(None)
            worker.process.join()
            worker.pipe.close()
            self._workers.remove(worker)
            return
        worker.spec, worker.started = todo.pop(), time.monotonic()
        with suppress(OSError):  # a process that ended is found when it is listened to
            worker.pipe.send(worker.spec)
        self._tell(worker.spec, "started", 0.0)

    def _finish(self, worker: _Worker, status: str) -> None:
        """Count a cell that ended, and tell."""
        assert worker.spec is not None
        self._endings[status] += 1
        self._tell(worker.spec, status, time.monotonic() - worker.started)
        worker.spec = None

    def _end_late(self, todo: list[RunSpec]) -> None:
        """Kill the workers whose cell takes too long."""
        if self._limit is None:
            return
        for worker in list(self._workers):
            seconds = time.monotonic() - worker.started
            if worker.spec is None or seconds < self._limit or worker.pipe.poll():
                continue
            _kill(worker)
            record = self._store.read(worker.spec)
            is_done = record is not None and record.status == "done"  # just in time
            if not is_done:
                reason = f"took more than {self._limit:g} s"
                self._write(worker.spec, "timeout", reason, seconds)
            self._finish(worker, "done" if is_done else "timeout")
            self._replace(worker, todo)

    def _replace(self, worker: _Worker, todo: list[RunSpec]) -> None:
        """Clear away a worker that ended or was late, and start another if needed."""
        _kill(worker)
        self._workers.remove(worker)
        if worker.spec is not None:
            reason = f"its process ended with code {worker.process.exitcode}"
            seconds = time.monotonic() - worker.started
            self._write(worker.spec, "failed", reason, seconds)
            self._finish(worker, "failed")
        elif not worker.is_ready:
            raise RuntimeError(
                "a worker ended before its first cell, with code "
                f"{worker.process.exitcode}."
            )
        if len(todo) > 0:
            self._workers.append(_start(self._store.folder, self._storage))

    def _write(
        self, spec: RunSpec, status: Status, reason: str, seconds: float
    ) -> None:
        """Write the record that the worker cannot write any more."""
        self._store.write(RunRecord(spec, status, reason=reason, seconds=seconds))


def _start(folder: Path, storage: str | None) -> _Worker:
    """Start a process; it imports what it needs before its first cell's time runs."""
    context = multiprocessing.get_context("spawn")
    pipe, far_end = context.Pipe()
    arguments = (far_end, folder, storage)
    process = context.Process(target=_work, args=arguments, daemon=True)
    with _one_thread():
        process.start()
    far_end.close()  # so that the end of the process is the end of the pipe
    return _Worker(process, pipe)


@contextmanager
def _one_thread() -> Any:
    """Let processes started in the block have one OpenMP thread."""
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["OMP_NUM_THREADS"]
        else:
            os.environ["OMP_NUM_THREADS"] = before


def _kill(worker: _Worker) -> None:
    """End a process at once."""
    worker.process.kill()
    worker.process.join()
    worker.pipe.close()


def _work(pipe: Connection, folder: Path, storage: str | None) -> None:
    """Import and do the work there: the parent needs neither torch nor pandas."""
    from sievebench.runner._worker import work

    work(pipe, folder, storage)
