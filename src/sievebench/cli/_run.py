"""``sievebench run``: the cells of an experiment file."""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sievebench.cli._run_progress import RunProgress

if TYPE_CHECKING:
    from sievebench.experiment import Profile
    from sievebench.run_spec import RunSpec
    from sievebench.store import Store

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
start the command anew after a kill, and it goes on. The exit status is 0 if all cells
are done or skipped, 1 if some failed or took too long, 2 for a file that does not fit,
130 after Ctrl-C.
"""


def add_run_parser(commands: Any) -> None:
    """Add `sievebench run` to the commands.

    Parameters
    ----------
    commands : argparse's collection of sub-parsers
    """
    run = commands.add_parser(
        "run",
        help="run an experiment of the benchmark",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run.set_defaults(run=run_experiment)
    add = run.add_argument
    add("experiment", type=Path, metavar="FILE", help="an experiment file (TOML)")
    add("--out", type=Path, default=Path("runs"), help="folder for records (runs)")
    add(
        "--workers",
        type=_count,
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
        choices=("failed", "timeout", "skipped"),
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


def add_collect_parser(commands: Any) -> None:
    """Add `sievebench collect` to the commands.

    Parameters
    ----------
    commands : argparse's collection of sub-parsers
    """
    collect = commands.add_parser(
        "collect", help="make one table of the records of experiments"
    )
    collect.set_defaults(run=run_collect)
    add = collect.add_argument
    add("folders", nargs="+", type=Path, metavar="FOLDER", help="OUT/NAME or OUT")
    add("--out", type=Path, required=True, metavar="FILE", help="CSV or Parquet")


def run_experiment(options: argparse.Namespace) -> int:
    """Run an experiment and return the exit status.

    Parameters
    ----------
    options : argparse.Namespace

    Returns
    -------
    int
    """
    from sievebench.experiment import ExperimentError, read_experiment
    from sievebench.store import Store

    try:
        experiment = read_experiment(options.experiment)
        counts = _counts(experiment.match, options.out)
        cells = _chosen(experiment.cells(options.device, counts), options)
    except ExperimentError as error:
        print(f"sievebench: error: {error}", file=sys.stderr)
        return 2
    options.workers = options.workers or _usual_workers(cells)
    store = Store(options.out / experiment.name)
    if options.list:
        for spec in cells:
            print(spec.key)
        return 0
    shown = RunProgress(cells, store, options)
    try:
        endings = _run(cells, store, options, experiment.budget, shown)
    except KeyboardInterrupt:
        shown.close()
        print(
            "sievebench: stopped; what is finished is kept, the same command goes on.",
            file=sys.stderr,
        )
        return 130
    shown.close()
    if endings is None:
        return 2
    _summarise(endings, store, options)
    return 1 if endings["failed"] or endings["timeout"] else 0


def _run(
    cells: list["RunSpec"],
    store: "Store",
    options: argparse.Namespace,
    budget: "Profile",
    shown: RunProgress,
) -> Counter[str] | None:
    """Run the cells, here or on a cluster; None if what they need is not there."""
    from sievebench.runner import Cluster, ClusterError, StorageError, run_cells

    cluster = None
    try:
        if options.cluster is not None:
            cluster = Cluster(options.cluster)
            shown.n_workers = cluster.n_workers
        return run_cells(
            cells,
            store,
            n_workers=options.workers,
            time_limit_seconds=budget.time_limit_seconds,
            retry=options.retry,
            storage=options.storage,
            cluster=cluster,
            progress=shown,
        )
    except (ClusterError, StorageError) as error:
        shown.close()
        print(f"sievebench: error: {error}", file=sys.stderr)
        return None
    finally:
        if cluster is not None:
            cluster.close()


def _chosen(cells: list["RunSpec"], options: argparse.Namespace) -> list["RunSpec"]:
    """Return the cells the user asked for."""
    from sievebench.experiment import ExperimentError

    for field, names in (
        ("dataset", options.datasets),
        ("scenario", options.scenarios),
        ("selector", options.selectors),
    ):
        if names is None:
            continue
        known = {getattr(spec, field) for spec in cells}
        for name in names:
            if name not in known:
                allowed = ", ".join(sorted(known))
                raise ExperimentError(
                    f"the experiment has no {field} {name!r}; it has {allowed}."
                )
        cells = [spec for spec in cells if getattr(spec, field) in names]
    first, step = options.shard or (1, 1)
    return cells[first - 1 :: step]


def _usual_workers(cells: list["RunSpec"]) -> int:
    """Return one process a core; one in all if others would disturb a measurement."""
    is_timed = any(spec.experiment == "scaling" for spec in cells)
    return 1 if is_timed else os.cpu_count() or 1


def _counts(match: Mapping[str, str], out: Path) -> dict[tuple[str, str, str], int]:
    """Return how many columns the selector to match kept, cell by cell."""
    from sievebench.experiment import ExperimentError
    from sievebench.store import Store, counts_kept

    if not match:
        return {}
    store = Store(out / match["experiment"])
    counts = counts_kept(store.records(), match["selector"])
    if not counts:
        raise ExperimentError(
            f"{store.folder} has no record of {match['selector']!r} to match: run "
            f"{match['experiment']!r} first."
        )
    return counts


def _summarise(
    endings: Counter[str], store: "Store", options: argparse.Namespace
) -> None:
    """Print how the cells ended, and write the table."""
    counts = ", ".join(f"{count} {status}" for status, count in endings.items())
    print(f"{sum(endings.values())} cells: {counts}. Records: {store.folder}")
    if options.table is not None:
        _write_table([store], options.table)


def run_collect(options: argparse.Namespace) -> int:
    """Write the table of the runs in some folders and return the exit status.

    Parameters
    ----------
    options : argparse.Namespace

    Returns
    -------
    int
    """
    from sievebench.store import find_stores

    try:
        stores = [store for path in options.folders for store in find_stores(path)]
    except ValueError as error:
        print(f"sievebench: error: {error}", file=sys.stderr)
        return 2
    _write_table(stores, options.out)
    return 0


def _write_table(stores: list["Store"], path: Path) -> None:
    """Write the runs of all stores as CSV or Parquet."""
    from sievebench.store import collect

    table = collect(record for store in stores for record in store.records())
    if path.suffix == ".parquet":
        table.to_parquet(path, index=False)
    else:
        table.to_csv(path, index=False)
    print(f"wrote {path}: {len(table)} runs", file=sys.stderr)


def _count(text: str) -> int:
    """Return a number of processes."""
    if text.isdigit() and int(text) >= 1:
        return int(text)
    raise argparse.ArgumentTypeError(f"must be a number of processes: {text!r}")


def _shard(text: str) -> tuple[int, int]:
    """Return place and number of a part such as 1/4."""
    first, _, number = text.partition("/")
    if first.isdigit() and number.isdigit() and 1 <= int(first) <= int(number):
        return int(first), int(number)
    raise argparse.ArgumentTypeError(f"must be a part such as 1/4: {text!r}")
