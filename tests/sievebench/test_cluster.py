"""Cells on a cluster: each in a process of its own, which ends with its sender."""

import json
import subprocess
import sys
from dataclasses import asdict

import joblib
import pytest

from sievebench.cli import main
from sievebench.run_spec import RunSpec
from sievebench.runner import Cluster, ClusterError, run_cells
from sievebench.runner._cluster import carry_out_with_joblib
from sievebench.runner._node import Order, carry_out
from sievebench.store import DatasetFacts, RunRecord, RunResult, Store

QUICK = {"max_epochs": 3}


def cell(selector, **changes):
    return RunSpec("wine", "random", selector, downstream_settings=QUICK, **changes)


def order(spec, store, limit=None):
    return Order(spec.as_dict(), str(store.folder), limit, storage=None)


class Here:
    """A cluster of two threads of this process."""

    n_workers = 2

    def carry_out(self, orders):
        with joblib.parallel_config("threading", n_jobs=2):
            yield from carry_out_with_joblib(orders)


@pytest.mark.slow
def test_cells_run_elsewhere_and_are_told_here(tmp_path):
    store, told = Store(tmp_path / "here"), []
    cells = [cell("none"), cell("univariate"), cell("magic")]
    store.write(RunRecord(cells[2], "failed", reason="planted"))
    endings = run_cells(
        cells, store, cluster=Here(), progress=lambda *words: told.append(words)
    )
    assert endings == {"done": 2, "failed": 1}
    assert {(spec.selector, what) for spec, what, _ in told} == {
        ("none", "done"),
        ("univariate", "done"),
    }
    # Those of the process are more than those of the cell.
    assert all(seconds > store.read(spec).seconds for spec, _, seconds in told)
    assert store.read(cells[2]).reason == "planted"


def test_record_is_kept_where_the_disk_is_not_shared(tmp_path):
    spec = cell("none")
    record = RunRecord(spec, "failed", reason="planted")

    class Far:
        def carry_out(self, orders):
            assert [order.spec for order in orders] == [spec.as_dict()]
            yield record.to_json(), 1.5

    assert run_cells([spec], Store(tmp_path), cluster=Far()) == {"failed": 1}
    assert Store(tmp_path).read(spec) == record


@pytest.mark.slow
def test_time_limit_holds_there(tmp_path):
    slow = cell("forest", selector_settings={"n_estimators": 10**6})
    text, seconds = carry_out(order(slow, Store(tmp_path), limit=3))
    record = RunRecord.from_json(text)
    assert (record.status, record.reason) == ("timeout", "took more than 3 s")
    assert seconds > 3
    assert Store(tmp_path).read(slow) == record


def test_process_that_dies_is_a_failure(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", "false")
    text, _ = carry_out(order(cell("none"), Store(tmp_path)))
    record = RunRecord.from_json(text)
    assert (record.status, record.reason) == (
        "failed",
        "its process ended with code 1",
    )


def test_process_that_dies_after_its_record_is_written_loses_nothing(
    tmp_path, monkeypatch
):
    spec = cell("none")
    facts = DatasetFacts(178, 13, 26, "accuracy", False, "md5")
    runs = [RunResult(seed, 0.9, 0.9, (1, 2), 0, 1.0, 1.0) for seed in spec.seeds]
    finished = RunRecord(spec, "done", facts=facts, runs=tuple(runs))
    Store(tmp_path).write(finished)
    monkeypatch.setattr(sys, "executable", "false")
    text, _ = carry_out(order(spec, Store(tmp_path)))
    assert RunRecord.from_json(text) == finished


@pytest.mark.slow
def test_process_ends_with_its_sender(tmp_path):
    slow = cell("forest", selector_settings={"n_estimators": 10**6})
    words = [sys.executable, "-m", "sievebench.runner._node"]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, text=True)
    process.stdin.write(json.dumps(asdict(order(slow, Store(tmp_path)))) + "\n")
    process.stdin.close()
    assert process.wait(60) == 1
    assert Store(tmp_path).read(slow) is None


def test_missing_dask_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "distributed", None)
    file = tmp_path / "small.toml"
    file.write_text(
        'profile = "smoke"\ndatasets = ["wine"]\nscenarios = ["none"]\n'
        'selectors = ["none"]\n'
    )
    words = ["run", str(file), "--out", str(tmp_path), "--cluster", "tcp://a:1"]
    assert main(words) == 2
    assert "pip install 'featuresieve[cluster]'" in capsys.readouterr().err


def fail(_):
    raise OSError("planted")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Dask's own
def test_two_workers_of_dask_run_the_cells(tmp_path, monkeypatch):
    import distributed  # it warns when it is imported

    store, cells = Store(tmp_path), [cell("none"), cell("univariate"), cell("lasso")]
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as local:
        cluster = Cluster(local.scheduler_address)
        assert cluster.n_workers == 2
        assert run_cells(cells, store, cluster=cluster) == {"done": 3}
        monkeypatch.setattr("sievebench.runner._cluster.carry_out", fail)
        with pytest.raises(ClusterError, match="OSError: planted"):
            run_cells([cell("mrmr")], store, cluster=cluster)
        cluster.close()
        local.scale(0)
        local.sync(local._correct_state)
        with pytest.raises(ClusterError, match="has no workers"):
            Cluster(local.scheduler_address)
