r"""The default against other automatic selectors, on tables of every kind.

Usage (from the repository root, FEATURESIEVE_DATA set)::

    python benchmarks/breadth.py run --selectors auto price      # draws 11 and 12
    python benchmarks/breadth.py run --draws 11 --selectors f_test l1 forest \
        --file breadth_peers
    python benchmarks/breadth.py run --draws 11 --limit 200 --selectors autonfs \
        --file breadth_autonfs           # and so rfecv, and all_relevant
    python benchmarks/breadth.py run --draws 11 --selectors auto --file breadth_cpu
    python benchmarks/breadth.py run --draws 11 --selectors boruta \
        --tables kr_vs_kp telco_churn --file breadth_boruta_cpu
    python benchmarks/breadth.py run --tables colon_alon riboflavin --file breadth_wide
    python benchmarks/breadth.py run --draws 11 --selectors former \
        --file breadth_former            # with the sources of another commit
    python benchmarks/breadth.py ablation --draws 1 2            # the rule, varied
    python benchmarks/breadth.py table                           # print what is stored
    python benchmarks/breadth.py table --file breadth_ablation
    python benchmarks/breadth.py table --ranked auto boruta      # ranks of these two

Each table gets as many useless columns as it has, on at most `--rows` drawn rows. Sets
are judged by four models (`breadth_cells.Judges`) on rows that no selector saw. Draws 1
to 4 had a part in choosing the rule, on the tables that are not wide; others had none.

All selectors have one core (`OMP_NUM_THREADS=1 LOKY_MAX_CPU_COUNT=1`; ours uses a GPU
unless `CUDA_VISIBLE_DEVICES` hides it), and `--limit` seconds for a fit, if that is
given; what took longer is stored as such. Seconds are those of the processor (in
the files of commits up to 4d8757d4e2d4 those of a clock). A run that is begun again
from the same commit goes on where it was.
"""

import argparse
import json
import os
import signal
import time
import warnings
from collections.abc import Collection, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from typing import Any
from unittest.mock import patch

import breadth_table
import numpy as np
import stamp
from breadth_cells import CLASSES, SCENARIOS, VALUES, WIDE, Judges, make_cell
from breadth_selectors import QUICK, SELECTORS, TWICE, Select, ours


def variants() -> dict[str, dict[str, Any]]:
    """Return what is patched in the present rule; former rules have other parts."""
    from breadth_variants import VARIANTS

    return VARIANTS


class OutOfTime(BaseException):
    """A fit took too long; no Exception, which a selector might catch."""


@contextmanager
def limited(seconds: float | None) -> Iterator[None]:
    """Raise OutOfTime after some seconds of the processor, in its main thread."""

    def stop(*_: Any) -> None:
        raise OutOfTime(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds or 0.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def run_cell(
    job: tuple[str, str, int, int, str], is_variant: bool, limit: float | None
) -> dict[str, Any]:
    """Select in one cell with one selector, or one variant, and judge the sets."""
    name, scenario, draw, rows, selector = job
    cell = make_cell(name, scenario, draw, rows)
    select = ours if is_variant else SELECTORS[selector]
    changes = variants()[selector] if is_variant else {}
    judges, runs = Judges(cell), []
    for seed in range(2 if is_variant or selector in TWICE else 1):
        with ExitStack() as stack, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for target, value in changes.items():
                stack.enter_context(patch(target, value))
            runs.append(_run(select, cell, seed, limit))
    for one in runs:
        support = np.zeros(len(cell.is_original), dtype=bool)
        support[one["kept"]] = True
        one["scores"] = judges.scores(support) if support.any() else None
    record = {
        **dict(zip(("table", "scenario", "draw"), job, strict=False)),
        "selector": selector,
        "n_rows": len(cell.train),
        "n_original": int(cell.is_original.sum()),
        "runs": runs,
    }
    if selector in ("auto", "default"):
        record |= breadth_table.stored_reference(record) or {
            "original": judges.scores(cell.is_original),
            "all": judges.scores(np.ones_like(cell.is_original)),
        }
    return record


def _run(select: Select, cell: Any, seed: int, limit: float | None) -> dict[str, Any]:
    """Return what one fit keeps and how long it takes; why not, where it fails."""
    started, failure = time.process_time(), None
    kept: list[int] = []
    try:
        with limited(limit):
            kept = np.flatnonzero(select(cell, seed)).tolist()
    except (Exception, OutOfTime) as error:  # a peer that fails is a result
        failure = repr(error)[:300]
    run = {"kept": kept, "seconds": round(time.process_time() - started, 2)}
    return run if failure is None else {**run, "failure": failure}


def run(options: argparse.Namespace) -> None:
    """Compute all cells that the file does not have of this commit, store each."""
    name, content = options.file[0], stamp.stamp()
    stored = breadth_table.stored(name)
    of_commit = stored.get("commit") == content["commit"]
    records: list[dict[str, Any]] = stored["cells"] if of_commit else []
    options.skip += [name] * of_commit
    is_variant, jobs = options.what == "ablation", _jobs(options)
    context, n_before = get_context("spawn"), len(records)
    with ProcessPoolExecutor(options.workers, mp_context=context) as pool:
        futures = {
            pool.submit(run_cell, job, is_variant, options.limit): job for job in jobs
        }
        for future in _as_ended(futures, options.seconds, options.limit):
            records += _finished(future, futures[future])
            file = stamp.RESULTS / f"{name}.json"
            file.write_text(json.dumps({**content, "cells": records}) + "\n")
        print(f"{len(records) - n_before} of {len(jobs)} cells in {name}", flush=True)
        for process in pool._processes.values():
            process.kill()
        os._exit(0)


def _as_ended(
    futures: Collection[Future[Any]], seconds: float | None, limit: float | None
) -> Iterator[Future[Any]]:
    """Yield what ends in time; and what has begun by then, where fits are limited."""
    ended = set()
    try:
        for future in as_completed(futures, timeout=seconds):
            ended.add(future)
            yield future
    except TimeoutError:
        if limit is not None:
            yield from as_completed([f for f in set(futures) - ended if not f.cancel()])


def _jobs(options: argparse.Namespace) -> list[tuple[str, str, int, int, str]]:
    """Return what is to be computed, selector by selector, and is not stored yet."""
    is_variant = options.what == "ablation"
    names = options.selectors or (list(variants()) if is_variant else QUICK)
    wanted = options.tables or [*(() if is_variant else WIDE), *VALUES, *CLASSES]
    stored = {
        (c["table"], c["scenario"], c["draw"], c["selector"])
        for file in options.skip
        for c in breadth_table.stored_cells(file)
    }
    return [
        (table, scenario, draw, options.rows, name)
        for name in names
        for draw in options.draws
        for table in wanted
        for scenario in SCENARIOS
        if (table, scenario, draw, name) not in stored
    ]


def _finished(future: Future[dict[str, Any]], job: tuple[Any, ...]) -> list[Any]:
    """Return the record of a cell, in a list; say what failed."""
    try:
        record = future.result()
    except Exception as error:
        print(job, repr(error)[:300], flush=True)
        return []
    for one in record["runs"]:
        if "failure" in one:
            print(job, one["failure"], flush=True)
    return [record]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("run", "ablation", "table"))
    parser.add_argument("--draws", type=int, nargs="+", default=[11, 12])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--selectors", nargs="+")
    parser.add_argument("--tables", nargs="+")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--limit", type=float, help="seconds for one fit")
    parser.add_argument("--seconds", type=float, help="after which none begins")
    parser.add_argument("--skip", nargs="+", default=[], help="cells that these have")
    parser.add_argument("--file", nargs="+", help="names of files of results")
    parser.add_argument("--most-rows", type=int, help="of the tables that are printed")
    parser.add_argument("--ranked", nargs="+", help="selectors that are ranked")
    options = parser.parse_args()
    if options.what == "table":
        breadth_table.table(options)
        return
    options.file = options.file or ["breadth" + "_ablation" * (options.what != "run")]
    run(options)


if __name__ == "__main__":
    main()
