import argparse
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from dataclasses import replace
from itertools import chain
from pathlib import Path

import optuna
import pandas as pd
import pytest
from made_cells import SMALL, NoWork, cell, done, planted, slow_cell
from made_workers import half_write, leave_thread, pretend

from sievebench.cli import main
from sievebench.cli._run import RunProgress, remaining_seconds
from sievebench.environment import describe_environment
from sievebench.experiment import read_experiment
from sievebench.pipeline import run_one
from sievebench.runner import processes, run_cells
from sievebench.runner.worker import work
from sievebench.store import Store, counts_kept

CROSSED = SMALL.replace(
    '["random"]', '["none", "random", "corrupted", "second_order"]'
).replace('["univariate"]', '["none", "univariate", "mrmr"]')


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(CROSSED)
    return path


@pytest.mark.slow
def test_cells_run_once_and_failures_are_records(tmp_path):
    address = f"sqlite:///{tmp_path / 'trials.db'}"
    cells, told = [cell("univariate"), cell("magic"), cell("none", n_trials=2)], []
    store = Store(tmp_path / "small")

    def tell(spec, what, seconds):
        if what != "running":  # now and then, where the machine is busy
            told.append((spec.selector, what))
        is_over = what not in ("started", "running")
        assert not is_over or store.read(spec).status == what
        assert seconds >= 0

    endings = run_cells(cells, store, n_workers=1, storage=address, progress=tell)
    assert endings == {"done": 2, "failed": 1}
    assert told[:2] == [("univariate", "started"), ("univariate", "done")]
    assert "there is no selector 'magic'" in store.read(cells[1]).reason
    again = []
    assert endings == run_cells(cells, store, progress=lambda *_: again.append(1))
    assert again == []
    # Trials are in the database, and in no file.
    assert not store.journal_of(cells[2]).exists()
    (name,) = optuna.get_all_study_names(address)
    assert name == f"small/{cells[2].key}"
    assert len(optuna.load_study(study_name=name, storage=address).trials) == 2


@pytest.fixture
def light_workers(monkeypatch):
    """Let processes only pretend to run cells: these tests are about what ends them."""
    monkeypatch.setattr(processes, "work_there", pretend)
    monkeypatch.setattr(processes, "_TICK_SECONDS", 0.2)


@pytest.mark.usefixtures("light_workers")
def test_cell_that_takes_too_long_is_killed_and_the_rest_goes_on(tmp_path):
    store, running = Store(tmp_path), []

    def tell(spec, what, seconds):
        if (spec.selector, what) == ("forest", "running"):
            running.append(seconds)

    cells = [slow_cell(), cell("none")]
    endings = run_cells(cells, store, time_limit_seconds=2, progress=tell)
    assert endings == {"timeout": 1, "done": 1}
    assert len(running) >= 3
    assert running == sorted(running)
    record = store.read(slow_cell())
    assert record.reason == "took more than 2 s"
    assert 2 <= record.seconds < 14


@pytest.mark.usefixtures("light_workers")
def test_worker_that_dies_is_replaced_and_its_cell_has_failed(tmp_path):
    store = Store(tmp_path)

    def kill_first(spec, what, _):
        if (spec.selector, what) == ("forest", "started"):
            (child,) = multiprocessing.active_children()
            child.kill()

    endings = run_cells([slow_cell(), cell("none")], store, progress=kill_first)
    assert endings == {"failed": 1, "done": 1}
    assert "ended with code -9" in store.read(slow_cell()).reason


@pytest.mark.usefixtures("light_workers")
def test_worker_that_dies_after_its_record_is_written_loses_nothing(tmp_path):
    store, spec = Store(tmp_path), slow_cell()
    finished = done(spec)

    def write_and_kill(_spec, what, _seconds):
        if what == "started":
            store.write(finished)
            (child,) = multiprocessing.active_children()
            child.kill()

    assert run_cells([spec], store, progress=write_and_kill) == {"done": 1}
    assert store.read(spec) == finished


@pytest.mark.parametrize(("retry", "is_run"), [("timeout", False), ("failed", True)])
def test_failed_cells_are_retried_on_request_only(tmp_path, retry, is_run):
    store, cluster = Store(tmp_path), NoWork()
    store.write(planted(cell("magic")))
    run_cells([cell("magic")], store, retry=[retry], cluster=cluster)
    assert cluster.cells == [cell("magic")] * is_run


@pytest.mark.parametrize(("details", "is_kept"), [("Traceback", False), ("", True)])
def test_retry_forgets_trials_of_code_that_failed(tmp_path, details, is_kept):
    spec, store = cell("none", n_trials=2), Store(tmp_path)
    store.write(planted(spec, details=details))
    store.journal_of(spec).parent.mkdir()
    store.journal_of(spec).write_text("trials")
    run_cells([spec], store, retry=["failed"], cluster=NoWork())
    assert store.journal_of(spec).exists() == is_kept


def is_running(pid):
    """Tell whether a process runs; one that nobody has collected does not."""
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
    except OSError:
        return False


def wait_until(condition, seconds=90):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_killed_run_loses_nothing_that_was_finished(file, tmp_path, monkeypatch):
    settings = "{ max_epochs = 60, patience = 200 }"
    few = CROSSED.replace(', "corrupted", "second_order"', "")
    file.write_text(few.replace("{ max_epochs = 3 }", settings))
    out = tmp_path / "out"
    words = ["run", str(file), "--out", str(out), "--quiet", "--workers", "1"]
    command = [sys.executable, "-m", "sievebench", *words]
    nowhere = subprocess.DEVNULL
    run = subprocess.Popen(command, stdout=nowhere, stderr=nowhere)
    records = out / "small" / "records"
    wait_until(lambda: len(list(records.glob("*.json"))) >= 2)
    children = Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    wait_until(lambda: not any(is_running(pid) for pid in children))

    finished = {path: path.stat().st_mtime_ns for path in records.glob("*.json")}
    assert 2 <= len(finished) < 6
    for path in finished:
        assert json.loads(path.read_text())["status"] == "done"

    monkeypatch.setattr(processes, "work_there", pretend)
    assert main([*words, "--table", str(tmp_path / "runs.csv")]) == 0
    assert {path: path.stat().st_mtime_ns for path in finished} == finished
    assert len(list(records.glob("*.json"))) == 6
    assert len((tmp_path / "runs.csv").read_text().splitlines()) == 7


def outcome(record):
    """Return what a record says, but for the seconds."""
    tuning = {**record.tuning, "seconds": 0}
    return tuning, [(run.score, run.kept) for run in record.runs]


def kill_when(journal, n_trials):
    """Kill the worker as soon as it has written down so many trials."""
    wait_until(lambda: journal.exists() and journal.read_text().count("\n") >= n_trials)
    for child in multiprocessing.active_children():
        child.kill()


@pytest.mark.slow
def test_tuning_that_is_killed_has_the_outcome_of_one_that_is_not(tmp_path):
    slow = {"max_epochs": 25, "patience": 25}
    spec = cell("lasso", n_trials=6, trials_at_once=3, downstream_settings=slow)
    killed = Store(tmp_path)
    killer = threading.Thread(target=kill_when, args=(killed.journal_of(spec), 3))
    killer.start()
    assert run_cells([spec], killed) == {"failed": 1}
    killer.join()
    # What the cell does when it is asked for again.
    again = run_one(spec, journal=killed.journal_of(spec))
    assert outcome(again) == outcome(run_one(spec))


def test_command_lists_cells_filters_them_and_shards_share_all(
    file, tmp_path, printed, refused
):
    words = ["run", file, "--list"]
    everything = printed(*words).split()
    parts = [printed(*words, "--shard", f"{n}/3").split() for n in (1, 2, 3)]
    assert sorted(chain.from_iterable(parts)) == sorted(everything)
    assert [len(part) for part in parts] == [4, 4, 4]
    words += ["--scenarios", "random"]
    keys = printed(*words, "--selectors", "none", "mrmr").split()
    assert [key.split("--")[3] for key in keys] == ["none", "mrmr"]
    error = refused(*words, "--selectors", "nonne")
    assert "has no selector 'nonne'; did you mean 'none'?" in error
    error = refused("run", file, "--out", tmp_path, "--storage", "postgres")
    assert "'postgres' is no address of a database" in error
    file.write_text("profile = 3")
    assert "profile must be one of" in refused(*words)


@pytest.mark.parametrize(
    "words", [["--workers", "0"], ["--shard", "0/2"], ["--shard", "3/2"]]
)
def test_numbers_that_make_no_sense_are_refused(tmp_path, capsys, words):
    assert main(["run", str(tmp_path / "small.toml"), *words]) == 2
    assert "must be" in capsys.readouterr().err
    with pytest.raises(ValueError, match="n_workers must be"):
        run_cells([], Store(tmp_path), n_workers=0)


def test_matched_experiment_keeps_as_many_columns_as_the_other_kept(
    file, tmp_path, capsys, refused
):
    store = Store(tmp_path / "quick")
    spec = cell("autonfs:auto", seeds=(0, 1))
    store.write(done(spec, (1, 2, 3), (1, 2, 3, 4, 5)))
    match = 'match = { experiment = "quick", selector = "autonfs:auto" }'
    file.write_text(f"{CROSSED}{match}\n")
    words = ["run", str(file), "--out", str(tmp_path), "--list"]
    assert main(words) == 0
    printed = capsys.readouterr()
    assert printed.err.startswith("9 of 12 cells are left out")
    keys = printed.out.split()
    assert {key.split("--")[2] for key in keys} == {"random"}
    assert main([*words, "--scenarios", "random", "none"]) == 0
    printed = capsys.readouterr()
    assert printed.out.split() == keys
    assert "3 of 6 cells are left out, as 'quick' has no finished record" in printed.err
    experiment = read_experiment(file)
    counts = counts_kept(store.records(), "autonfs:auto")
    assert [spec.keep for spec in experiment.cells("auto", counts)] == [4, 4, 4]
    error = refused(*words[:3], tmp_path / "elsewhere", "--list")
    assert "run 'quick' first" in error


@pytest.mark.usefixtures("light_workers")
def test_stopped_run_ends_all_workers_before_it_waits_for_any(tmp_path, monkeypatch):
    started, was_alive = [], []
    start_one, end_one = processes.start_worker, processes.kill_worker

    def start(*arguments):
        started.append(start_one(*arguments))
        return started[-1]

    def end(worker):
        for other in started:
            other.process.join(30)
        was_alive.append([other.process.is_alive() for other in started])
        end_one(worker)

    def stop(_spec, what, _seconds):
        if what == "started" and sum(w.spec is not None for w in started) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(processes, "start_worker", start)
    monkeypatch.setattr(processes, "kill_worker", end)
    cells = [slow_cell(), replace(slow_cell(), scenario="corrupted")]
    with pytest.raises(KeyboardInterrupt):
        run_cells(cells, Store(tmp_path), n_workers=2, progress=stop)
    assert was_alive == [[False, False], [False, False]]
    assert list(Store(tmp_path).records()) == []


def test_collect_joins_experiments_into_one_table(tmp_path, printed):
    for name in ("a", "b"):
        Store(tmp_path / name).write(planted(cell(name)))
    out = tmp_path / "runs.parquet"
    printed("collect", tmp_path / "a", tmp_path / "b", "--out", out)
    assert pd.read_parquet(out)["selector"].tolist() == ["a", "b"]


def test_progress_shows_what_runs_and_what_is_left(tmp_path, watch):
    terminal = watch()
    words = {"retry": [], "workers": 1, "quiet": False}
    cells = [cell("none"), cell("lasso"), cell("mrmr")]
    store = Store(tmp_path)
    shown = RunProgress(cells, store, argparse.Namespace(**words))
    shown(cells[0], "started", 0.0)
    shown(cells[0], "done", 90.0)
    shown(cells[1], "running", 3700.0)
    long = f"took\nmore {'and more ' * 99}"
    store.write(replace(planted(cells[1], "timeout"), reason=long))
    shown(cells[1], "timeout", 3800.0)
    shown.close()
    starting, started, done, running, timeout, end = terminal.getvalue().split("\r")
    assert starting == "starting ..."
    assert started.endswith("wine random none mlp started")
    assert "[1/3] 0 s, 3 min 0 s left  wine random none mlp done after 90.0 s" in done
    assert running.endswith("wine random lasso mlp running for 1 h 1 min")
    _, _, reason = timeout.partition("timeout after 3800.0 s: took more and more ")
    assert reason.endswith(" ...\n")
    assert len(reason) < 250
    assert end == "\033[K"


def test_estimate_takes_the_nearest_cells():
    finished = [(cell("lasso"), 10.0), (cell("lasso"), 20.0), (cell("none"), 1.0)]
    assert remaining_seconds(finished, [cell("lasso"), cell("none")], 1) == 16.0
    assert remaining_seconds(finished, [cell("lasso")] * 4, 2) == 30.0
    mean = (10 + 20 + 1) / 3
    assert remaining_seconds(finished, [cell("forest")], 4) == pytest.approx(mean)
    assert remaining_seconds([], [cell("forest")], 1) is None


def test_worker_reads_the_commit_before_its_first_cell(tmp_path):
    here, there = multiprocessing.Pipe()
    here.send(None)  # no cell comes
    describe_environment.cache_clear()
    before = signal.getsignal(signal.SIGINT)
    try:
        with warnings.catch_warnings():
            work(there, tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    assert here.recv() == "ready"
    assert describe_environment.cache_info().currsize == 1


@pytest.mark.parametrize(
    ("worker", "ending"), [(leave_thread, "done"), (half_write, "failed")]
)
def test_worker_that_leaves_a_thread_or_half_a_record_is_ended(
    tmp_path, monkeypatch, worker, ending
):
    monkeypatch.setattr(processes, "work_there", worker)
    monkeypatch.setattr(processes, "FAREWELL_SECONDS", 0.5)
    assert run_cells([cell("none")], Store(tmp_path)) == {ending: 1}
    assert not multiprocessing.active_children()
    names = [path.suffix for path in (tmp_path / "records").iterdir()]
    assert names == [".json"] * (worker is half_write)
