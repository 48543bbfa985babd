r"""Seconds and memory of one fit against columns and rows, on a GPU or on the CPU.

Usage (from the repository root)::

    python benchmarks/scaling.py run --seconds 180    # all; on a GPU if there is one
    python benchmarks/scaling.py run --device cpu --file scaling_cpu
    python benchmarks/scaling.py table                # exponents, memory

Made tables: two classes decided by ten columns, the rest noise. 2^5 to 2^15 columns at
1,000 rows, and 10^3 to 10^6 rows at 64 columns. Each selector has a process for each of
the two, which goes from small to large until `--seconds` are over or a fit has taken
longer than `--longest`: what is missing took too long. Up to three fits a size, after
one that is not counted. Those that train networks have the GPU one after the other; all
others have one core each. Seconds on the CPU are those of the processor, so that what
else the machine does matters little. What the file has already is not run again: the
same command goes on. `autonfs` 1.0.0 is the authors' package, on the CPU.
"""

import argparse
import json
import multiprocessing
import resource
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from queue import Empty
from typing import Any

import numpy as np
import pandas as pd
import stamp
import torch

from sievebench import analysis, data
from sievebench.selectors import SELECTORS

ROWS_FIXED, COLUMNS_FIXED = 1000, 64
PEER = "autonfs 1.0.0"
SIZES = {
    "columns": [2**power for power in range(5, 16)],
    "rows": [1000, 10_000, 100_000, 1_000_000],
}
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "autonfs:auto": ("autonfs", {}),
    "autonfs:price": ("autonfs", {"balance": "price"}),
    "autonfs:published": ("autonfs", {"setting": "published"}),
    "stg": ("stg", {}),
    "univariate": ("univariate", {}),
    "mutual-info": ("mutual-info", {}),
    "forest": ("forest", {}),
    "svc-rfe": ("svc-rfe", {"step": 0.1}),
    "lassonet": ("lassonet", {}),
    "boruta": ("boruta", {}),
    PEER: (PEER, {}),
}
ON_GPU = ("autonfs:price", "autonfs:auto", "stg", "autonfs:published")
_ENOUGH = 3.0  # seconds of a fit that is done only once


def fit(name: str, device: str, X: np.ndarray, y: np.ndarray, seed: int) -> float:
    """Return the seconds of one fit; of the processor, if that is what fits."""
    now = time.perf_counter if device == "cuda" else time.process_time
    selector = _peer() if name == PEER else _selector(name, device, seed)
    started = now()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(X, y)
    return now() - started


def _selector(name: str, device: str, seed: int) -> Any:
    """Return one of the laboratory's selectors."""
    kind, settings = RUNS[name]
    arguments = {**settings, "task": "classification", "random_state": seed}
    if "device" in SELECTORS[kind]().get_params():
        arguments["device"] = device
    return SELECTORS[kind](**arguments)


def _peer() -> Any:
    """Return the authors' selector with its defaults."""
    from autonfs import AutoNFS

    return AutoNFS(mode="classification")


def climb(
    name: str, axis: str, above: int, device: str, longest: float, queue: Any
) -> None:
    """Fit larger and larger tables, and tell of each fit."""
    torch.set_num_threads(1)
    on_gpu = device == "cuda" and name in ON_GPU
    is_warm = False
    for size in SIZES[axis]:
        shape = (ROWS_FIXED, size) if axis == "columns" else (size, COLUMNS_FIXED)
        table = data.load(f"made:{shape[0]}x{shape[1]}")
        X, y = table.X, table.y
        if name == PEER:
            X, y = X.astype(np.float32), np.unique(y, return_inverse=True)[1]
        if not is_warm:
            fit(name, "cuda" if on_gpu else "cpu", X, y, 99)
            is_warm = True
        if size <= above:
            continue
        for seed in range(3):
            if on_gpu:
                torch.cuda.reset_peak_memory_stats()
            seconds = fit(name, "cuda" if on_gpu else "cpu", X, y, seed)
            kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            queue.put(
                {
                    "selector": name,
                    "axis": axis,
                    "size": size,
                    "seed": seed,
                    "seconds": round(seconds, 4),
                    "device": "cuda" if on_gpu else "cpu",
                    "host_megabytes": round(kilobytes / 1024),
                    "gpu_megabytes": (
                        round(torch.cuda.max_memory_allocated() / 2**20)
                        if on_gpu
                        else None
                    ),
                }
            )
            if seconds > _ENOUGH:
                break
        if seconds > longest:
            return


def lane(tasks: Sequence[tuple[str, str, int]], *settings: Any) -> None:
    """Do some climbs, one after the other."""
    for task in tasks:
        climb(*task, *settings)


def left_of(
    options: argparse.Namespace, records: list[dict[str, Any]]
) -> list[tuple[str, str, int]]:
    """Return the climbs that can go on: selector, axis and the size they are above."""
    left = []
    for name in options.selectors:
        for axis in options.axes:
            own = [r for r in records if (r["selector"], r["axis"]) == (name, axis)]
            above = max((r["size"] for r in own), default=0)
            took = max((r["seconds"] for r in own), default=0.0)
            if above < SIZES[axis][-1] and took <= options.longest:
                left.append((name, axis, above))
    return left


def run(options: argparse.Namespace) -> None:
    """Start the lanes, listen until the time is up, store."""
    is_cuda = options.device == "cuda"
    path = options.out / f"{options.file}.json"
    records = json.loads(path.read_text())["records"] if path.exists() else []
    climbs = left_of(options, records)
    climbs.sort(key=lambda one: ON_GPU.index(one[0]) if one[0] in ON_GPU else 99)
    shared = [one for one in climbs if is_cuda and one[0] in ON_GPU]
    lanes = [[one] for one in climbs if one not in shared]
    lanes = [shared, *lanes] if shared else lanes
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    rest = (options.device, options.longest, queue)
    processes = [context.Process(target=lane, args=(one, *rest)) for one in lanes]
    until = time.monotonic() + options.seconds
    waiting, running, origin = list(processes), [], stamp.stamp()
    while time.monotonic() < until and (waiting or running):
        running = [process for process in running if process.is_alive()]
        while waiting and len(running) < options.lanes:
            running.append(waiting.pop(0))
            running[-1].start()
        if heard := _heard(queue):
            records += [one | {"commit": origin["commit"]} for one in heard]
            content = {"stamp": origin, "records": records}
            stamp.write(options.file, content, options.out)
    for process in running:
        process.kill()


def _heard(queue: Any) -> list[dict[str, Any]]:
    """Return the fits that are told of until there are none for a second."""
    heard = []
    while True:
        try:
            heard.append(queue.get(timeout=1))
        except Empty:
            return heard
        print(*heard[-1].values(), flush=True)


def exponents(records: list[dict[str, Any]], axis: str) -> pd.DataFrame:
    """Return the exponents of `analysis.scaling_exponents` along an axis."""
    runs = pd.DataFrame(records)
    runs = runs[runs["axis"] == axis]
    named = runs.assign(n_features=runs["size"], experiment="scaling", status="done")
    return analysis.scaling_exponents(named)


def table(options: argparse.Namespace) -> None:
    """Print seconds, memory and exponents."""
    stored = json.loads((options.out / f"{options.file}.json").read_text())
    runs = pd.DataFrame(stored["records"])
    for axis in SIZES:
        chosen = runs[runs["axis"] == axis]
        for value in ("seconds", "host_megabytes", "gpu_megabytes"):
            wide = chosen.pivot_table(values=value, index="selector", columns="size")
            print(f"\n{value} by {axis}\n", wide.round(2).to_string(), sep="")
        print(exponents(stored["records"], axis).round(3).to_string())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("run", "table"))
    usual = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--device", choices=("cpu", "cuda"), default=usual)
    parser.add_argument(
        "--selectors", nargs="+", choices=list(RUNS), default=list(RUNS)
    )
    parser.add_argument("--axes", nargs="+", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--seconds", type=float, default=600.0, help="in all")
    parser.add_argument("--longest", type=float, default=40.0, help="of the last fit")
    parser.add_argument("--lanes", type=int, default=14, help="at the same time")
    parser.add_argument("--out", type=Path, default=stamp.RESULTS)
    parser.add_argument("--file", default="scaling_gpu")
    options = parser.parse_args()
    table(options) if options.what == "table" else run(options)


if __name__ == "__main__":
    main()
