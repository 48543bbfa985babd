"""Where the time of whole fits goes on wide and long tables, and what it grows with.

Run with ``python benchmarks/wide.py``, on the GPU if there is one; ``--small`` tries
it out in a minute on a CPU, ``--only 2000x20000`` takes one table, ``--limit 390`` says
after how many seconds no further fit begins, and ``--out FOLDER`` writes elsewhere than
to ``benchmarks/results``. Every fit is a process of its own,
after a small fit that warms it up. Seconds are those of the clock; preparation is
what comes before the search, and `after` what comes behind the predictor.
"""

import argparse
import json
import resource
import time
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import stamp
import torch
from scipy import sparse

from featuresieve import AutoNFSClassifier
from featuresieve.estimators import _autonfs

TABLES = (
    *("2000x20000", "500x50000", "1000000x100", "60000x784:uint8"),
    *("20000x2000:holes", "10000x100000:sparse", "1000x500000"),
)
SMALL = ("200x2000", "2000x40", "600x98:uint8", "400x200:holes", "500x2000:sparse")
COLUMNS, SMALL_COLUMNS = (32, 128, 512, 2048, 8192, 32_768), (32, 128, 512)
LIMIT_SECONDS = 90
STAGES = {"search": "find_support", "predictor": "train_predictor"}


def made(name: str) -> tuple[Any, np.ndarray]:
    """Return a table of noise in which two products and two columns tell the class."""
    shape, _, kind = name.partition(":")
    n_rows, n_columns = map(int, shape.split("x"))
    rng = np.random.default_rng(0)
    if kind == "sparse":
        X = sparse.random_array(
            (n_rows, n_columns), density=0.001, format="csr", rng=0, dtype=np.float32
        )
        counts = X[:, : n_columns // 200].sum(axis=1)
        return X, counts > np.median(counts)
    X = rng.standard_normal((n_rows, n_columns), dtype=np.float32)
    noise = 0.5 * rng.standard_normal(n_rows)
    y = X[:, 0] * X[:, 1] + X[:, 2] + X[:, 3] + noise > 0
    if kind == "uint8":
        X = np.clip(100 * X, 0, 255).astype(np.uint8)
    if kind == "holes":
        X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def measured(name: str, is_published: bool) -> dict[str, Any]:
    """Fit once in this process."""
    warnings.simplefilter("ignore")
    build = AutoNFSClassifier.as_published if is_published else AutoNFSClassifier
    X, y = made(name)
    warm_up, target = made("300x20")
    build(random_state=0).fit(warm_up, target)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    spans: dict[str, tuple[float, float]] = {}
    cpu_until: list[float] = []
    for stage, function in STAGES.items():
        _watch(stage, function, spans, cpu_until)
    has_gpu = torch.cuda.is_available()
    if has_gpu:
        torch.cuda.reset_peak_memory_stats()
    cpu, started = time.process_time(), time.perf_counter()
    selector = build(random_state=0).fit(X, y)
    whole, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
    preparation = spans["search"][0] - started
    found = {
        "seconds": round(whole, 2),
        "cpu_seconds": round(cpu_seconds, 2),
        "preparation": round(preparation, 2),
        **{stage: round(end - begin, 2) for stage, (begin, end) in spans.items()},
        "after": round(started + whole - spans["predictor"][1], 2),
        "share_of_preparation": round(preparation / whole, 3),
        # The same of the processor, as other programs may run.
        "cpu_preparation": round(cpu_until[0] - cpu, 2),
        "cpu_share_of_preparation": round((cpu_until[0] - cpu) / cpu_seconds, 3),
        "table_mebibytes": round(_size(X) / 2**20),
        "peak_mebibytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "peak_before_mebibytes": before // 1024,
        "n_kept": int(selector.n_features_selected_),
        "first_kept": np.flatnonzero(selector.support_)[:6].tolist(),
    }
    if has_gpu:
        found["device_mebibytes"] = torch.cuda.max_memory_allocated() // 2**20
    return found


def _watch(
    stage: str,
    function: str,
    spans: dict[str, tuple[float, float]],
    cpu_until: list[float],
) -> None:
    """Note when a function of the estimators begins and ends."""
    original = getattr(_autonfs, function)

    def timed(*arguments: Any, **named: Any) -> Any:
        started = time.perf_counter()
        cpu_until.append(time.process_time())
        try:
            return original(*arguments, **named)
        finally:
            spans[stage] = started, time.perf_counter()

    setattr(_autonfs, function, timed)


def _size(X: Any) -> int:
    """Return the bytes of a table."""
    return int(X.data.nbytes if sparse.issparse(X) else X.nbytes)


apart = partial(stamp.in_process, limit=LIMIT_SECONDS)


def exponent(records: list[dict[str, Any]]) -> float:
    """Return the slope of ln seconds on ln columns."""
    known = [r for r in records if "seconds" in r]
    columns = np.log([int(r["what"].split("x")[1]) for r in known])
    slope, _ = np.polyfit(columns, np.log([r["seconds"] for r in known]), 1)
    return round(float(slope), 3)


def records_of(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Measure one after the other, while there is time."""
    until = time.monotonic() + arguments.limit
    tables = SMALL if arguments.small else TABLES
    for name in [arguments.only] if arguments.only else tables:
        if time.monotonic() > until:
            return
        yield {"what": name, "setting": "default", **apart("--one", name)}
    if arguments.only:
        return
    grown = []
    for n_columns in SMALL_COLUMNS if arguments.small else COLUMNS:
        if time.monotonic() > until:
            return
        name = f"1000x{n_columns}"
        record = {
            "what": name,
            "setting": "published",
            **apart("--one", name, "--published"),
        }
        grown.append(record)
        yield record
    yield {"what": "exponent of the published setting", "value": exponent(grown)}


def main() -> None:
    parser = stamp.parser_of(__doc__)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--limit", type=float, default=3600.0)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--published", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measured(arguments.one, arguments.published)))
        return
    where = "gpu" if torch.cuda.is_available() else "cpu"
    stamp.store(f"wide_{where}", records_of(arguments), arguments.out)


if __name__ == "__main__":
    main()
