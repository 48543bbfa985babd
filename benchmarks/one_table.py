"""Time one table and scenario of ``experiments/quick.toml`` alone, all its selectors.

``python benchmarks/one_table.py jannis random --workers 16 --runs FOLDER`` runs the
cells (with ``sievebench run``: those that have a record in FOLDER are not run again),
and stores score and seconds of each, and the seconds from first begin to last end.
"""

import argparse
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Any

from stamp import RESULTS, write

from sievebench.store import RunRecord, Store

_EXPERIMENT = Path(__file__).parents[1] / "experiments" / "quick.toml"


def summary(records: list[RunRecord]) -> dict[str, Any]:
    """Return the time of all cells and of each, the slowest first."""
    ends = [datetime.fromisoformat(record.finished) for record in records]
    begins = [
        end - timedelta(seconds=record.seconds)
        for record, end in zip(records, ends, strict=True)
    ]
    slowest_first = sorted(records, key=lambda record: -record.seconds)
    return {
        "seconds": round((max(ends) - min(begins)).total_seconds()),
        "cells": [_figures(record) for record in slowest_first],
        "environment": records[0].environment,
    }


def _figures(record: RunRecord) -> dict[str, Any]:
    """Return what a cell took, and what came of it."""
    scores = [run.score for run in record.runs if run.score is not None]
    return {
        "selector": record.spec.selector,
        "status": record.status,
        "seconds": round(record.seconds, 1),
        "selector_seconds": [round(run.selector_seconds, 1) for run in record.runs],
        "n_trials": record.tuning.get("n_trials", 0),
        "settings": record.tuning.get("settings", {}),
        "kept": [" ".join(map(str, run.kept)) for run in record.runs],
        "score": round(fmean(scores), 5) if scores else None,
    }


def main() -> None:
    """Run and store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset")
    parser.add_argument("scenario")
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--runs", type=Path, required=True, help="folder for records")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder")
    options = parser.parse_args()
    where = ["--datasets", options.dataset, "--scenarios", options.scenario]
    how = ["--workers", str(options.workers), "--out", str(options.runs), "--quiet"]
    command = [sys.executable, "-m", "sievebench", "run", str(_EXPERIMENT)]
    subprocess.run([*command, *where, *how], check=True)
    records = [
        record
        for record in Store(options.runs / _EXPERIMENT.stem).records()
        if record.spec.dataset == options.dataset
        and record.spec.scenario == options.scenario
    ]
    content = {
        "command": f"python benchmarks/one_table.py {options.dataset} "
        f"{options.scenario} --workers {options.workers}",
        **summary(records),
    }
    name = f"one_table_{options.dataset}_{options.scenario}"
    print(write(name, content, options.out))


if __name__ == "__main__":
    main()
