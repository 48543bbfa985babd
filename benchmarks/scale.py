"""How time and memory grow: steps against their floor, and whole default fits.

Usage (from the repository root; a GPU is used where there is one)::

    python benchmarks/scale.py steps     # a training step, and what bounds it
    python benchmarks/scale.py fits      # whole fits by rows, columns, members, cores
    python benchmarks/scale.py table     # print both, and the fitted model of the fits

**Floor of a step.** A stack of M members over D columns, with a first layer and an
embedding of 32 each, has P = 65 M D numbers that grow with D. Adam must read and write
each of them with its two moments, 24 bytes, and the batch is read once: bytes over the
bandwidth of a large copy on the same device. Forward and both backward products of the
first layer take 6 x 32 B M D multiplications and additions: over the rate of the same
product of that width alone. The larger of the two is the floor.

**Fits.** Each is a process of its own, forked before anything was computed, so that
its peak of memory is its own; on a GPU a small fit warms it up. Tables are normal
numbers of which 30 columns decide. The model of `table` is a sum of terms known
before a fit, with coefficients of least relative squares, none negative; each fit is
predicted by the model of all others.
"""

import argparse
import multiprocessing
import os
import resource
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import stamp
import torch
from cores import table as made_table
from scipy.optimize import nnls

Record = dict[str, Any]
BATCH, HIDDEN, NUMBERS = 256, 32, 65
STEP_SIZES = ((64, 16), (500, 16), (5_000, 16), (50_000, 128))
CPU_STEP_SIZES = ((64, 16), (500, 16), (5_000, 16), (50_000, 16))
# Rows, columns, members (None: the default).
FITS: tuple[tuple[int, int, int | None], ...] = (
    *((rows, 100, None) for rows in (10**3, 10**4, 10**5, 10**6)),
    *((1_000, columns, None) for columns in (10, 1_000, 10_000, 100_000)),
    *((2_000, 100, members) for members in (2, 8, 32, 128, 512)),
    *((10_000, 1_000, None), (100_000, 500, None), (5_000, 5_000, None)),
    *((2_000, 20_000, None), (500, 50_000, None), (300_000, 30, None)),
)
CPU_FITS = (
    *((rows, 100, None) for rows in (10**3, 10**4, 10**5)),
    *((1_000, columns, None) for columns in (10, 1_000, 10_000)),
    *((2_000, 100, members) for members in (2, 8, 32, 128)),
    *((10_000, 500, None), (300_000, 30, None), (2_000, 2_000, None)),
)


# --- one step


def steps(device: torch.device) -> Iterator[Record]:
    """Time gated steps, and the copies and products that bound them."""
    from speed import _seconds_per_step

    bandwidth = _bandwidth(device)
    for n_columns, n_members in _sizes(device):
        n_numbers = NUMBERS * n_columns * n_members
        n_bytes = 24 * n_numbers + 4 * BATCH * n_columns
        product = _product_seconds(n_columns, n_members, device)
        floor = max(n_bytes / bandwidth, 3 * product)
        seconds = _seconds_per_step(n_columns, n_members, True, device, BATCH)
        yield {
            "n_columns": n_columns,
            "n_members": n_members,
            "microseconds": round(seconds * 1e6, 1),
            "microseconds_of_bytes": round(n_bytes / bandwidth * 1e6, 1),
            "microseconds_of_products": round(3 * product * 1e6, 1),
            "times_the_floor": round(seconds / floor, 2),
            "gigabytes_a_second": round(bandwidth / 1e9, 1),
        }


def _sizes(device: torch.device) -> tuple[tuple[int, int], ...]:
    """Return the sizes of stack that fit the device."""
    return STEP_SIZES if device.type == "cuda" else CPU_STEP_SIZES


def _seconds(work: Any, device: torch.device, n_times: int = 20) -> float:
    """Return the least seconds of some calls, after two to warm up."""
    taken = []
    for _ in range(n_times + 2):
        _wait(device)
        started = time.perf_counter()
        work()
        _wait(device)
        taken.append(time.perf_counter() - started)
    return min(taken[2:])


def _wait(device: torch.device) -> None:
    """Wait for a GPU."""
    if device.type == "cuda":
        torch.cuda.synchronize()


def _bandwidth(device: torch.device) -> float:
    """Return the bytes a second of a large copy, read and written."""
    source = torch.randn(2**28 if device.type == "cuda" else 2**26, device=device)
    target = torch.empty_like(source)
    return 8 * len(source) / _seconds(lambda: target.copy_(source), device)


def _product_seconds(n_columns: int, n_members: int, device: torch.device) -> float:
    """Return the seconds of one product of the first layer of all members."""
    batch = torch.randn(BATCH, n_columns, device=device)
    weight = torch.randn(n_columns, HIDDEN * n_members, device=device)
    out = torch.empty(BATCH, HIDDEN * n_members, device=device)
    return _seconds(lambda: torch.mm(batch, weight, out=out), device)


# --- whole fits


def fits(jobs: list[int], limit: float) -> Iterator[Record]:
    """Time default fits, each in a process of its own, while there is time."""
    context = multiprocessing.get_context("fork")
    has_gpu = Path("/dev/nvidia0").exists()
    started = time.monotonic()
    for shape in FITS if has_gpu else CPU_FITS:
        for n_jobs in [1] if has_gpu else jobs:
            if time.monotonic() - started > limit:
                return
            receiver, sender = context.Pipe(duplex=False)
            arguments = (sender, shape, "cuda" if has_gpu else "cpu", n_jobs)
            child = context.Process(target=_one_fit, args=arguments)
            child.start()
            sender.close()
            try:
                record = receiver.recv()
            except EOFError:
                record = {"failure": "the process ended"}
            child.join()
            n_rows, n_columns, n_members = shape
            yield {
                "n_rows": n_rows,
                "n_columns": n_columns,
                "n_members": n_members,
                "n_jobs": n_jobs,
                **record,
            }


def _one_fit(
    sender: Any, shape: tuple[int, int, int | None], device: str, n_jobs: int
) -> None:
    """Fit once and send what it took."""
    from featuresieve import AutoNFSClassifier, Training

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    n_rows, n_columns, n_members = shape
    if device == "cuda":
        AutoNFSClassifier(random_state=0, device=device).fit(*made_table("300x10"))
        torch.cuda.reset_peak_memory_stats()
    X, y = made_table(f"{n_rows}x{n_columns}")
    selector = AutoNFSClassifier(
        random_state=0,
        device=device,
        n_jobs=n_jobs,
        training=Training(n_members=n_members),
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started, cpu = time.perf_counter(), time.process_time()
    try:
        selector.fit(X, y)
    except Exception as error:  # a row that says so
        sender.send({"failure": f"{type(error).__name__}: {error}"[:200]})
        return
    record = {
        "seconds": round(time.perf_counter() - started, 3),
        "cpu_seconds": round(time.process_time() - cpu, 3),
        "megabytes_of_table": round(X.nbytes / 1e6, 1),
        "megabytes_added": round(
            (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1e3, 1
        ),
        "n_voters": int(selector.history_["task_loss"].shape[1]),
        "n_steps": int(selector.history_["step"][-1]),
        "n_kept": int(selector.n_features_selected_),
        "n_found": int(np.count_nonzero(selector.support_[:30])),
    }
    if device == "cuda":
        peak = torch.cuda.max_memory_allocated() / 1e6
        record["megabytes_of_device"] = round(peak, 1)
    sender.send(record)


# --- what the records say


def terms(record: Record) -> np.ndarray:
    """Return what the seconds of a fit are a sum of, apart from coefficients."""
    rows, columns = record["n_rows"], record["n_columns"]
    n_steps, members = record["n_steps"], record["n_voters"]
    work = n_steps * columns * members
    return np.array([1.0, rows * columns, columns, n_steps, work, n_steps * members])


TERMS = ("1", "rows x columns", "columns", "steps", "steps x columns x members")
TERMS += ("steps x members",)


def coefficients(records: list[Record]) -> np.ndarray:
    """Return those of least squares of relative errors, none negative."""
    seconds = np.array([record["seconds"] for record in records])
    rows = np.array([terms(record) for record in records]) / seconds[:, None]
    scale = rows.max(axis=0)
    return nnls(rows / scale, np.ones(len(records)))[0] / scale


def predicted(records: list[Record]) -> list[float]:
    """Return what the model of all other fits says of each."""
    return [
        float(terms(one) @ coefficients(records[:i] + records[i + 1 :]))
        for i, one in enumerate(records)
    ]


def print_steps(records: list[Record]) -> None:
    """Print one line a size of stack."""
    print("| columns | members | microseconds | bytes | products | times the floor |")
    print("|---|---|---|---|---|---|")
    for r in records:
        print(
            f"| {r['n_columns']:,} | {r['n_members']} | {r['microseconds']:,.0f} | "
            f"{r['microseconds_of_bytes']:,.0f} | "
            f"{r['microseconds_of_products']:,.0f} | {r['times_the_floor']} |"
        )


def print_fits(records: list[Record]) -> None:
    """Print one line a fit, and the model of each number of threads."""
    print(
        "| rows | columns | members | threads | seconds | predicted | MB added | kept"
    )
    print("|---|---|---|---|---|---|---|---|")
    for n_jobs in sorted({r["n_jobs"] for r in records}):
        own = [r for r in records if r["n_jobs"] == n_jobs]
        done = [r for r in own if "failure" not in r]
        foreseen = predicted(done)
        for r in own:
            start = f"| {r['n_rows']:,} | {r['n_columns']:,} | "
            if "failure" in r:
                print(f"{start}{r['n_members']} | {n_jobs} | {r['failure']} | | | |")
                continue
            guess = foreseen[done.index(r)]
            memory = r.get("megabytes_of_device", r["megabytes_added"])
            print(
                f"{start}{r['n_voters']} | {n_jobs} | {r['seconds']:.2f} | "
                f"{guess:.2f} | {memory:,.0f} | {r['n_kept']} |"
            )
        errors = [
            abs(g / r["seconds"] - 1) for g, r in zip(foreseen, done, strict=True)
        ]
        n_near = sum(error <= 0.3 for error in errors)
        parts = zip(TERMS, coefficients(done), strict=True)
        print(f"\n{n_near} of {len(done)} within 30 %; median {np.median(errors):.0%}.")
        print("seconds = " + " + ".join(f"{c:.3g} ({name})" for name, c in parts), "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("part", choices=("steps", "fits", "table"))
    parser.add_argument("--out", type=Path, default=stamp.RESULTS)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1])
    parser.add_argument("--limit", type=float, default=3600.0, help="seconds, for fits")
    arguments = parser.parse_args()
    names = {
        f"scale_{part}_{device}": printer
        for part, printer in (("steps", print_steps), ("fits", print_fits))
        for device in ("cpu", "gpu")
    }
    if arguments.part == "table":
        stamp.print_stored(arguments.out, names)
        return
    torch.set_num_threads(1)
    device = "gpu" if Path("/dev/nvidia0").exists() else "cpu"
    name, records = f"scale_{arguments.part}_{device}", []
    if arguments.part == "fits":
        found = fits(arguments.jobs, arguments.limit)
    else:
        found = steps(torch.device("cuda" if device == "gpu" else "cpu"))
    circumstances = _stamp()
    for record in found:  # what is finished is never lost
        print(record, flush=True)
        records.append(record)
        content = {"stamp": circumstances, "records": records}
        stamp.write(name, content, arguments.out)


def _stamp() -> Record:
    """Return the circumstances, by a process of its own: forks come before CUDA."""
    context = multiprocessing.get_context("fork")
    with context.Pool(1) as pool:
        found: Record = pool.apply(stamp.stamp)
    return found | {"load": round(os.getloadavg()[0], 1)}


if __name__ == "__main__":
    main()
