"""Against the authors' package: fits in turns in one process, warm, and cold ones.

Run with ``python benchmarks/speed_pairs.py``. For each table of `speed.py`, with the
automatic choice and at the same fixed setting, on one thread each: warm is the median
of some fits in turns in this process, after one of each on a small table; cold is one
fit in a process of its own, which pays for torch's first calls and for importing its
compiler. Seconds are those of the processor, as other programs
may run. ``--rounds 2`` says how many fits, ``--tables`` which tables: what is
stored of others stays.
"""

import json
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import speed
import stamp
import torch
from speed_table import OURS_AUTO, OURS_FIXED, THEIRS_AUTO, THEIRS_FIXED

PAIRS = {"auto": (OURS_AUTO, THEIRS_AUTO), "same setting": (OURS_FIXED, THEIRS_FIXED)}
LIMIT_SECONDS = 300


def timed(method: str, name: str) -> tuple[float, int]:
    """Return the processor's seconds of one fit, and how many columns it keeps."""
    X, y = speed.table(name)
    fit = speed.METHODS[method](name)
    started = time.process_time()
    n_kept = fit(X, y)
    return time.process_time() - started, n_kept


def cold(method: str, name: str) -> float | None:
    """Return the seconds in a process of its own, None if it took too long."""
    words = ("one", method, name)
    result = speed.apart(*words, limit=LIMIT_SECONDS, script=speed.__file__)
    seconds: float | None = result.get("cpu_seconds")
    return seconds


def pairs(tables: list[str], n_rounds: int) -> Iterator[dict[str, Any]]:
    """Time both, table by table."""
    for name in tables:
        for kind, methods in PAIRS.items():
            taken: dict[str, list[float]] = {method: [] for method in methods}
            kept = {}
            for _ in range(n_rounds):
                for method in methods:
                    seconds, kept[method] = timed(method, name)
                    taken[method].append(seconds)
            ours, theirs = (float(np.median(taken[method])) for method in methods)
            record = {
                "table": name,
                "kind": kind,
                "ours": round(ours, 3),
                "theirs": round(theirs, 3),
                "times_as_fast": round(theirs / ours, 2),
                "all_ours": [round(s, 3) for s in taken[methods[0]]],
                "all_theirs": [round(s, 3) for s in taken[methods[1]]],
                "n_kept": list(kept.values()),
            }
            first, second = (cold(method, name) for method in methods)
            if first and second:
                record |= {"ours_cold": first, "theirs_cold": second}
                record["times_as_fast_cold"] = round(second / first, 2)
            yield record


def print_pairs(records: list[dict[str, Any]]) -> None:
    """Print one line a table and setting."""
    print("| table | setting | ours, s | theirs, s | warm | cold |")
    print("|---|---|---|---|---|---|")
    for r in records:
        print(
            f"| {r['table']} | {r['kind']} | {r['ours']:.2f} | {r['theirs']:.2f} | "
            f"{r['times_as_fast']:.1f} | {r.get('times_as_fast_cold', '')} |"
        )


def main() -> None:
    parser = stamp.parser_of(__doc__)
    parser.add_argument("part", nargs="?", choices=("run", "table"), default="run")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--tables", nargs="+", default=list(speed.TABLES))
    arguments = parser.parse_args()
    if arguments.part == "table":
        stamp.print_stored(arguments.out, {"speed_pairs": print_pairs})
        return
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    for methods in PAIRS.values():  # the first calls of torch
        for method in methods:
            timed(method, "made_100x20")
    path, commit = arguments.out / "speed_pairs.json", stamp.stamp()["commit"]
    known = json.loads(path.read_text())["records"] if path.exists() else []
    others = [r for r in known if r["table"] not in arguments.tables]
    found = pairs(arguments.tables, arguments.rounds)
    records = ({**record, "commit": commit} for record in found)
    stamp.store("speed_pairs", records, arguments.out, others)


if __name__ == "__main__":
    main()
