import json
import math
import os
import re
from dataclasses import replace

import pytest

from sievebench.analysis.schema import check_runs
from sievebench.environment import describe_environment
from sievebench.run_spec import RunSpec
from sievebench.store import (
    DatasetFacts,
    RunRecord,
    RunResult,
    Store,
    collect,
    find_stores,
)

SPEC = RunSpec("higgs", "random", "autonfs:auto", seeds=(0, 1))
FACTS = DatasetFacts(100, 4, 8, "roc_auc", is_sample=True, checksum="ab")
RUNS = tuple(
    RunResult(seed, 0.5 + seed / 10, 0.6, (0, 3, 5), 1, 2.5, 1.5) for seed in (0, 1)
)
DONE = RunRecord(
    SPEC, "done", facts=FACTS, runs=RUNS, tuning={"score": 0.6}, seconds=9.0
)
FAILED = RunRecord(replace(SPEC, selector="lasso"), "failed", reason="E: no")


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "small")


@pytest.fixture
def path(store):
    return store.write(DONE)


def test_record_survives_the_store(store):
    store.write(DONE)
    assert store.read(SPEC) == DONE
    assert store.read(FAILED.spec) is None
    assert list(store.records()) == [DONE]


def test_record_describes_itself_with_columns_on_one_line():
    run = replace(RUNS[0], decision={"balance": 0.1, "path": [{"n_kept": 3}]})
    reason = "took [\n 1,\n 2\n] and [ 3 ]"
    record = replace(DONE, runs=(run, RUNS[1]), reason=reason)
    text = record.to_json()
    assert RunRecord.from_json(text) == record
    assert '"kept": [0, 3, 5]' in text
    values = json.loads(text)
    assert values["spec"]["dataset"] == "higgs"
    assert values["facts"]["is_sample"] is True
    assert values["reason"] == reason
    first, second = values["runs"]
    assert (first["kept"], first["decision"]["balance"]) == ([0, 3, 5], 0.1)
    assert "decision" not in second
    assert {"commit", "versions", "device"} <= set(values["environment"])
    assert "torch" in values["environment"]["versions"]


def test_commit_can_be_named_where_there_is_no_history(monkeypatch):
    monkeypatch.setenv("FEATURESIEVE_COMMIT", "0123456789ab")
    describe_environment.cache_clear()
    try:
        assert describe_environment()["commit"] == "0123456789ab"
    finally:
        describe_environment.cache_clear()


def test_writing_again_replaces_and_leaves_no_part(store):
    store.write(RunRecord(SPEC, "timeout", reason="late"))
    path = store.write(DONE)
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert store.read(SPEC).status == "done"


def test_unfinished_file_is_removed_when_it_is_old_and_never_read(store, path):
    old, new = (path.with_name(f"{path.name}.part-{pid}") for pid in (1, 2))
    for part in (old, new):
        part.write_text("{")
    assert list(store.records()) == [DONE]
    os.utime(old, (0, 0))
    store.make()
    assert sorted(path.parent.iterdir()) == [path, new]


def without(key):
    values = json.loads(DONE.to_json())
    del values[key]
    return json.dumps(values)


def changed(*keys, value):
    """Return a record as text with another value somewhere."""
    values = json.loads(DONE.to_json())
    inner = values
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    return json.dumps(values)


NO_RECORDS = [
    *("", "[]", "null", "{}", DONE.to_json()[:200], "\x00\x01"),
    *("[" * 100_000, "\udcff"),
    *map(without, ("spec", "key", "version", "status")),
    changed("version", value=2),
    *(changed("runs", value=[3]), changed("facts", value=3), changed("spec", value=[])),
    *(changed("status", value=value) for value in ([], "over")),
    *(changed("seconds", value=value) for value in ("1", None, True, [])),
    *(changed("facts", "n_rows", value=value) for value in ("3", 1.5, None)),
    *(changed("facts", "metric", value=value) for value in (3, None)),
    *(changed("runs", 0, "score", value=value) for value in ("high", [0.5], True)),
    *(changed("runs", 0, "kept", value=value) for value in ("123", [0.5], [[1]])),
    *(changed("spec", "seeds", value=value) for value in ([0, "1"], "01", 3)),
    *(changed("spec", "n_trials", value=value) for value in ("0", None)),
    *(changed("spec", "selector_settings", value=value) for value in ([], None)),
    *(changed(name, value=[1]) for name in ("environment", "tuning", "reason")),
]


# Numbered: the text has a time, and parallel workers must find the same names.
@pytest.mark.parametrize("text", NO_RECORDS, ids=range(len(NO_RECORDS)))
def test_file_that_is_no_record_is_named(store, path, text):
    path.write_bytes(text.encode(errors="surrogateescape"))  # one is no text
    message = f"{re.escape(path.name)} is no record"
    with pytest.raises(ValueError, match=message):
        list(store.records())
    with pytest.raises(ValueError, match=message):
        store.read(SPEC)


def test_folder_without_records_or_that_cannot_be_written_is_named(tmp_path):
    Store(tmp_path / "empty").make()
    assert list((tmp_path / "empty" / "records").iterdir()) == []
    with pytest.raises(ValueError, match="empty holds no records"):
        find_stores(tmp_path / "empty")
    Store(tmp_path / "full").write(DONE)
    assert [store.folder.name for store in find_stores(tmp_path)] == ["full"]
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"no record can be written into .*file.small"):
        Store(tmp_path / "file" / "small").make()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"status": "done"}, "one run for each seed"),
        ({"status": "failed"}, "needs a reason"),
        ({"status": "lost", "reason": "x"}, "status must be one of"),
    ],
)
def test_record_that_contradicts_itself_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        RunRecord(SPEC, **arguments)


def test_table_is_what_the_analysis_expects():
    table = check_runs(collect([DONE, FAILED]))
    assert len(table) == 4
    first = table.iloc[0]
    assert (first["n_kept"], first["n_added_kept"]) == (3, 1)
    assert (first["n_original"], first["n_features"]) == (4, 8)
    assert (first["score"], first["seconds"]) == (0.5, 2.5)
    assert first["is_sample"]
    last = table.iloc[3]
    assert (last["status"], last["reason"]) == ("failed", "E: no")
    assert math.isnan(last["score"])
