"""Workers that do not end by themselves, or end in the middle of a record."""

import multiprocessing
import os
import threading

from featuresieve.files import draft_prefix
from sievebench.run_spec import RunSpec
from sievebench.runner import processes, run_cells
from sievebench.store import Store

CELL = RunSpec("wine", "random", "none")


def leave_thread(pipe, *_):
    """Work as `work` does, for no cell, and leave a thread that never ends."""
    threading.Thread(target=threading.Event().wait, daemon=False).start()
    pipe.send("ready")
    pipe.recv()
    pipe.send("done")
    pipe.recv()


def test_worker_with_a_thread_that_never_ends_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "work_there", leave_thread)
    monkeypatch.setattr(processes, "FAREWELL_SECONDS", 0.5)
    assert run_cells([CELL], Store(tmp_path)) == {"done": 1}
    assert not multiprocessing.active_children()


def half_write(pipe, folder, _):
    """Be killed while a record is written."""
    pipe.send("ready")
    path = Store(folder).path_of(pipe.recv())
    draft = f"{draft_prefix(path)}abcdefgh.part-{os.getpid()}"
    path.with_name(draft).write_text("{")
    os.kill(os.getpid(), 9)


def test_record_that_a_dead_worker_half_wrote_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "work_there", half_write)
    assert run_cells([CELL], Store(tmp_path)) == {"failed": 1}
    names = [path.suffix for path in (tmp_path / "records").iterdir()]
    assert names == [".json"]
