"""What changes when gates leave a wide stack: seconds, columns found, columns of noise.

Run with ``python benchmarks/shrinking.py``; ``--seeds 6`` says how many fits with and
without, in turns in one process, ``--tables 400x4000 2000x5000:sparse`` on which
tables, `table` prints what was found. Of the dense tables 24 columns tell the class,
two of them only as a product, and most of them a little; sparse ones are counts whose
columns are as rare as words, 30 of which tell the class. Seconds are those of the
processor.
"""

import time
import warnings
from collections.abc import Iterator
from itertools import chain, combinations
from typing import Any

import numpy as np
import stamp
import torch
from scipy import sparse

from featuresieve import AutoNFSClassifier
from featuresieve.search import _stacks

TABLES = ("400x4500", "500x6000", "1000x5000", "2000x5000:sparse")
NEVER = 10**9  # columns from which gates leave
Record = dict[str, Any]


def made(name: str) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return a table, its classes, and the columns that tell them."""
    shape, _, kind = name.partition(":")
    n_rows, n_columns = map(int, shape.split("x"))
    rng = np.random.default_rng(0)
    if kind == "sparse":
        shares = 1 / np.arange(1, n_columns + 1)
        shares = np.minimum(0.4, shares * 0.001 * n_columns / shares.sum())
        counts = rng.binomial(n_rows, shares)
        rows = np.concatenate([rng.choice(n_rows, n, replace=False) for n in counts])
        cells = np.ones(len(rows), np.float32)
        places = rows, np.repeat(np.arange(n_columns), counts)
        X = sparse.csr_array((cells, places), shape=(n_rows, n_columns))
        known = rng.choice(60, 30, replace=False)
        score = X[:, known] @ rng.choice([-2.0, 2.0], 30)
        score += 0.5 * rng.standard_normal(n_rows)
        return X, score > np.median(score), known
    X = rng.standard_normal((n_rows, n_columns), dtype=np.float32)
    score = X[:, 0] * X[:, 1] + X[:, 2] + X[:, 3] + X[:, 4:24].sum(axis=1) / 4
    return X, score + 0.5 * rng.standard_normal(n_rows) > 0, np.arange(24)


def pairs(name: str, n_seeds: int) -> Iterator[Record]:
    """Fit with and without, seed by seed."""
    X, y, known = made(name)
    wide = _stacks._WIDE
    for seed in range(n_seeds):
        for does_shrink in (False, True):
            _stacks._WIDE = wide if does_shrink else NEVER
            selector = AutoNFSClassifier(random_state=seed, device="cpu", n_jobs=1)
            started = time.process_time()
            selector.fit(X, y)
            seconds = time.process_time() - started
            kept = np.flatnonzero(selector.support_)
            yield {
                "table": name,
                "seed": seed,
                "does_shrink": does_shrink,
                "cpu_seconds": round(seconds, 2),
                "n_known": int(np.isin(kept, known).sum()),
                "n_other": int((~np.isin(kept, known)).sum()),
                "kept": kept.tolist(),
            }
    _stacks._WIDE = wide


def _overlap(a: Record, b: Record) -> float:
    """Return the share of common columns."""
    first, second = set(a["kept"]), set(b["kept"])
    return len(first & second) / max(1, len(first | second))


def print_shrinking(records: list[Record]) -> None:
    """Print one line a table."""
    print("| table | seeds | seconds | known | other | same seed | two seeds, whole |")
    print("|---|---|---|---|---|---|---|")
    for name in dict.fromkeys(r["table"] for r in records):
        own = [r for r in records if r["table"] == name]
        whole = [r for r in own if not r["does_shrink"]]
        small = [r for r in own if r["does_shrink"]][: len(whole)]

        def means(field: str, whole: Any = whole, small: Any = small) -> str:
            return " → ".join(
                f"{np.mean([r[field] for r in some]):.1f}" for some in (whole, small)
            )

        same = np.mean([_overlap(*both) for both in zip(whole, small, strict=False)])
        seeds = [_overlap(*both) for both in combinations(whole, 2)]
        between = np.mean(seeds) if seeds else np.nan
        print(
            f"| {name} | {len(small)} | {means('cpu_seconds')} | {means('n_known')} | "
            f"{means('n_other')} | {same:.2f} | {between:.2f} |"
        )


def main() -> None:
    parser = stamp.parser_of(__doc__)
    parser.add_argument("part", nargs="?", choices=("run", "table"), default="run")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    arguments = parser.parse_args()
    if arguments.part == "table":
        stamp.print_stored(arguments.out, {"shrinking": print_shrinking})
        return
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    records = (pairs(name, arguments.seeds) for name in arguments.tables)
    stamp.store("shrinking", chain.from_iterable(records), arguments.out)


if __name__ == "__main__":
    main()
