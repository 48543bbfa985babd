"""Seconds of whole fits by some numbers of processes, in turns.

Run with ``python benchmarks/ranks.py`` on an idle machine. ``--ranks 1 2 4`` says how
many processes of one thread each train together, ``--rounds 3`` how often,
``--tables 20000x100`` on which, ``--out FOLDER`` where to write.
Times are of `fit` alone, of the slowest rank; those of the processor are what a rank
computes, also where others use the machine. All answers of a table must agree to the
bit; one that does not ends the run.
"""

import argparse
import hashlib
import json
import os
import socket
import subprocess
import sys
import time
import warnings
from itertools import chain
from typing import Any

import numpy as np
import stamp
from cores import table

TABLES = ("100000x500",)


def fit(shape: str) -> dict[str, Any]:
    """Return how long a default fit takes on this rank, and a hash of its answer."""
    from featuresieve import AutoNFSClassifier

    warnings.simplefilter("ignore")
    AutoNFSClassifier(random_state=0).fit(*table("200x10"))  # the first calls
    X, y = table(shape)
    selector = AutoNFSClassifier(random_state=0, device="cpu", n_jobs=1)
    wall, cpu = time.perf_counter(), time.process_time()
    selector.fit(X, y)
    took = time.perf_counter() - wall, time.process_time() - cpu
    found = selector.logits_.tobytes() + selector.predict_proba(X[:1000]).tobytes()
    answer = hashlib.blake2b(found, digest_size=16).hexdigest()
    return {"seconds": took[0], "cpu_seconds": took[1], "answer": answer}


def fit_on(n_ranks: int, shape: str) -> list[dict[str, Any]]:
    """Return what each of some processes found."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    around = {"WORLD_SIZE": n_ranks, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    around |= {"OMP_NUM_THREADS": 1, "LOCAL_WORLD_SIZE": n_ranks}
    children = [
        subprocess.Popen(
            [sys.executable, __file__, "--fit", shape],
            env=os.environ | {n: str(v) for n, v in (around | {"RANK": rank}).items()},
            stdout=subprocess.PIPE,
        )
        for rank in range(n_ranks)
    ]
    told = [child.communicate()[0] for child in children]
    if any(child.returncode for child in children):
        raise SystemExit(f"{shape}: a fit on {n_ranks} ranks failed.")
    return [json.loads(text) for text in told]


def record(shape: str, sizes: list[int], n_rounds: int) -> list[dict[str, Any]]:
    """Return the median times of a table for each number of ranks."""
    times: dict[int, list[tuple[float, float]]] = {size: [] for size in sizes}
    answers = set()
    for _ in range(n_rounds):
        for size in sizes:
            found = fit_on(size, shape)
            answers |= {each["answer"] for each in found}
            if len(answers) > 1:
                raise SystemExit(f"{shape}: another answer on {size} ranks.")
            names = "seconds", "cpu_seconds"
            slowest = tuple(max(each[name] for each in found) for name in names)
            times[size].append((slowest[0], slowest[1]))
            print(shape, size, [round(value, 1) for value in slowest], flush=True)
    medians = {size: np.median(own, axis=0) for size, own in times.items()}
    first = medians[min(sizes)]
    return [
        {
            "table": shape,
            "ranks": size,
            "seconds": round(float(own[0]), 2),
            "cpu_seconds_of_a_rank": round(float(own[1]), 2),
            "times_as_fast": round(float(first[0] / own[0]), 2),
            "times_as_fast_by_cpu": round(float(first[1] / own[1]), 2),
            "load": round(os.getloadavg()[1], 1),
        }
        for size, own in medians.items()
    ]


def main() -> None:
    parser = stamp.parser_of(__doc__)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tables", nargs="+", default=TABLES)
    parser.add_argument("--fit", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.fit:
        print(json.dumps(fit(arguments.fit)))
        return
    found = (record(t, arguments.ranks, arguments.rounds) for t in arguments.tables)
    stamp.store("ranks", chain.from_iterable(found), arguments.out)


if __name__ == "__main__":
    main()
