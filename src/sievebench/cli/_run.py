"""``sievebench run``: the cells of an experiment file, and how far they are."""

import argparse
import os
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from featuresieve.cli import whole_number
from featuresieve.errors import did_you_mean
from featuresieve.files import check_output
from featuresieve.process import INTERRUPTED, as_clock, interrupts_delayed, show_status
from sievebench.cli import TABLE_ENDINGS, add_command, refuse, write_table

if TYPE_CHECKING:
    from sievebench.experiment import Experiment
    from sievebench.run_spec import RunSpec
    from sievebench.store import Store

_RETRIED = ("failed", "timeout", "skipped")
_EXAMPLES = """\
examples:
  sievebench run experiments/smoke.toml
  sievebench run experiments/quick.toml --workers 4 --datasets eye gesture
  sievebench run experiments/quick.toml --retry failed timeout
  sievebench run experiments/quick.toml --shard 1/4     a quarter of the cells, for a
                                                        machine of its own
  sievebench run experiments/quick.toml --cluster tcp://host:8786
  sievebench run experiments/quick.toml --storage postgresql+psycopg://lab@host/trials

Every cell leaves one record in OUT/NAME/records. Cells that have one are not run again:
start the command anew after a kill, and it goes on; --retry runs those again that are
not done. The exit status is 0 if all cells are done or skipped, 1 if some failed or
took too long, 2 for a file or an argument that does not fit (nothing is run then), 130
after Ctrl-C.
"""


def add_run_parser(commands: Any) -> None:
    """Add `sievebench run` to the commands."""
    about = "run an experiment of the benchmark"
    run = add_command(commands, "run", _experiment, help=about, epilog=_EXAMPLES)
    add = run.add_argument
    add("experiment", type=Path, metavar="FILE", help="an experiment file (TOML)")
    add("--out", type=Path, default=Path("runs"), help="folder for records (runs)")
    add(
        "--workers",
        type=whole_number(1),
        help="processes (all cores; one where seconds are measured)",
    )
    add("--device", default="auto", help="auto (default), cpu or cuda")
    add("--datasets", nargs="+", metavar="NAME", help="only these")
    add("--scenarios", nargs="+", metavar="NAME", help="only these")
    add("--selectors", nargs="+", metavar="NAME", help="only these")
    add(
        "--retry",
        nargs="+",
        default=[],
        choices=_RETRIED,
        help="run cells again that ended so",
    )
    add("--shard", type=_shard, metavar="I/N", help="every N-th cell, from the I-th")
    add(
        "--cluster",
        metavar="ADDRESS",
        help="Dask scheduler whose workers run the cells, as tcp://host:8786",
    )
    add(
        "--storage",
        metavar="ADDRESS",
        default=os.environ.get("SIEVEBENCH_STORAGE"),
        help="database for the trials of tuning, as postgresql+psycopg://lab@host/trials"
        " (default: the variable SIEVEBENCH_STORAGE, else files in OUT)",
    )
    add("--table", type=Path, metavar="FILE", help="write all runs (CSV or Parquet)")
    add("--list", action="store_true", help="print the cells, run nothing")
    add("--quiet", action="store_true", help="no progress")


def _experiment(options: argparse.Namespace) -> int:
    with interrupts_delayed():
        from sievebench import runner
        from sievebench.experiment import read_experiment
        from sievebench.store import Store

    try:
        experiment = read_experiment(options.experiment)
        cells = _cells(experiment, options)
        with interrupts_delayed():  # it loads torch
            runner.check_cells(cells, is_elsewhere=options.cluster is not None)
        if options.list:
            for spec in cells:
                print(spec.key)
            return 0
        options.workers = options.workers or runner.usual_workers(cells)
        store = Store(options.out / experiment.name)
        if options.table is not None:
            check_output("--table", str(options.table), TABLE_ENDINGS)
            for _ in store.records():  # a damaged one would spoil the table
                pass
        shown = RunProgress(cells, store, options)
    except ValueError as error:
        return refuse(error)
    try:
        endings = _run(cells, store, options, experiment, shown)
    except KeyboardInterrupt:
        print(
            "sievebench: stopped; what is finished is kept, the same command goes on.",
            file=sys.stderr,
        )
        return INTERRUPTED
    except (runner.ClusterError, runner.StorageError) as error:
        return refuse(error)
    _summarise(endings, store, options)
    return 1 if endings["failed"] or endings["timeout"] else 0


def _run(
    cells: list["RunSpec"],
    store: "Store",
    options: argparse.Namespace,
    experiment: "Experiment",
    shown: "RunProgress",
) -> Counter[str]:
    """Run the cells, here or on a cluster."""
    from sievebench.runner import Cluster, run_cells

    cluster = None
    try:
        if options.cluster is not None:
            cluster = Cluster(options.cluster)
            shown.n_workers = cluster.n_workers
        return run_cells(
            cells,
            store,
            n_workers=options.workers,
            time_limit_seconds=experiment.time_limit_seconds,
            retry=options.retry,
            storage=options.storage,
            cluster=cluster,
            progress=shown,
        )
    finally:
        shown.close()
        if cluster is not None:
            cluster.close()


_FIELDS = ("dataset", "scenario", "selector")  # that --datasets and so on choose from


def _cells(experiment: "Experiment", options: argparse.Namespace) -> list["RunSpec"]:
    """Return the cells that are asked for and can be run."""
    cells = replace(experiment, match={}, reuse={}).cells(options.device)
    _check_choice(cells, options)
    cells = _chosen(cells, options)
    if source := experiment.match or experiment.reuse:
        taken_over = _taken_over(experiment, options.out)
        found = _chosen(experiment.cells(options.device, **taken_over), options)
        n_left_out = len(cells) - len(found)
        if n_left_out and found and not options.quiet:
            print(
                f"{n_left_out} of {len(cells)} cells are left out, as "
                f"{source['experiment']!r} has no finished record for them",
                file=sys.stderr,
            )
        if not found:
            raise ValueError(
                f"none of the {len(cells)} cells has a finished record in "
                f"{source['experiment']!r} to take over from."
            )
        cells = found
    first, step = options.shard or (1, 1)
    return cells[first - 1 :: step]


def _check_choice(cells: list["RunSpec"], options: argparse.Namespace) -> None:
    for field in _FIELDS:
        known = dict.fromkeys(getattr(spec, field) for spec in cells)
        for name in getattr(options, f"{field}s") or ():
            if name not in known:
                raise ValueError(
                    f"--{field}s: the experiment has no {field} {name!r}"
                    f"{did_you_mean(name, known)}"
                )


def _chosen(cells: list["RunSpec"], options: argparse.Namespace) -> list["RunSpec"]:
    for field in _FIELDS:
        names = getattr(options, f"{field}s")
        cells = [s for s in cells if names is None or getattr(s, field) in names]
    return cells


def _taken_over(experiment: "Experiment", out: Path) -> dict[str, Any]:
    """Return what the cells take over from the records of another experiment."""
    from sievebench.store import Store, counts_kept, earlier_results

    found: dict[str, Any] = {}
    if match := experiment.match:
        store = Store(out / match["experiment"])
        found["counts"] = counts_kept(store.records(), match["selector"])
        if not found["counts"]:
            raise ValueError(
                f"{store.folder} has no record of {match['selector']!r} to match: run "
                f"{match['experiment']!r} first."
            )
    if reuse := experiment.reuse:
        store = Store(out / reuse["experiment"])
        found["earlier"] = earlier_results(
            store.records(), reuse["n_predictors"], reuse.get("not_from", ())
        )
        if not found["earlier"].predictors:
            raise ValueError(
                f"{store.folder} has no finished search to take over: run "
                f"{reuse['experiment']!r} first."
            )
    return found


def _summarise(
    endings: Counter[str], store: "Store", options: argparse.Namespace
) -> None:
    counts = ", ".join(f"{count} {status}" for status, count in endings.items())
    print(f"{sum(endings.values())} cells: {counts}. Records: {store.folder}")
    if others := [status for status in _RETRIED if endings[status]]:
        print(f"Cells that are not done are run again with --retry {' '.join(others)}.")
    if options.table is not None:
        write_table([store], options.table)


def _shard(text: str) -> tuple[int, int]:
    """Return the index and the number of parts of 1/4, say."""
    first, _, number = text.partition("/")
    if first.isdigit() and number.isdigit() and 1 <= int(first) <= int(number):
        return int(first), int(number)
    raise argparse.ArgumentTypeError(f"must be a part such as 1/4: {text!r}")


class RunProgress:
    """How far the cells are, with an estimate of what is left."""

    def __init__(
        self, cells: list["RunSpec"], store: "Store", options: argparse.Namespace
    ) -> None:
        self.left, there = {}, Counter[str]()
        for spec in cells:
            record = store.read(spec)
            if record is None or record.status in options.retry:
                self.left[spec.key] = spec
            else:
                there[record.status] += 1
        self.store = store
        self.n_cells, self.n_workers = len(cells), options.workers
        self.is_quiet = options.quiet
        self.finished: list[tuple[RunSpec, float]] = []
        self.started = time.monotonic()
        if there and not self.is_quiet:
            others = [
                f"{n} {status}" for status, n in there.items() if status != "done"
            ]
            how = f" ({', '.join(others)})" if others else ""
            print(
                f"{there.total()} of {len(cells)} cells are there{how}", file=sys.stderr
            )
        if self.left and not self.is_quiet and sys.stderr.isatty():
            print("starting ...", end="", file=sys.stderr, flush=True)

    def __call__(self, spec: "RunSpec", what: str, seconds: float) -> None:
        """Show that a cell started, is running or ended."""
        has_ended = what not in ("started", "running")
        if has_ended:
            self.left.pop(spec.key, None)
            self.finished.append((spec, seconds))
        is_terminal = sys.stderr.isatty()
        if self.is_quiet or not (has_ended or is_terminal):
            return
        n_done = self.n_cells - len(self.left)
        cell = f"{spec.dataset} {spec.scenario} {spec.selector} {spec.downstream}"
        line = f"[{n_done}/{self.n_cells}] {self._times()}  {cell} {what}"
        if has_ended:
            line += f" after {seconds:.1f} s"
            record = None if what == "done" else self.store.read(spec)
            if record is not None and record.reason:
                line += f": {textwrap.shorten(record.reason, 240, placeholder=' ...')}"
        elif what == "running":
            line += f" for {as_clock(seconds)}"
        show_status(line)
        if not is_terminal:
            print(line, file=sys.stderr, flush=True)
        elif has_ended and what != "done":  # stays on the screen
            print(file=sys.stderr, flush=True)

    def _times(self) -> str:
        spent = as_clock(time.monotonic() - self.started)
        left = list(self.left.values())
        remaining = remaining_seconds(self.finished, left, self.n_workers)
        return spent if remaining is None else f"{spent}, {as_clock(remaining)} left"

    def close(self) -> None:
        """Clear the line."""
        if not self.is_quiet:
            show_status("")


def remaining_seconds(
    finished: Iterable[tuple["RunSpec", float]],
    left: Sequence["RunSpec"],
    n_workers: int,
) -> float | None:
    """Estimate the seconds until all cells are done.

    A cell is expected to take as long as the finished ones of its selector on the same
    table, else of its selector, else of all.
    """
    seconds: dict[tuple[str, ...], list[float]] = {}
    for spec, spent in finished:
        for kind in _kinds(spec):
            seconds.setdefault(kind, []).append(spent)
    if not seconds:
        return None
    means = {kind: fmean(values) for kind, values in seconds.items()}
    total = sum(
        next(means[kind] for kind in _kinds(spec) if kind in means) for spec in left
    )
    return total / max(1, min(n_workers, len(left)))


def _kinds(spec: "RunSpec") -> tuple[tuple[str, ...], ...]:
    """Return what a cell is compared with, the nearest first."""
    return ((spec.selector, spec.dataset), (spec.selector,), ())
