"""The records in `results/` are those that today's code would look for."""

from pathlib import Path

import pytest

from sievebench.experiment import read_experiment
from sievebench.store import find_stores

ROOT = Path(__file__).parents[2]
STORES = {store.folder.name: store for store in find_stores(ROOT / "results")}


@pytest.mark.parametrize("name", sorted(STORES))
def test_records_belong_to_cells_of_their_experiment(name):
    experiment = read_experiment(ROOT / "experiments" / f"{name}.toml")
    cells = {spec.key for spec in experiment.cells()}
    files = {path.stem for path in (STORES[name].folder / "records").iterdir()}
    assert files <= cells
    assert {record.spec.key for record in STORES[name].records()} == files


@pytest.mark.parametrize("name", sorted(STORES))
def test_records_say_where_they_come_from(name):
    for record in STORES[name].records():
        environment = record.environment
        assert environment["commit"]
        assert environment["device"]
        assert "torch" in environment["versions"]
        assert record.status in ("done", "skipped") or record.reason
