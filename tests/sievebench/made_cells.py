"""Small cells, their records, and files of small experiments."""

from sievebench.run_spec import RunSpec
from sievebench.store import DatasetFacts, RunRecord, RunResult

SMALL = """
profile = "smoke"
n_trials = 0
datasets = ["wine"]
scenarios = ["random"]
selectors = ["univariate"]
downstream_settings = { max_epochs = 3 }
"""
FACTS = DatasetFacts(178, 13, 26, "accuracy", is_sample=False, checksum="md5")
# To look for the true one takes torch and git.
NOWHERE = {"environment": {"commit": "0" * 12, "device": "cpu", "versions": {}}}


def cell(selector="univariate", scenario="random", **changes):
    """Return a quick cell of the wine table, that of SMALL unless asked otherwise."""
    quick = {"downstream_settings": {"max_epochs": 3}, **changes}
    return RunSpec("wine", scenario, selector, **quick)


def slow_cell():
    """Return a cell that takes longer than any test."""
    return cell("forest", selector_settings={"n_estimators": 10**6})


def done(spec, *kept):
    """Return the record of a finished cell, with what each seed keeps."""
    kept = kept or ((1, 2),) * len(spec.seeds)
    runs = [
        RunResult(seed, 0.9, 0.9, columns, 0, 1.0, 1.0)
        for seed, columns in zip(spec.seeds, kept, strict=True)
    ]
    return RunRecord(spec, "done", facts=FACTS, runs=tuple(runs), **NOWHERE)


def planted(spec, status="failed", **fields):
    """Return the record of a cell without a result."""
    return RunRecord(spec, status, **{"reason": "planted", **NOWHERE, **fields})


class NoWork:
    """A cluster that remembers the cells it is sent, and does nothing."""

    def carry_out(self, orders):
        self.cells = [RunSpec.from_dict(order.spec) for order in orders]
        return iter(())
