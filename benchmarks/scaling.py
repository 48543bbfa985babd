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
others have one core each.
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
}
ON_GPU = ("autonfs:price", "autonfs:auto", "stg", "autonfs:published")
_ENOUGH = 3.0  # seconds of a fit that is done only once


def fit(name: str, device: str, X: np.ndarray, y: np.ndarray, seed: int) -> float:
    """Return the seconds of one fit."""
    kind, settings = RUNS[name]
    arguments = {**settings, "task": "classification", "random_state": seed}
    if "device" in SELECTORS[kind]().get_params():
        arguments["device"] = device
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        SELECTORS[kind](**arguments).fit(X, y)
    return time.perf_counter() - started


def climb(name: str, axis: str, device: str, longest: float, queue: Any) -> None:
    """Fit larger and larger tables, and tell of each fit."""
    torch.set_num_threads(1)
    on_gpu = device == "cuda" and name in ON_GPU
    for number, size in enumerate(SIZES[axis]):
        shape = (ROWS_FIXED, size) if axis == "columns" else (size, COLUMNS_FIXED)
        table = data.load(f"made:{shape[0]}x{shape[1]}")
        if number == 0:
            fit(name, device, table.X, table.y, 99)
        for seed in range(3):
            if on_gpu:
                torch.cuda.reset_peak_memory_stats()
            seconds = fit(name, device, table.X, table.y, seed)
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


def lane(tasks: Sequence[tuple[str, str]], *settings: Any) -> None:
    """Do some climbs, one after the other."""
    for name, axis in tasks:
        climb(name, axis, *settings)


def run(options: argparse.Namespace) -> None:
    """Start the lanes, listen until the time is up, store."""
    names = options.selectors or list(RUNS)
    is_cuda = options.device == "cuda"
    climbs = [(name, axis) for name in names for axis in SIZES]
    climbs.sort(key=lambda one: ON_GPU.index(one[0]) if one[0] in ON_GPU else 99)
    shared = [one for one in climbs if is_cuda and one[0] in ON_GPU]
    lanes = [[one] for one in climbs if one not in shared]
    lanes = [shared, *lanes] if shared else lanes
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    rest = (options.device, options.longest, queue)
    processes = [context.Process(target=lane, args=(one, *rest)) for one in lanes]
    records, until = [], time.monotonic() + options.seconds
    waiting, running = list(processes), []
    while time.monotonic() < until and (waiting or running):
        running = [process for process in running if process.is_alive()]
        while waiting and len(running) < options.lanes:
            running.append(waiting.pop(0))
            running[-1].start()
        try:
            records.append(queue.get(timeout=1))
            print(*records[-1].values(), flush=True)
        except Empty:
            continue
    for process in running:
        process.kill()
    content = {"stamp": stamp.stamp(), "records": records}
    stamp.write(options.file, content, options.out)


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
    parser.add_argument("--selectors", nargs="+", choices=list(RUNS))
    parser.add_argument("--seconds", type=float, default=600.0, help="in all")
    parser.add_argument("--longest", type=float, default=40.0, help="of the last fit")
    parser.add_argument("--lanes", type=int, default=14, help="at the same time")
    parser.add_argument("--out", type=Path, default=stamp.RESULTS)
    parser.add_argument("--file", default="scaling_gpu")
    options = parser.parse_args()
    table(options) if options.what == "table" else run(options)


if __name__ == "__main__":
    main()
