"""Measure `sievebench compare` with every selector on a table of 3,000 × 20.

``python benchmarks/compare.py`` writes a made table with two classes to a temporary
folder, runs the command with ``--jobs`` processes, and stores the seconds on the clock,
the CPU seconds of all its processes, and what it found out about each selector. On a
machine with other work, CPU seconds over jobs are nearer to what it takes than the
clock.
"""

import argparse
import csv
import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from stamp import RESULTS, stamp, write

_ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of Linux


def made_table(n_rows: int, n_columns: int) -> pd.DataFrame:
    """Return normal columns; six matter, two by their product, two have near copies."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, 10:12] = X[:, :2] + 0.3 * rng.normal(size=(n_rows, 2))
    signal = X[:, :3].sum(axis=1) + 1.5 * X[:, 3] * X[:, 4] + (X[:, 5] > 0)
    is_yes = signal + rng.logistic(size=n_rows) > 0.5
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(n_columns)])
    return frame.assign(target=np.where(is_yes, "yes", "no"))


def cpu_seconds() -> float:
    """Return the CPU seconds of all processes that have ended below this one.

    The server that forks the command's processes outlives the command by a moment.
    """
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Run the command once and return what it took and found."""
    source, result = folder / "made.csv", folder / "result.csv"
    made_table(options.rows, options.columns).to_csv(source, index=False)
    words = ["compare", str(source), "--target", "target", "--jobs", str(options.jobs)]
    words += ["--csv", str(result), "--quiet", *(["--fast"] if options.fast else [])]
    ctypes.CDLL(None).prctl(_ADOPT_ORPHANS, 1, 0, 0, 0)
    started = time.perf_counter()
    shown = subprocess.run(
        [sys.executable, "-m", "sievebench", *words],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    seconds = time.perf_counter() - started
    with result.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        "n_rows": options.rows,
        "n_columns": options.columns,
        "n_jobs": options.jobs,
        "is_fast": options.fast,
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu_seconds(), 1),
        "load": round(os.getloadavg()[0], 1),  # processes that wanted a core
        "verdict": shown.strip().rsplit("\n\n", 1)[-1].splitlines(),
        "selectors": [
            {
                "selector": row["selector"],
                **{
                    name: round(float(row[name]), 4) if row[name] else None
                    for name in ("score", "n_kept", "seconds", "p")
                },
                "reason": row["reason"],
            }
            for row in rows
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure a comparison.")
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--fast", action="store_true", help="only the fast selectors")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    origin = stamp()
    with tempfile.TemporaryDirectory() as folder:
        record = run(Path(folder), options)
    name = "compare_fast" if options.fast else "compare"
    path = write(name, {"stamp": origin, "records": [record]}, options.out)
    print(json.dumps(record, indent=1))
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
