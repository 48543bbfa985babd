"""The process that runs cells, one after the other, until its parent is done."""

import os
import signal
import threading
import warnings
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path

from threadpoolctl import threadpool_limits

from sievebench.environment import describe_environment
from sievebench.pipeline import run_one
from sievebench.runner import trials_of
from sievebench.stack.on_gpu import give_memory_back, round_products, wait_asleep
from sievebench.store import Store


def work(pipe: Connection, folder: Path, storage: str | None = None) -> None:
    """Take specs from the pipe, write their records, and say how each ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides, on Windows too
    _end_with_parent()
    warnings.simplefilter("ignore")
    wait_asleep()
    round_products()
    describe_environment()  # now: the code that is loaded may be changed meanwhile
    store = Store(folder)
    pipe.send("ready")
    # The networks are small: processes use the cores, threads would only wait.
    with threadpool_limits(1):
        while (spec := pipe.recv()) is not None:
            trials = trials_of(spec, store, storage)
            record = run_one(spec, journal=trials)
            store.write(record)
            give_memory_back()
            pipe.send(record.status)


def _end_with_parent() -> None:
    """End this process when its parent ends, however that happens."""
    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
