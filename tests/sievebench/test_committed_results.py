from pathlib import Path

import pytest

from sievebench.experiment import read_experiment
from sievebench.report import all_tables, gather, markdown, read_runs
from sievebench.store import counts_kept, earlier_results, find_stores

ROOT = Path(__file__).parents[2]
STORES = {store.folder.name: store for store in find_stores(ROOT / "results")}


def cells_of(experiment):
    """Return the cells, with what they take over from other experiments."""
    counts = earlier = None
    if match := experiment.match:
        records = STORES[match["experiment"]].records()
        counts = counts_kept(records, match["selector"])
    if reuse := experiment.reuse:
        records = STORES[reuse["experiment"]].records()
        earlier = earlier_results(
            records, reuse["n_predictors"], reuse.get("not_from", ())
        )
    return experiment.cells(counts=counts, earlier=earlier)


@pytest.mark.parametrize("name", sorted(STORES))
def test_records_belong_to_cells_and_say_where_they_come_from(name):
    experiment = read_experiment(ROOT / "experiments" / f"{name}.toml")
    cells = {spec.key for spec in cells_of(experiment)}
    records = list(STORES[name].records())
    files = {path.stem for path in (STORES[name].folder / "records").iterdir()}
    assert {record.spec.key for record in records} == files <= cells
    for record in records:
        environment = record.environment
        assert environment["commit"]
        assert environment["device"]
        assert "torch" in environment["versions"]
        assert record.status in ("done", "skipped") or record.reason


def test_report_is_that_of_the_records():
    # `sievebench report results --out results/report` makes it anew.
    results = gather(
        read_runs(ROOT / "results"), benchmarks=ROOT / "benchmarks" / "results"
    )
    made = {
        table.name: markdown(table)
        for _, section in all_tables(results)
        for table in section
    }
    stored = {
        path.stem: path.read_text(encoding="utf-8")
        for path in (ROOT / "results" / "report" / "tables").glob("*.md")
    }
    assert stored == made
