"""Tables of runs that never ran, with known answers."""

import pandas as pd

RUN = {
    "dataset": "eye",
    "scenario": "random",
    "selector": "lasso",
    "downstream": "mlp",
    "seed": 0,
    "status": "done",
    "score": 0.5,
    "n_kept": 10,
    "n_added_kept": 0,
    "n_original": 10,
    "n_features": 20,
    "seconds": 1.0,
    "is_sample": False,
    "experiment": "benchmark",
}


def run(**fields):
    """Return one run, as RUN but for `fields`."""
    return RUN | fields


def failed(reason="", status="failed", **fields):
    """Return one run without a result."""
    nothing = {"score": None, "n_kept": None, "n_added_kept": None, "seconds": None}
    return RUN | nothing | {"status": status, "reason": reason} | fields


def table(*runs):
    """Return runs as a table."""
    return pd.DataFrame(list(runs))


def benchmark(scores, scenario="random", **fields):
    """Return runs with the scores {selector: {dataset: score}}; None is a failure."""
    return [
        (run if score is not None else failed)(
            selector=selector, dataset=dataset, scenario=scenario, **fields
        )
        | {"score": score}
        for selector, row in scores.items()
        for dataset, score in row.items()
    ]
