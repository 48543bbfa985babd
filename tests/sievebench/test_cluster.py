import json
import subprocess
import sys
from dataclasses import asdict

import joblib
import pytest
from made_cells import SMALL, cell, done, planted, slow_cell

from sievebench.run_spec import RunSpec
from sievebench.runner import (
    Cluster,
    ClusterError,
    Order,
    carry_out,
    carry_out_with_joblib,
    run_cells,
)
from sievebench.store import RunRecord, Store


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
    cells = [cell("none"), cell("magic")]
    store.write(planted(cells[1]))

    def tell(*words):
        told.append(words)

    endings = run_cells(cells, store, cluster=Here(), progress=tell)
    assert endings == {"done": 1, "failed": 1}
    ends = {(spec.selector, what) for spec, what, _ in told}
    assert ends == {("none", "done")}
    # Those of the process are more than those of the cell.
    assert all(seconds > store.read(spec).seconds for spec, _, seconds in told)
    assert store.read(cells[1]).reason == "planted"


def test_record_is_kept_where_the_disk_is_not_shared(tmp_path):
    spec = cell("none")
    record = planted(spec)

    class Far:
        def carry_out(self, orders):
            assert [order.spec for order in orders] == [spec.as_dict()]
            yield record.to_json(), 1.5

    assert run_cells([spec], Store(tmp_path), cluster=Far()) == {"failed": 1}
    assert Store(tmp_path).read(spec) == record


@pytest.mark.slow
def test_time_limit_holds_there(tmp_path):
    slow = slow_cell()
    text, seconds = carry_out(order(slow, Store(tmp_path), limit=1))
    record = RunRecord.from_json(text)
    assert (record.status, record.reason) == ("timeout", "took more than 1 s")
    assert seconds > 1
    assert Store(tmp_path).read(slow) == record


def test_process_that_dies_is_a_failure_unless_it_has_written(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", "false")
    spec, store = cell("none"), Store(tmp_path)
    record = RunRecord.from_json(carry_out(order(spec, store))[0])
    assert record.status == "failed"
    assert record.reason == "its process ended with code 1"
    store.write(finished := done(spec))
    assert RunRecord.from_json(carry_out(order(spec, store))[0]) == finished


@pytest.mark.slow
def test_process_ends_with_its_sender(tmp_path):
    slow = slow_cell()
    words = [sys.executable, "-m", "sievebench.runner.node"]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, text=True)
    process.stdin.write(json.dumps(asdict(order(slow, Store(tmp_path)))) + "\n")
    process.stdin.close()
    assert process.wait(60) == 1
    assert Store(tmp_path).read(slow) is None


def test_missing_dask_is_told(tmp_path, monkeypatch, refused):
    monkeypatch.setitem(sys.modules, "distributed", None)
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    words = ["run", file, "--out", tmp_path, "--cluster", "tcp://a:1"]
    assert "pip install 'featuresieve[cluster]'" in refused(*words)


def pretend(order):
    return done(RunSpec.from_dict(order.spec)).to_json(), 1.0


def fail(_):
    raise OSError("planted")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Dask's own
def test_two_workers_of_dask_run_the_cells(tmp_path, monkeypatch):
    import distributed  # it warns when it is imported

    store, cells = Store(tmp_path), [cell("none"), cell("univariate")]
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as local:
        cluster = Cluster(local.scheduler_address)
        assert cluster.n_workers == 2
        monkeypatch.setattr("sievebench.runner.cluster.carry_out", pretend)
        assert run_cells(cells, store, cluster=cluster) == {"done": 2}
        monkeypatch.setattr("sievebench.runner.cluster.carry_out", fail)
        with pytest.raises(ClusterError, match="OSError: planted"):
            run_cells([cell("mrmr")], store, cluster=cluster)
        cluster.close()
        local.scale(0)
        local.sync(local._correct_state)
        with pytest.raises(ClusterError, match="has no workers"):
            Cluster(local.scheduler_address)
