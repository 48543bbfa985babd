"""A cell on some machine of a cluster: a process of its own, from order to record.

The workers of a cluster are threads that nothing can stop, in processes that may have
no children by multiprocessing. So each cell gets a process beside them, which keeps the
time limit and ends when the worker ends.
"""

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sievebench.run_spec import RunSpec
from sievebench.store import STATUSES, RunRecord, Store


@dataclass(frozen=True)
class Order:
    """What a machine must know to run a cell; plain values, to be sent anywhere."""

    spec: dict[str, Any]  # as `RunSpec.as_dict` returns it
    folder: str  # of the store
    time_limit_seconds: float | None
    storage: str | None  # address of a database for trials


def carry_out(order: Order) -> tuple[str, float]:
    """Run a cell in a process of its own."""
    started = time.monotonic()
    store, spec = Store(Path(order.folder)), RunSpec.from_dict(order.spec)
    with subprocess.Popen(
        [sys.executable, "-m", "sievebench.runner.node"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        bufsize=0,
    ) as process:
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # it ended before it read
            process.stdin.write(json.dumps(asdict(order)).encode() + b"\n")
        code = process.wait()
    record = store.read(spec)
    is_done = record is not None and record.status == "done"  # and then it died
    if record is None or (code != 0 and not is_done):
        reason = f"its process ended with code {code}"
        record = RunRecord(spec, "failed", reason=reason)
        store.write(record)
    return record.to_json(), time.monotonic() - started


def main() -> None:
    """Carry out the order on standard input."""
    from sievebench.runner import run_cells

    order = Order(**json.loads(sys.stdin.readline()))
    threading.Thread(target=_end_with_sender, daemon=True).start()
    run_cells(
        [RunSpec.from_dict(order.spec)],
        Store(Path(order.folder)),
        time_limit_seconds=order.time_limit_seconds,
        retry=[status for status in STATUSES if status != "done"],
        storage=order.storage,
    )


def _end_with_sender() -> None:
    """End this process when whoever sent the order is gone: its end of the pipe is."""
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    main()
