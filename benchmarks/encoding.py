"""Processor time and memory of reading and encoding tables, on one thread.

Run with ``OMP_NUM_THREADS=1 POLARS_MAX_THREADS=1 python benchmarks/encoding.py``, or
with ``--out FOLDER`` to write elsewhere than to ``benchmarks/results``.
"""

import time
import tracemalloc
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import stamp
import torch

from featuresieve import AutoNFSClassifier
from featuresieve.problem import (
    class_target,
    constraints_from,
    encode_problem,
    row_weights,
)
from featuresieve.tables import ColumnScaler, TableEncoder, read_table

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
    return TableEncoder.fit_transform(table, scaling="normal_scores")


def scale(X: Any) -> Any:
    """Scale a numeric array without the table layer."""
    block = np.array(X.T, dtype=np.float64, order="C")
    return ColumnScaler.fit_transform(block, "normal_scores")[1].astype(np.float32)


def peak_mebibytes(function: Any) -> float:
    """Return the most memory that a call allocated."""
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def encodings() -> Iterator[dict[str, Any]]:
    """Time the encoding of mixed frames of several libraries, and of plain arrays."""
    frame = mixed_frame()
    objects = frame.astype({c: object for c in frame if c.startswith("category")})
    frames = {
        "pandas": frame,
        "pandas, text as objects": objects,
        "polars": pl.from_pandas(frame),
        "pyarrow": pl.from_pandas(frame).to_arrow(),
    }
    for name, X in frames.items():
        what = f"{N_ROWS:,} x 100 mixed, {name}: read and encode"
        yield {"what": what, "seconds": seconds(lambda X=X: encode(X))}
    for shape in ((N_ROWS, 100), (1_000_000, 50)):
        X = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)
        what = f"{shape[0]:,} x {shape[1]} float32"
        yield {
            "what": f"{what}: read and encode",
            "seconds": seconds(lambda X=X: encode(X), 2),
            "output_mebibytes": X.nbytes / 2**20,
            "peak_mebibytes": peak_mebibytes(lambda X=X: encode(X)),
        }
        yield {
            "what": f"{what}: scaling alone",
            "seconds": seconds(lambda X=X: scale(X), 2),
        }


def share_of_a_fit() -> Iterator[dict[str, Any]]:
    """Time a default fit of the mixed frame, and what comes before the search."""
    frame = mixed_frame()
    y = frame["number 0"] + frame["boolean 0"] + (frame["category 0"] == "level 3") > 1

    def fit() -> None:
        AutoNFSClassifier(random_state=0, device="cpu").fit(frame, y)

    def prepare_alone() -> None:
        table, n_rows = read_table(frame), len(frame)
        names = ("feature_groups", "always_keep", "never_keep", "feature_costs")
        free = dict.fromkeys(names)
        encode_problem(
            table,
            class_target(y, n_rows),
            row_weights(None, None, None, n_rows),
            constraints_from(free, table.names, table.n_features),
            scaling="normal_scores",
            max_categories=32,
        )

    whole = seconds(fit, 2)
    for what, part in (
        ("whole fit", whole),
        ("reading, encoding and ordering", seconds(prepare_alone)),
        ("reading and encoding", seconds(lambda: encode(frame))),
    ):
        what = f"{N_ROWS:,} x 100 mixed, default fit on the CPU: {what}"
        yield {"what": what, "seconds": part, "share_of_fit": part / whole}


def main() -> None:
    parser = stamp.parser_of(__doc__)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rounded = (
        {k: round(v, 3) if k != "what" else v for k, v in record.items()}
        for record in chain(share_of_a_fit(), encodings())
    )
    stamp.store("table_layer", rounded, arguments.out)


if __name__ == "__main__":
    main()
