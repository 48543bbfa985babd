"""Processor time and memory of reading and encoding tables, on one thread.

Run with ``OMP_NUM_THREADS=1 POLARS_MAX_THREADS=1 python benchmarks/encoding.py``.
"""

import time
import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from featuresieve._columns import ColumnScaler
from featuresieve._encoding import TableEncoder
from featuresieve._table import read_table

N_ROWS = 100_000


def mixed_frame(n_rows: int = N_ROWS, seed: int = 0) -> pd.DataFrame:
    """Return 60 numbers with holes, 30 categories, 5 booleans and 5 dates."""
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {}
    for j in range(60):
        values = rng.standard_normal(n_rows)
        if j % 2:
            values[rng.random(n_rows) < 0.05] = np.nan
        columns[f"number {j}"] = values
    for j, n_levels in enumerate(np.geomspace(5, 1000, 30).astype(int)):
        levels = np.array([f"level {k}" for k in range(n_levels)], dtype=object)
        columns[f"category {j}"] = levels[rng.integers(n_levels, size=n_rows)]
    for j in range(5):
        columns[f"boolean {j}"] = rng.random(n_rows) < 0.3
        minutes = rng.integers(2_000_000, size=n_rows).astype("timedelta64[m]")
        columns[f"date {j}"] = np.datetime64("2021-01-01", "us") + minutes
    return pd.DataFrame(columns)


def seconds(function: Any, n_times: int = 3) -> float:
    """Return the shortest processor time of a few calls."""
    times = []
    for _ in range(n_times):
        started = time.process_time()
        function()
        times.append(time.process_time() - started)
    return min(times)


def encode(X: Any) -> Any:
    """Read, learn and encode a table."""
    table = read_table(X)
    return TableEncoder.fit(table, scaling="normal_scores").transform(table)


def scale(X: Any) -> Any:
    """Scale a numeric array without the table layer."""
    return ColumnScaler.fit(X, "normal_scores").transform(X)


def peak_mebibytes(function: Any) -> float:
    """Return the most memory that a call allocated."""
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def main() -> None:
    frame = mixed_frame()
    objects = frame.astype({c: object for c in frame if c.startswith("category")})
    frames = {
        "pandas": frame,
        "pandas, text as objects": objects,
        "polars": pl.from_pandas(frame),
        "pyarrow": pl.from_pandas(frame).to_arrow(),
    }
    print(f"{N_ROWS:,} x 100 mixed columns, read + fit + transform")
    for name, X in frames.items():
        print(f"  {name:25s} {seconds(lambda X=X: encode(X)):6.2f} s")
    X = np.random.default_rng(0).standard_normal((N_ROWS, 100), dtype=np.float32)
    print(f"{N_ROWS:,} x 100 float32 array")
    print(f"  table layer               {seconds(lambda: encode(X)):6.2f} s")
    print(f"  ColumnScaler alone        {seconds(lambda: scale(X)):6.2f} s")
    X = np.random.default_rng(0).standard_normal((1_000_000, 50), dtype=np.float32)
    print("1,000,000 x 50 float32 array (191 MiB)")
    print(f"  table layer               {seconds(lambda: encode(X), 1):6.2f} s")
    print(f"  ColumnScaler alone        {seconds(lambda: scale(X), 1):6.2f} s")
    print(f"  peak of the table layer   {peak_mebibytes(lambda: encode(X)):6.0f} MiB")


if __name__ == "__main__":
    main()
