"""All selectors on five tables, two of them wide: seconds, columns kept, scores.

Usage (from the repository root, FEATURESIEVE_DATA set)::

    python benchmarks/selector_comparison.py run      # all; what is finished is kept
    python benchmarks/selector_comparison.py run --rows 500 --time-limit 20   # a trial
    python benchmarks/selector_comparison.py table    # print what is stored

Each selector has its default arguments and one fit per table, in a process of its own
that is ended at the time limit. Half of the columns are kept, except by the selectors
that find the number themselves. The narrow tables have as many noise columns added as
they have columns. Judges: the fixed MLP and boosted trees of `downstream.py`, trained
on the kept columns, on test rows no selector saw. (Not named selectors.py: that would
hide the module of the standard library which subprocess imports.)
"""

import json
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import stamp
import torch
from downstream import boosted_score, mlp_scores

import tables
from sievebench.labels import SELECTOR_LABELS

NARROW, WIDE = ("california", "eye", "house"), ("madelon", "isolet")
N_JUDGES = 3


def load(name: str, n_rows: int | None) -> tables.Split:
    """Return a table, with noise columns if it is narrow, cut to `n_rows`."""
    if name in NARROW:
        split = tables.tabular_cell(name, "random")
    else:
        split = tables.wide_table(name)
    if n_rows is None:
        return split
    rows = np.random.default_rng(0).permutation(len(split.y["train"]))[:n_rows]
    X, y = split.X | {}, split.y | {}
    X["train"], y["train"] = X["train"][rows], y["train"][rows]
    return replace(split, X=X, y=y)


def fit(name: str, table: str, n_rows: int | None) -> dict[str, Any]:
    """Fit one selector, and return seconds and columns."""
    from sievebench.selectors import SELECTORS

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    split = load(table, n_rows)
    task = "regression" if split.is_regression else "classification"
    started = time.perf_counter()
    selector = SELECTORS[name](task=task, random_state=0)
    selector.fit(split.X["train"], split.y["train"])
    seconds = time.perf_counter() - started
    kept = np.flatnonzero(selector.support_).tolist()
    return {"seconds": round(seconds, 3), "kept": kept}


def fit_apart(
    name: str, table: str, n_rows: int | None, limit_seconds: float
) -> dict[str, Any]:
    """Fit in a process of its own; why it failed, or was ended, is a result."""
    words = ["--selectors", name, "--tables", table]
    words += [] if n_rows is None else ["--rows", str(n_rows)]
    found = stamp.in_process("one", *words, limit=limit_seconds, OMP_NUM_THREADS="1")
    return {"reason": found["failure"]} if "failure" in found else found


def judge(split: tables.Split, runs: list[dict[str, Any]]) -> None:
    """Add the test scores of the kept columns to each run that has any."""
    runs = [run for run in runs if "kept" in run]
    n_columns = len(split.is_original)
    supports = [np.isin(np.arange(n_columns), run["kept"]) for run in runs]
    scores = mlp_scores(split, supports, N_JUDGES).mean(axis=1)
    for run, support, score in zip(runs, supports, scores, strict=True):
        run["mlp"] = float(score)
        run["boosted"] = boosted_score(split, support, 0)
        run["n_noise"] = int((support & ~split.is_original).sum())


def compare(
    names: list[str],
    selectors: list[str],
    *,
    n_rows: int | None,
    limit_seconds: float,
) -> Iterator[dict[str, Any]]:
    """Yield one record per table."""
    for name in names:
        split = load(name, n_rows)
        runs = []
        for selector in selectors:
            run = fit_apart(selector, name, n_rows, limit_seconds)
            run = {"selector": selector} | run
            count = len(run["kept"]) if "kept" in run else run["reason"]
            print(name, selector, run.get("seconds", ""), count, flush=True)
            runs.append(run)
        judge(split, runs)
        yield {
            "table": name,
            "n_rows": len(split.y["train"]),
            "n_columns": len(split.is_original),
            "n_original": int(split.is_original.sum()),
            "is_regression": split.is_regression,
            "limit_seconds": limit_seconds,
            "runs": runs,
        }


def print_records(records: list[dict[str, Any]]) -> None:
    """Print seconds, columns kept and scores, a table each."""
    figures = {
        "Seconds of one fit (columns kept)": lambda run: (
            f"{run['seconds']:.1f} ({len(run['kept'])})"
        ),
        "Score of the MLP": lambda run: f"{run['mlp']:.3f}",
        "Score of boosted trees": lambda run: f"{run['boosted']:.3f}",
    }
    runs = [{run["selector"]: run for run in record["runs"]} for record in records]
    for title, shown in figures.items():
        heads = [
            f"{record['table']} ({record['n_rows']} × {record['n_columns']})"
            for record in records
        ]
        print(f"{title}\n\n| | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}")
        for selector in dict.fromkeys(name for table in runs for name in table):
            cells = [_cell(table.get(selector), shown) for table in runs]
            print(f"| {SELECTOR_LABELS[selector]} | {' | '.join(cells)} |")
        print()


def _cell(run: dict[str, Any] | None, shown: Any) -> str:
    """Return one cell; why there is nothing to show, where there is nothing."""
    if run is None:
        return "not run"
    if "kept" not in run:
        reason: str = run["reason"]
        return "classes only" if "supports classification only" in reason else reason
    return str(shown(run))


def main() -> None:
    parser = stamp.parser_of(__doc__)
    parser.add_argument("part", choices=("run", "table", "one"))
    parser.add_argument("--tables", nargs="+", default=[*NARROW, *WIDE])
    parser.add_argument("--selectors", nargs="+", default=list(SELECTOR_LABELS))
    parser.add_argument("--rows", type=int, help="at most so many training rows")
    parser.add_argument("--time-limit", type=float, default=900.0)
    arguments = parser.parse_args()
    if arguments.part == "table":
        stamp.print_stored(arguments.out, {"selectors": print_records})
        return
    if arguments.part == "one":
        found = fit(arguments.selectors[0], arguments.tables[0], arguments.rows)
        print(json.dumps(found))
        return
    torch.set_num_threads(1)
    records = compare(
        arguments.tables,
        arguments.selectors,
        n_rows=arguments.rows,
        limit_seconds=arguments.time_limit,
    )
    stamp.store("selectors", records, arguments.out)


if __name__ == "__main__":
    main()
