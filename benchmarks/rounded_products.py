"""Compare predictors trained with exact and with rounded products, on a GPU.

``python benchmarks/rounded_products.py`` takes the tuned predictors of a few cells of
``results/quick``, trains each with six seeds, once with products in float32 and once
with their factors rounded to TF32 as the workers of ``sievebench run`` have it, and
stores scores and seconds. Needs CUDA and the tables (FEATURESIEVE_DATA).
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stamp import RESULTS, stamp, write

from sievebench.pipeline import run_one
from sievebench.run_spec import RunSpec
from sievebench.store import Store, earlier_results

_RECORDS = Path(__file__).parents[1] / "results" / "quick"
_DATASETS = ("house", "jannis", "otto")
_SEEDS = tuple(range(6))


def cells() -> list[RunSpec]:
    """Return cells without selection, with the predictor that was found for them."""
    found = []
    for record in Store(_RECORDS).records():
        spec = record.spec
        is_wanted = spec.scenario == "random" and spec.dataset in _DATASETS
        if is_wanted and spec.selector == "none" and record.status == "done":
            (predictors,) = earlier_results([record], 1).predictors.values()
            found.append(replace(spec, n_trials=0, seeds=_SEEDS, predictors=predictors))
    return found


def scores(spec: RunSpec, is_rounded: bool) -> dict[str, Any]:
    """Return the scores of all seeds, one way."""
    torch.backends.cuda.matmul.allow_tf32 = is_rounded
    started = time.perf_counter()
    record = run_one(spec)
    seconds = time.perf_counter() - started
    if record.status != "done":
        raise RuntimeError(record.reason)
    values = [run.score for run in record.runs if run.score is not None]
    return {
        "dataset": spec.dataset,
        "is_rounded": is_rounded,
        "scores": [round(value, 5) for value in values],
        "mean": round(float(np.mean(values)), 5),
        "std": round(float(np.std(values, ddof=1)), 5),
        "seconds": round(seconds, 2),
    }


def main() -> None:
    """Run and store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        parser.error("there is no CUDA device: products on a CPU are not rounded.")
    rows = []
    for spec in cells():
        scores(spec, True)  # loads the table and warms the libraries up, not counted
        for is_rounded in (False, True):
            rows.append(scores(spec, is_rounded))
            print(rows[-1], flush=True)
    write("rounded_products", {"stamp": stamp(), "rows": rows}, options.out)


if __name__ == "__main__":
    main()
