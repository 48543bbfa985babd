"""Run cells in parallel processes; what is finished is on disk before it is told."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from sievebench.run_spec import RunSpec
from sievebench.runner.cluster import Cluster as Cluster
from sievebench.runner.cluster import ClusterError as ClusterError
from sievebench.runner.cluster import carry_out_with_joblib as carry_out_with_joblib
from sievebench.runner.node import Order as Order
from sievebench.runner.node import carry_out as carry_out
from sievebench.runner.processes import ProcessRunner
from sievebench.runner.processes import Progress as Progress
from sievebench.store import RunRecord, Status, Store
from sievebench.tuning import SharedStudy, forget, open_storage
from sievebench.tuning import StorageError as StorageError


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
    """Run every cell that has no record yet; return how all cells ended.

    Cells run in `n_workers` processes, or on the machines of `cluster`; one is killed
    after its time limit. Records with an ending of `retry` are made again. The trials
    of tuning are remembered in the database at `storage`, or in files of the store.
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
                forget(trials_of(spec, store, storage))
            waiting.append(spec)
        else:
            endings[record.status] += 1
    if waiting:
        store.make()  # before processes are started that could not write
    tell = progress or (lambda *_: None)
    if cluster is not None:
        limits = (time_limit_seconds, storage)
        folder = str(store.folder.absolute())
        orders = [Order(spec.as_dict(), folder, *limits) for spec in waiting]
        for text, seconds in cluster.carry_out(orders):
            record = RunRecord.from_json(text)
            if store.read(record.spec) != record:  # its disk is not ours
                store.write(record)
            endings[record.status] += 1
            tell(record.spec, record.status, seconds)
        return endings
    runner = ProcessRunner(store, storage, time_limit_seconds, tell, endings)
    runner.run(waiting, n_workers)
    return endings


def check_cells(specs: Iterable[RunSpec], *, is_elsewhere: bool = False) -> None:
    """Raise an error if a cell names what does not exist, or cannot be run here.

    What is looked for where a cell runs, its table and its device, is left to other
    machines if they run the cells.
    """
    # Here, as both import torch: a process that only reads records need not wait.
    from featuresieve.engine import resolve_device
    from sievebench.pipeline import check_components, check_table

    for spec in specs:
        check_components(spec)
        if not is_elsewhere:
            check_table(spec)
            resolve_device(spec.device, needs_float64=True)


def usual_workers(cells: Iterable[RunSpec]) -> int:
    """Return one process a core; one in all if others would disturb a measurement."""
    is_timed = any(spec.experiment == "scaling" for spec in cells)
    return 1 if is_timed else os.cpu_count() or 1


def trials_of(
    spec: RunSpec, store: Store, storage: str | None = None
) -> Path | SharedStudy:
    """Return where the tuning of a cell remembers its trials."""
    if storage is None:
        return store.journal_of(spec)
    return SharedStudy(storage, f"{store.folder.name}/{spec.key}")
