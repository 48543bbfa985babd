r"""Selectors on draws that no development saw, in three fields: who says how many.

Usage (from the repository root, FEATURESIEVE_DATA set)::

    python benchmarks/fields.py plan --suite paper       # what is left, and its cost
    python benchmarks/fields.py run --suite paper --out FOLDER
    python benchmarks/fields.py run --suite breadth --draws 1 2 3 --out FOLDER
    python benchmarks/fields.py collect --suite paper --out FOLDER    # into results/
    python benchmarks/fields.py table --suite paper      # print what is stored

A job is one table, scenario and draw: rows split anew, columns added anew (stream
"fresh"; rows of a query stay together). Every selector is fitted once, and its best k
columns are judged for several k: D, as many as there were before columns were added
(the paper's field); what AutoNFS kept there (matched); and the k that did best on the
validation rows (validated). AutoNFS as published, in two rows, of draws 1 and 2, keeps
its own number. All sets of a job, of all selectors, train as one stack of predictors
with the same weights to begin with, and equal sets are one member. Where random columns
are added to a table of the suite "paper", so do sets (of D columns, and what AutoNFS
kept) without one of five columns: what a kept column is worth.

Suite "paper": the tables of experiments/quick.toml. Settings of the selectors, and the
predictor that did best on validation rows without AutoNFS, are those that `quick` found
on its own draw; AutoNFS has its defaults. Suite "breadth": the group of that name in
the catalogue, all with their defaults.
"""

import argparse
import json
import os
import time
import traceback
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed, wait
from math import nan
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import Any

import fields_table
import numpy as np
import stamp

from sievebench.data import catalog
from sievebench.downstream import evaluate
from sievebench.pipeline import cached_table
from sievebench.run_spec import RunSpec
from sievebench.selectors import select
from sievebench.store import RunRecord, earlier_results

ROOT = Path(__file__).parents[1]
SCENARIOS = ("random", "corrupted", "second_order")
DRAWS = (1, 2, 3, 4, 5)
# The slowest first, so that no worker is left with one in the end.
PAPER = (
    *("otto", "higgs", "jannis", "house"),
    *("california", "gesture", "eye", "microsoft"),
)
SELECTORS = (
    *("none", "autonfs", "autonfs:literal", "autonfs:target", "univariate"),
    *("1l-lasso", "agl", "deep-lasso", "stg", "lasso", "forest"),
)
# AutoNFS as the paper prints it, λ = 1: on the kept fraction, and on the distance to a
# number of columns, which the paper's search tried too.
AS_PUBLISHED = {
    "autonfs:literal": {"setting": "published", "penalty": "fraction"},
    "autonfs:target": {"setting": "published", "penalty": "target"},
}
DRAWS_AS_PUBLISHED = (1, 2)  # they take half of the time, and the answer is clear
# Instead of the 200 trees of `quick`, which would take most of the time.
FEWER_TREES = {"n_estimators": 100}
# Of the columns before the scenario: what "validated" may choose.
SHARES = (0.125, 0.25, 0.5, 0.75, 1.0, 1.5)
WIDE, FEWER = 500, (0.01, 0.03, 0.06)  # further shares where there are so many columns
N_REMOVED = 5  # columns that are left out, one at a time
FAREWELL_SECONDS = 60.0
MOST_NAMED = 600  # columns of an order that a record has
Job = tuple[str, str, str, int]  # suite, table, scenario, draw


def tables_of(suite: str) -> list[str]:
    """Return the tables of a suite, the slowest first."""
    if suite == "paper":
        return list(PAPER)
    breadth = [e for e in catalog().values() if e.group == "breadth"]
    breadth.sort(key=lambda e: -e.n_columns * e.n_rows)
    return [entry.name for entry in breadth]


def spec_of(job: Job, selector: str) -> RunSpec:
    """Return the cell of a selector: the seeds follow from it."""
    _, table, scenario, draw = job
    return RunSpec(table, scenario, selector, seeds=(draw,), stream="fresh")


def settings_of(job: Job) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return the settings of the selectors and those of the predictor."""
    suite, table, scenario, _ = job
    if suite != "paper":
        return {name: AS_PUBLISHED.get(name, {}) for name in SELECTORS}, {}
    former = earlier_results(_quick_records(job), 1, ["autonfs"])
    place = (table, scenario, "mlp")
    settings = {
        name: AS_PUBLISHED.get(name) or dict(former.settings.get((*place, name), {}))
        for name in SELECTORS
    }
    settings.get("forest", {}).update(FEWER_TREES)
    return settings, dict(former.predictors[place][0])


def _quick_records(job: Job) -> list[RunRecord]:
    """Return the records of `quick` on the table and scenario of a job."""
    files = (ROOT / "results" / "quick" / "records").glob(
        f"benchmark--{job[1]}--{job[2]}--*.json"
    )
    return [RunRecord.from_json(file.read_text()) for file in files]


def order_of(scores: np.ndarray, seed: int) -> np.ndarray:
    """Return columns, best first; ties at random, as in `ScoredSelector`."""
    random_ties = np.random.default_rng(seed).permutation(len(scores))
    return np.lexsort((random_ties, -scores))


class Sets:
    """The sets of columns of a job, each once."""

    def __init__(self) -> None:
        self.supports: list[np.ndarray] = []
        self._places: dict[bytes, int] = {}

    def place(self, support: np.ndarray) -> int:
        """Return the number of a set, a new one if it is new."""
        key = support.tobytes()
        if key not in self._places:
            self._places[key] = len(self.supports)
            self.supports.append(support)
        return self._places[key]


def run_job(job: Job) -> dict[str, Any]:
    """Select with every selector, and judge all sets in one stack."""
    spec, draw = spec_of(job, "none"), job[3]
    started, busy = time.perf_counter(), time.process_time()
    cell = cached_table(
        spec.dataset,
        spec.scenario,
        spec.noise_fraction,
        spec.seed("corruption", draw),
        spec.seed("split", draw) or 0,
        has_groups=True,
    )
    settings, predictor = settings_of(job)
    split, sets, found = cell.split, Sets(), {}
    for name in SELECTORS:  # AutoNFS before those that get its number
        if name in AS_PUBLISHED and draw not in DRAWS_AS_PUBLISHED:
            continue
        known = found.get("autonfs", {}).get("n_own", 0)
        found[name] = _selected(job, name, split, settings[name], known, sets)
    seed = spec.seed("downstream", draw) or 0
    supports = np.stack(sets.supports)
    judging = time.perf_counter()
    scores = evaluate(
        "mlp", split, [seed] * len(supports), settings=predictor, is_seen=supports
    )
    judged = time.perf_counter() - judging
    for entry in found.values():
        for one in (*entry["sets"], *entry["removals"]):
            at = scores[one.pop("place")]
            one |= {
                "score": round(at.score, 5),
                "validation": round(at.validation_score, 5),
            }
    return {
        **dict(zip(("suite", "table", "scenario", "draw"), job, strict=True)),
        "n_rows": [len(part.y) for part in split.parts],
        "n_original": cell.facts.n_original,
        "n_features": cell.facts.n_features,
        "metric": cell.facts.metric,
        "is_sample": cell.facts.is_sample,
        "predictor": predictor,
        "selectors": found,
        "seconds": round(time.perf_counter() - started, 2),
        "processor_seconds": round(time.process_time() - busy, 2),
        "judging_seconds": round(judged, 2),
    }


def _selected(
    job: Job,
    name: str,
    split: Any,
    settings: dict[str, Any],
    n_of_autonfs: int,
    sets: Sets,
) -> dict[str, Any]:
    """Fit one selector; return its order and its sets, by their number of columns."""
    kind = name.partition(":")[0]
    keep = {"autonfs": "auto", "none": 1.0}.get(kind, 0.5)
    seed = spec_of(job, name).seed("selector", job[3]) or 0
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        chosen = select(kind, split, keep=keep, seed=seed, settings=settings)
    order = order_of(chosen.scores, seed)
    n_original = int(split.is_original.sum())
    counts = {"own": int(chosen.support.sum())} if keep != 0.5 else {}
    if name == "autonfs" or keep == 0.5:
        chances = (*(FEWER if n_original >= WIDE else ()), *SHARES)
        shares = {f"{x:g}": max(1, round(x * n_original)) for x in chances}
        counts |= shares | ({"matched": n_of_autonfs} if n_of_autonfs else {})
    found = []
    for what, count in counts.items():
        support = np.isin(np.arange(len(order)), order[:count])
        support = chosen.support if what == "own" else support
        added = int((support & ~split.is_original).sum())
        place = sets.place(support)
        found.append({"what": what, "count": count, "added": added, "place": place})
    told = np.isin(np.arange(len(order)), order[:n_original])
    decision = dict(chosen.decision)
    if len(order) > MOST_NAMED:
        decision.pop("frequency", None)
    return {
        "settings": {**settings},
        "seconds": round(chosen.seconds, 3),
        "n_own": int(chosen.support.sum()),
        "order": order[:MOST_NAMED].tolist(),
        "own": np.flatnonzero(chosen.support).tolist() if kind == "autonfs" else [],
        "decision": decision,
        "warnings": sorted({f"{w.category.__name__}: {w.message}" for w in warned}),
        "sets": found,
        "removals": _removals(job, sets, told if keep == 0.5 else chosen.support),
    }


def _removals(job: Job, sets: Sets, support: np.ndarray) -> list[dict[str, int]]:
    """Return sets without one column each: drawn by an order that all selectors share.

    Where random columns are added, as in the paper's figure.
    """
    if job[0] != "paper" or job[2] != "random" or support.sum() < 2:
        return []
    order = np.random.default_rng([job[3], len(support)]).permutation(len(support))
    found = []
    for column in order[support[order]][:N_REMOVED].tolist():
        less = support.copy()
        less[column] = False
        found.append({"column": column, "place": sets.place(less)})
    return found


def all_jobs(
    suite: str, draws: Sequence[int] = DRAWS, tables: Sequence[str] = ()
) -> list[Job]:
    """Return all jobs, draw by draw: what is done when time runs out is whole."""
    return [
        (suite, table, scenario, draw)
        for draw in draws
        for table in tables or tables_of(suite)
        for scenario in SCENARIOS
    ]


def part_of(options: argparse.Namespace, job: Job) -> Path:
    """Return the file of a job."""
    name = "--".join(map(str, job[1:]))
    return options.out / "parts" / job[0] / f"{name}.json"


def work(job: Job, path: Path, origin: dict[str, Any]) -> str:
    """Run a job and write its file, whole or not at all; say what happened."""
    try:
        text = json.dumps(run_job(job) | {"stamp": origin})
    except Exception:
        return traceback.format_exc()
    draft = path.with_suffix(f".{os.getpid()}")
    draft.write_text(text)
    draft.replace(path)
    return ""


def run(options: argparse.Namespace) -> None:
    """Run the jobs that are not done, until the time is up; then collect.

    No job begins after that, and those at work have a minute to end: a process that is
    killed can fail others on the same GPU.
    """
    jobs = left_of(options)
    (options.out / "parts" / options.suite).mkdir(parents=True, exist_ok=True)
    pool = ProcessPoolExecutor(options.workers, mp_context=get_context("spawn"))
    origin = stamp.stamp()
    futures = {
        pool.submit(work, job, part_of(options, job), origin): job for job in jobs
    }
    try:
        for future in as_completed(futures, timeout=options.seconds):
            print(*futures[future], future.result() or "done", flush=True)
    except TimeoutError:
        print("the time is up", flush=True)
    processes = list(pool._processes.values())  # gone after this
    pool.shutdown(wait=False, cancel_futures=True)
    wait([future for future in futures if not future.cancelled()], FAREWELL_SECONDS)
    collect(options)
    for process in processes:
        process.kill()
    os._exit(0)


def left_of(options: argparse.Namespace) -> list[Job]:
    """Return the jobs that are not done."""
    done = {_job_of(cell) for cell in _done(options)}
    jobs = all_jobs(options.suite, options.draws, options.tables or ())
    return [job for job in jobs if job not in done]


def _job_of(cell: dict[str, Any]) -> Job:
    return cell["suite"], cell["table"], cell["scenario"], cell["draw"]


def _done(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return what is stored, and what lies in parts."""
    paths = sorted((options.out / "parts" / options.suite).glob("*.json"))
    parts = [json.loads(path.read_text()) for path in paths]
    cells = {_job_of(c): c for c in [*fields_table.stored(options.suite), *parts]}
    return list(cells.values())


def collect(options: argparse.Namespace) -> None:
    """Write all that is done as one file of results."""
    cells = _done(options)
    done = {_job_of(cell) for cell in cells}
    missing = [job[1:] for job in all_jobs(options.suite) if job not in done]
    content = {"stamp": stamp.stamp(), "missing": missing, "records": cells}
    path = options.out / f"fields_{options.suite}.json"
    path.write_text(json.dumps(content, separators=(",", ":")) + "\n")
    print(f"{len(cells)} jobs in {path.name}", flush=True)


def plan(options: argparse.Namespace) -> None:
    """Print how many jobs are left and what they cost, draw by draw."""
    for draw, costs in costs_of(options).items():
        seconds = sum(costs) / options.workers
        print(f"draw {draw}: {len(costs)} jobs, {seconds:.0f} s for {options.workers}")


def costs_of(options: argparse.Namespace) -> dict[int, list[float]]:
    """Return the seconds of one worker for each job that is left, by draw.

    As measured: of the table on this kind of device; else, on the paper's tables, what
    `quick` took, mostly on an H200; else the processor's seconds of it, or of any.
    """
    cells, device = _done(options), stamp.stamp()["device"]
    costs: dict[int, list[float]] = {}
    for job in left_of(options):
        own = [cell for cell in cells if cell["table"] == job[1]]
        known = [
            [_seconds_for(job, c) for c in own if c["stamp"]["device"] == device],
            [_seconds_of_quick(job)] if job[0] == "paper" else [],
            [cell["processor_seconds"] for cell in own],
            [cell["processor_seconds"] for cell in cells],
        ]
        costs.setdefault(job[3], []).append(fmean(next(filter(None, known), [nan])))
    return costs


def _seconds_for(job: Job, cell: dict[str, Any]) -> float:
    """Return what a job takes that has the selectors of another, at most."""
    spared = () if job[3] in DRAWS_AS_PUBLISHED else AS_PUBLISHED
    selectors = cell["selectors"]
    return cell["seconds"] - sum(selectors[x]["seconds"] for x in spared)


def _seconds_of_quick(job: Job) -> float:
    """Return what one fit of each selector, and judging it once, took in `quick`."""
    return sum(
        fmean(run.selector_seconds + run.downstream_seconds for run in record.runs)
        for record in _quick_records(job)
        if record.runs and record.spec.selector.partition(":")[0] in SELECTORS
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("plan", "run", "collect", "table"))
    parser.add_argument("--suite", choices=("paper", "breadth"), default="paper")
    parser.add_argument("--draws", type=int, nargs="+", default=DRAWS)
    parser.add_argument("--tables", nargs="+")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, help="no longer than this")
    parser.add_argument("--out", type=Path, default=Path("runs"))
    options = parser.parse_args()
    if options.what == "table":
        fields_table.print_tables(options.suite)
    else:
        {"plan": plan, "run": run, "collect": collect}[options.what](options)


if __name__ == "__main__":
    main()
