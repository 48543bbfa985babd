"""How time and memory grow: steps against their floor, and whole default fits.

Usage (from the repository root; a GPU is used where there is one)::

    python benchmarks/scale.py steps     # a training step, and what bounds it
    python benchmarks/scale.py plan      # the fits in their order, and what they take
    python benchmarks/scale.py fits      # whole fits by rows, columns, members, cores
    python benchmarks/scale.py table     # print both, and the fitted model of the fits

``--device cuda`` or ``cpu`` says where, ``--limit`` after how many seconds no further
fit begins: the first ones decide most. A later call measures what is not stored yet.

**Floor of a step.** A stack of M members over D columns, with a first layer and an
embedding of 32 each, has P = 65 M D numbers that grow with D. Adam must read and write
each of them with its two moments, 24 bytes, and the batch is read once: bytes over the
bandwidth of a large copy on the same device. The first layer has a product forward and
one backward (fits have another, for the gates), the next layer three small ones: their
operations over the rate of that first product. The larger of the two is the floor.

**Fits.** Each is a process of its own, forked before anything was computed, so that
its peak of memory is its own; on a GPU a small fit warms it up. Tables are normal
numbers of which 30 columns decide. Their share of the bandwidth is that of the gates
alone: what Adam must move in all steps of the whole stack, over what could be moved in
the seconds of the fit. A wide stack that gates leave moves less, and may have more than
one. The model of `table` is a sum of terms known before a fit, with coefficients of
least relative squares, none negative. It has not seen what is held out; each other fit
is predicted by the model of the rest. On the CPU its seconds are the processor's.
"""

import argparse
import json
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
from speed import _seconds_per_step, _synchronize, clock_of

Record = dict[str, Any]
KIND = {"cpu": "cpu", "cuda": "gpu"}
BATCH, HIDDEN, NUMBERS = 256, 32, 65
STEP_SIZES = {
    "cuda": ((64, 16), (500, 16), (5_000, 16), (50_000, 128)),
    "cpu": ((64, 16), (500, 16), (5_000, 16), (50_000, 16)),
}
# Rows, columns, members (None: the default), in the order in which they are measured:
# the corners, what lies between, what is held out, and then the long ones.
Shape = tuple[int, int, int | None]
FITS: tuple[Shape, ...] = (
    *((1_000, 100, None), (1_000_000, 100, None), (1_000, 100_000, None)),
    *((2_000, 20_000, None), (500, 50_000, None), (2_000, 100, 512), (2_000, 100, 2)),
    *((100_000, 500, None), (10_000, 1_000, None), (100_000, 100, None)),
    *((3_000, 300, None), (30_000, 60, None), (1_500, 4_000, None)),
    *((600, 30_000, None), (1_000, 500_000, None), (10_000, 100, None)),
    *((1_000, 1_000, None), (60_000, 784, None)),
    *((1_000, 10_000, None), (2_000, 100, 32), (2_000, 100, 128), (5_000, 5_000, None)),
    *((300_000, 30, None), (10_000_000, 100, None)),
)
CPU_FITS: tuple[Shape, ...] = (
    *((1_000, 100, None), (1_000, 10_000, None), (2_000, 100, 2), (1_000, 10, None)),
    *((10_000, 100, None), (2_000, 100, 32), (2_000, 100, 128), (500, 30, None)),
    *((700, 60, None), (400, 300, None), (1_500, 30, None), (5_000, 20, None)),
    *((300, 1_000, None), (3_000, 300, None), (30_000, 60, None)),
    *((1_000, 1_000, None), (300_000, 30, None), (600, 15_000, None)),
    *((100_000, 100, None),),
    *((2_000, 2_000, None), (1_500, 4_000, None), (1_000, 50_000, None)),
    *((10_000, 500, None), (2_000, 100, 512), (1_000_000, 100, None)),
    *((5_000, 5_000, None),),
)
# What the model does not see.
HELD_OUT = {(3_000, 300), (30_000, 60), (1_500, 4_000), (600, 30_000), (600, 15_000)}
HELD_OUT |= {(700, 60), (400, 300)}
# With more threads than one these are enough.
ON_THREADS: tuple[Shape, ...] = ((100_000, 100, None), (2_000, 2_000, None))
# Columns from which on gates leave a stack on the CPU.
_WIDE = 4096

# --- one step


def steps(device: torch.device) -> Iterator[Record]:
    """Time gated steps, and the copies and products that bound them."""
    bandwidth = _bandwidth(device)
    for n_columns, n_members in STEP_SIZES[device.type]:
        n_numbers = NUMBERS * n_columns * n_members
        n_bytes = 24 * n_numbers + 4 * BATCH * n_columns
        product = _product_seconds(n_columns, n_members, device)
        product *= 2 + 3 * (HIDDEN + 2) / n_columns  # the second has two outputs
        floor = max(n_bytes / bandwidth, product)
        seconds = _seconds_per_step(n_columns, n_members, True, device, BATCH)
        yield {
            "n_columns": n_columns,
            "n_members": n_members,
            "microseconds": round(seconds * 1e6, 1),
            "microseconds_of_bytes": round(n_bytes / bandwidth * 1e6, 1),
            "microseconds_of_products": round(product * 1e6, 1),
            "times_the_floor": round(seconds / floor, 2),
            "gigabytes_a_second": round(bandwidth / 1e9, 1),
        }


def _seconds(work: Any, device: torch.device, n_times: int = 20) -> float:
    """Return the least seconds of some calls, after two to warm up."""
    taken = []
    for _ in range(n_times + 2):
        _synchronize(device)
        started = clock_of(device)()
        work()
        _synchronize(device)
        taken.append(clock_of(device)() - started)
    return min(taken[2:])


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


def planned(device: str, jobs: list[int]) -> list[tuple[Shape, int]]:
    """Return the fits, and the threads of each, in their order."""
    if device == "cuda":
        return [(shape, 1) for shape in FITS]
    fits = [(shape, jobs[0]) for shape in CPU_FITS]
    return fits + [(shape, n_jobs) for n_jobs in jobs[1:] for shape in ON_THREADS]


def print_plan(device: str, jobs: list[int], folder: Path) -> None:
    """Print the fits in their order, with the seconds that a stored model foresees."""
    path = folder / f"scale_fits_{KIND[device]}.json"
    known = json.loads(path.read_text())["records"] if path.exists() else []
    known = [r for r in known if "failure" not in r and r["n_jobs"] == 1]
    for (n_rows, n_columns, n_members), n_jobs in planned(device, jobs):
        record = {"n_rows": n_rows, "n_columns": n_columns}
        foreseen = ""
        if len(known) > len(TERMS):
            record |= _expected(n_rows, n_columns, n_members, device)
            foreseen = f"{terms(record) @ coefficients(known):.1f} s foreseen"
        print(n_rows, n_columns, n_members or "", f"{n_jobs} threads", foreseen)


def _expected(
    n_rows: int, n_columns: int, n_members: int | None, device: str
) -> Record:
    """Return how many members vote, and the steps they take."""
    from featuresieve.search import Settings

    members = n_members or min(100, max(20, 160_000 // n_columns))
    settings = Settings(device=torch.device(device))
    schedule = settings.schedule(4 * n_rows // 5, n_columns, members)
    return {"n_voters": members, "n_steps": schedule.n_steps}


def fits(
    device: str, jobs: list[int], limit: float, known: list[Record]
) -> Iterator[Record]:
    """Time the other default fits, each in its process, while there is time."""
    done = [(r["n_rows"], r["n_columns"], r["n_members"], r["n_jobs"]) for r in known]
    context = multiprocessing.get_context("fork")
    started = time.monotonic()
    for shape, n_jobs in planned(device, jobs):
        if time.monotonic() - started > limit:
            return
        if (*shape, n_jobs) in done:
            continue
        receiver, sender = context.Pipe(duplex=False)
        arguments = (sender, shape, device, n_jobs)
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
    record: Record = {
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
    n_bytes = 24 * NUMBERS * n_columns * record["n_voters"] * record["n_steps"]
    busy = record["seconds" if device == "cuda" else "cpu_seconds"]
    share = n_bytes / _bandwidth(torch.device(device)) / busy
    record["share_of_bandwidth"] = round(share, 3)
    sender.send(record)


# --- what the records say


TERMS = ("1", "cells", "columns", "steps x batch", "bytes", "products", "wide products")


def terms(record: Record) -> np.ndarray:
    """Return what the seconds of a fit are a sum of, apart from coefficients."""
    rows, columns = record["n_rows"], record["n_columns"]
    n_steps, batch = record["n_steps"], _batch_of(4 * rows // 5)
    numbers = n_steps * columns * record["n_voters"]
    is_wide = columns > _WIDE
    products = [(1 - is_wide) * batch * numbers, is_wide * batch * numbers]
    return np.array([1.0, rows * columns, columns, n_steps * batch, numbers, *products])


def _batch_of(n_rows: int) -> int:
    """Return the default batch size."""
    return min(256, max(32, 1 << max(0, (n_rows // 4).bit_length() - 1)))


def seconds_of(record: Record) -> float:
    """Return the seconds that are modelled: on one thread those of the processor."""
    is_alone = "megabytes_of_device" not in record and record["n_jobs"] == 1
    return float(record["cpu_seconds" if is_alone else "seconds"])


def is_held_out(record: Record) -> bool:
    """Tell whether the model may not see a fit."""
    return (record["n_rows"], record["n_columns"]) in HELD_OUT


def coefficients(records: list[Record]) -> np.ndarray:
    """Return those of least squares of relative errors, none negative."""
    records = [record for record in records if not is_held_out(record)]
    seconds = np.array([seconds_of(record) for record in records])
    rows = np.array([terms(record) for record in records]) / seconds[:, None]
    scale = np.where(rows.max(axis=0) > 0, rows.max(axis=0), 1.0)
    return nnls(rows / scale, np.ones(len(records)))[0] / scale


def predicted(records: list[Record]) -> list[float]:
    """Return what the model of all other fits says of each, if they are enough."""
    if len(records) <= len(TERMS):
        return [np.nan] * len(records)
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
    """Print one line a fit, and the model of those on one thread."""
    names = ("rows", "columns", "members", "threads", "seconds", "foreseen", "MB")
    print(f"| {' | '.join(names)} | bandwidth |\n|{'---|' * 8}")
    done = [r for r in records if "failure" not in r and r["n_jobs"] == 1]
    foreseen = predicted(done)
    for r in sorted(records, key=lambda r: (r["n_rows"], r["n_columns"], r["n_jobs"])):
        start = f"| {r['n_rows']:,} | {r['n_columns']:,} | "
        if "failure" in r:
            print(f"{start}{r['n_members']} | {r['n_jobs']} | {r['failure']} | | | |")
            continue
        guess = f"{foreseen[done.index(r)]:.1f}" if r in done else ""
        mark = " (held out)" if r in done and is_held_out(r) else ""
        memory = r.get("megabytes_of_device", r["megabytes_added"])
        print(
            f"{start}{r['n_voters']} | {r['n_jobs']} | {seconds_of(r):.1f} | "
            f"{guess}{mark} | {memory:,.0f} | {r['share_of_bandwidth']:.0%} |"
        )
    if len(done) <= len(TERMS):
        print("\nToo few fits for a model.\n")
        return
    for what, some in (("held out", True), ("others", False)):
        errors = [
            abs(guess / seconds_of(r) - 1)
            for guess, r in zip(foreseen, done, strict=True)
            if is_held_out(r) == some
        ]
        n_near = sum(error <= 0.3 for error in errors)
        middle = f"{np.median(errors):.0%}" if errors else "none"
        print(f"\n{what}: {n_near} of {len(errors)} within 30 %; median {middle}.")
    parts = zip(TERMS, coefficients(done), strict=True)
    print("seconds = " + " + ".join(f"{c:.3g} ({name})" for name, c in parts), "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("part", choices=("steps", "plan", "fits", "table"))
    has_gpu = Path("/dev/nvidia0").exists()  # before CUDA is asked, for the forks
    usual = "cuda" if has_gpu else "cpu"
    parser.add_argument("--device", choices=("cpu", "cuda"), default=usual)
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
    device = arguments.device
    if arguments.part == "plan":
        print_plan(device, arguments.jobs, arguments.out)
        return
    name, records = f"scale_{arguments.part}_{KIND[device]}", []
    path, circumstances = arguments.out / f"{name}.json", _stamp()
    if arguments.part == "fits":
        records = json.loads(path.read_text())["records"] if path.exists() else []
        found = fits(device, arguments.jobs, arguments.limit, list(records))
    else:
        found = steps(torch.device(device))
    for record in found:  # what is finished is never lost
        print(record, flush=True)
        records.append({**record, "commit": circumstances["commit"]})
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
