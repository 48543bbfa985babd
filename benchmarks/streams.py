"""Measure fits of tables that are read from Parquet batch by batch.

``python benchmarks/streams.py`` writes 10,000,000 rows of 100 columns (float32; six of
them matter) to a temporary folder, about 6 GB, fits them as a stream, and stores the
peak memory of that process, its seconds and what it kept. Then it does the same with
400,000 rows, which fit into memory: as a stream and read at once, in turn. Each fit is
a process of its own; its peak is from the start, libraries included.
"""

import argparse
import json
import resource
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from stamp import RESULTS, in_process, stamp, write

_FILE_ROWS = 500_000
_GROUP_ROWS = 100_000
_N_RELEVANT = 6
_ALLOWED_GIB, _ALLOWED_RATIO = 4.0, 1.5


def write_files(folder: Path, n_rows: int, n_columns: int) -> None:
    """Write the table in files of some row groups each."""
    for number, start in enumerate(range(0, n_rows, _FILE_ROWS)):
        path = folder / f"part-{number:03d}.parquet"
        schema = pa.schema(
            [(f"x{j}", pa.float32()) for j in range(n_columns)] + [("y", pa.int8())]
        )
        with parquet.ParquetWriter(path, schema, compression="none") as writer:
            for first in range(start, min(start + _FILE_ROWS, n_rows), _GROUP_ROWS):
                rows = min(_GROUP_ROWS, n_rows - first)
                writer.write_table(group(first, rows, n_columns, schema))


def group(first: int, n_rows: int, n_columns: int, schema: pa.Schema) -> pa.Table:
    """Return some rows; three columns act alone, two together, one by its square."""
    rng = np.random.default_rng([0, first])
    X = rng.standard_normal((n_columns, n_rows), dtype=np.float32)
    signal = X[0] + X[1] - X[2] + 1.5 * X[3] * X[4] + X[5] ** 2 - 1
    is_yes = signal + rng.logistic(size=n_rows) > 2
    return pa.table([*X, is_yes.astype(np.int8)], schema=schema)


def fit(folder: str, how: str) -> dict[str, Any]:
    """Fit what a folder holds, and return what it took."""
    from featuresieve import AutoNFSClassifier

    # The vote alone: what follows it sees the same rows, however they were read.
    selector = AutoNFSClassifier("price", random_state=0, n_jobs=1)
    started, cpu_started = time.perf_counter(), time.process_time()
    if how == "stream":
        selector.fit(folder, "y")
    else:
        table = parquet.read_table(folder)
        selector.fit(table.drop_columns(["y"]), table["y"])
    return {
        "how": how,
        "seconds": time.perf_counter() - started,
        "cpu_seconds": time.process_time() - cpu_started,
        "peak_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "kept": selector.get_feature_names_out().tolist(),
        "logits": selector.logits_.tolist(),
        "notes": [note["text"] for note in selector.notes_ if note["code"] == "sample"],
    }


apart = partial(in_process, OMP_NUM_THREADS="1")


def measure(n_rows: int, n_columns: int, hows: list[str], folder: Path) -> Any:
    """Write a table unless it is there, fit it in each way; return what that took."""
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        write_files(folder, n_rows, n_columns)
    truth = {f"x{j}" for j in range(_N_RELEVANT)}
    runs = [apart("--fit", str(folder), how) for how in hows]
    logits = [run.pop("logits") for run in runs]
    for run in runs:
        run["n_found"] = len(truth & {*run["kept"]})
        run["n_false"] = len({*run["kept"]} - truth)
        print(json.dumps(run), flush=True)
    return {
        "n_rows": n_rows,
        "n_columns": n_columns,
        "gb_on_disk": sum(path.stat().st_size for path in folder.iterdir()) / 1e9,
        "runs": runs,
        "are_equal": all(own == logits[0] for own in logits),
    }


def large(n_rows: int, n_columns: int, folder: Path) -> dict[str, Any]:
    """Measure the memory of a stream that does not fit."""
    record = measure(n_rows, n_columns, ["stream"], folder)
    return {"allowed_gib": _ALLOWED_GIB, "records": [record]}


def small(n_rows: int, n_columns: int, folder: Path, repetitions: int) -> Any:
    """Compare a stream that fits with the table in memory."""
    record = measure(n_rows, n_columns, ["stream", "memory"] * repetitions, folder)
    ratios = {what: _ratio(record["runs"], what) for what in ("seconds", "cpu_seconds")}
    print(json.dumps({"ratios": ratios, "are_equal": record["are_equal"]}))
    return {"allowed_ratio": _ALLOWED_RATIO, "ratios": ratios, "records": [record]}


def _ratio(runs: list[dict[str, Any]], what: str) -> float:
    """Return what streams take in the middle, over what tables in memory take."""
    taken = {
        how: np.median([run[what] for run in runs if run["how"] == how])
        for how in ("stream", "memory")
    }
    return float(taken["stream"] / taken["memory"])


def main() -> None:
    """Run all, or one part, or one fit of a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("large", "small"))
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rows-in-memory", type=int, default=400_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--repetitions", type=int, default=2)
    text = "where the tables are, or are written, and stay"
    parser.add_argument("--folder", type=Path, help=text)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--fit", nargs=2, metavar=("FOLDER", "HOW"))
    given = parser.parse_args()
    if given.fit:
        print(json.dumps(fit(*given.fit)))
        return
    with tempfile.TemporaryDirectory(prefix="featuresieve-streams-") as folder:
        place = given.folder or Path(folder)
        if given.part != "small":
            content = large(given.rows, given.columns, place / "large")
            write("streams_memory", {"stamp": stamp(), **content}, given.out)
        if given.part != "large":
            size = given.rows_in_memory, given.columns
            content = small(*size, place / "small", given.repetitions)
            write("streams_speed", {"stamp": stamp(), **content}, given.out)


if __name__ == "__main__":
    main()
