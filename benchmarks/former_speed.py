"""How long a default fit takes beside the rule before the present one.

Usage (from the repository root, FEATURESIEVE_DATA set)::

    git worktree add ../former 77faee8
    python benchmarks/former_speed.py --former ../former/src

Tables of the breadth suite, random columns added, 1,400 rows to learn from at most, on
a GPU if there is one, else on all cores (`OMP_NUM_THREADS` unset). Each fit is one of
three in a process of its own, after a small one that warms it up; present and former
rule take turns. Seconds are those of the clock: leave the machine idle.
"""

import json
import os
import statistics
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import stamp
import torch

TABLES = ("kr_vs_kp", "telco_churn", "spambase", "credit_g", "cpu_act", "ailerons")
DRAW, MOST_ROWS, N_FITS = 11, 2000, 3
SOURCES = Path(__file__).parents[1] / "src"


def one(name: str) -> dict[str, Any]:
    """Time fits of one table with the sources on the path."""
    from breadth_cells import REGRESSIONS, make_cell

    from featuresieve import AutoNFSClassifier, AutoNFSRegressor

    warnings.simplefilter("ignore")
    cell = make_cell(name, "random", DRAW, MOST_ROWS)
    kind = AutoNFSRegressor if name in REGRESSIONS else AutoNFSClassifier
    kind(random_state=0).fit(cell.train[:100], cell.y_train[:100])
    seconds, kept = [], []
    for seed in range(N_FITS):
        started = time.perf_counter()
        selector = kind(random_state=seed).fit(cell.train, cell.y_train)
        seconds.append(round(time.perf_counter() - started, 3))
        kept.append(int(selector.support_.sum()))
    return {"seconds": seconds, "kept": kept}


def main() -> None:
    parser = stamp.parser_of(__doc__)
    parser.add_argument("--former", required=True, help="src of commit 77faee8")
    parser.add_argument("--tables", nargs="+", default=TABLES)
    arguments = parser.parse_args()
    path = os.environ.get("PYTHONPATH", "")
    records = []
    for table in arguments.tables:
        record: dict[str, Any] = {"table": table}
        for rule, source in (("present", SOURCES), ("former", arguments.former)):
            found = stamp.in_process("one", table, PYTHONPATH=f"{source}:{path}")
            record |= {f"{rule}_{key}": value for key, value in found.items()}
        if "present_seconds" in record and "former_seconds" in record:
            medians = [
                statistics.median(record[f"{rule}_seconds"])
                for rule in ("present", "former")
            ]
            record["times"] = round(medians[0] / medians[1], 2)
        records.append(record)
    device = "gpu" if torch.cuda.is_available() else "cpu"
    stamp.store(f"former_speed_{device}", records, arguments.out)
    known = [record["times"] for record in records if "times" in record]
    print(f"median of {len(known)} tables: {statistics.median(known):.2f} times")


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        print(json.dumps(one(sys.argv[2])))
    else:
        main()
