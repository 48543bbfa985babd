"""Measure memory and time of the command on a large CSV file.

``python benchmarks/command.py`` writes 1,000,000 rows of 50 columns (40 numbers, some
missing, 5 whole numbers, 5 categories) and a target to a temporary folder, runs
``featuresieve select`` on it with a time limit, and stores the peak memory of that
process, its seconds and what it kept.
"""

import argparse
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
import pyarrow as pa
from pyarrow import csv
from stamp import RESULTS, stamp, write

_BLOCK_ROWS = 100_000
_N_NUMBERS, _N_COUNTS, _N_CATEGORIES = 40, 5, 5
_ALLOWED_GIB = 4.0


def block(rng: np.random.Generator, n_rows: int) -> pa.Table:
    """Return some rows; five numbers, one count and one category matter."""
    numbers = rng.standard_normal((n_rows, _N_NUMBERS))
    counts = rng.integers(0, 1000, (n_rows, _N_COUNTS))
    levels = rng.integers(0, 8, (n_rows, _N_CATEGORIES))
    signal = numbers[:, :3].sum(axis=1) + numbers[:, 3] * numbers[:, 4]
    signal += (counts[:, 0] > 500) + (levels[:, 0] == 3)
    columns: dict[str, Any] = {}
    for j in range(_N_NUMBERS):
        is_missing = rng.random(n_rows) < 0.02
        columns[f"number {j}"] = pa.array(numbers[:, j], mask=is_missing)
    for j in range(_N_COUNTS):
        columns[f"count {j}"] = counts[:, j]
    words = np.array([f"level {k}" for k in range(8)])
    for j in range(_N_CATEGORIES):
        columns[f"category {j}"] = words[levels[:, j]]
    is_yes = signal + rng.logistic(size=n_rows) > 1
    columns["target"] = np.where(is_yes, "yes", "no")
    return pa.table(columns)


def write_csv(path: Path, n_rows: int) -> None:
    """Write the file, a block at a time."""
    rng = np.random.default_rng(0)
    writer = None
    for start in range(0, n_rows, _BLOCK_ROWS):
        rows = block(rng, min(_BLOCK_ROWS, n_rows - start))
        if writer is None:
            writer = csv.CSVWriter(path, rows.schema)
        writer.write_table(rows)
    if writer is not None:
        writer.close()


def run(folder: Path, n_rows: int, max_time: float) -> dict[str, Any]:
    """Run the command once and return what it took."""
    source, result = folder / "large.csv", folder / "result.json"
    write_csv(source, n_rows)
    words = ["select", str(source), "--target", "target", "--max-time", str(max_time)]
    words += ["--json", str(result), "--out", str(folder / "small.csv"), "--quiet"]
    started = time.perf_counter()
    subprocess.run([sys.executable, "-m", "featuresieve", *words], check=True)
    seconds = time.perf_counter() - started
    # The only child so far; on Linux in KiB, on macOS in bytes.
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    unit = 1 if sys.platform == "darwin" else 1024
    found = json.loads(result.read_text(encoding="utf-8"))
    return {
        "n_rows": n_rows,
        "n_columns": _N_NUMBERS + _N_COUNTS + _N_CATEGORIES,
        "file_gib": round(source.stat().st_size / 2**30, 3),
        "peak_gib": round(peak * unit / 2**30, 3),
        "allowed_gib": _ALLOWED_GIB,
        "seconds": round(seconds, 1),
        "selection_seconds": found["seconds"],
        "max_time": max_time,
        "kept": found["kept"],
        "score": found["score"],
        "warnings": found["warnings"],
        "threads": os.environ.get("OMP_NUM_THREADS", "default"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the command on a large file.")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--max-time", type=float, default=180.0)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    origin = stamp()
    with tempfile.TemporaryDirectory() as folder:
        record = run(Path(folder), options.rows, options.max_time)
    path = write("command", {"stamp": origin, "records": [record]}, options.out)
    print(json.dumps(record, indent=1))
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
