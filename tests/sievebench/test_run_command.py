"""`sievebench run`: what does not fit is one line, before any work and any record."""

import json
import re
import sys

import pytest

from sievebench.cli import main
from sievebench.run_spec import RunSpec
from sievebench.runner._processes import ProcessRunner
from sievebench.store import RunRecord, Store

SMALL = """
profile = "smoke"
n_trials = 0
datasets = ["wine"]
scenarios = ["random"]
selectors = ["univariate"]
downstream_settings = { max_epochs = 3 }
"""
CELL = RunSpec(
    "wine", "random", "univariate", downstream_settings={"max_epochs": 3}, n_trials=0
)


@pytest.fixture
def no_work(monkeypatch):
    """Let the test fail if a process would be started."""

    def begin(*_):
        raise AssertionError("work was begun")

    monkeypatch.setattr(ProcessRunner, "run", begin)


@pytest.fixture
def run(tmp_path, capsys):
    """Return a function that runs the command: status, and the lines of the error."""

    def run_it(text, *words, out=tmp_path / "out"):
        file = tmp_path / "small.toml"
        file.write_text(text)
        status = main(["run", str(file), "--out", str(out), *words])
        return status, capsys.readouterr().err.splitlines()

    return run_it


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"wine"', '"whine"', "there is no data set 'whine'; did you mean 'wine'?"),
        ('"wine"', '"made:5x5"', "a made table must be 'made:ROWSxCOLUMNS'"),
        ('"random"', '"randm"', "there is no scenario 'randm'; did you mean 'random'?"),
        (
            '"univariate"',
            '"forrest:deep"',
            "there is no selector 'forrest'; did you mean 'forest'?",
        ),
        (
            '"univariate"',
            '{ name = "forest", settings = { n_trees = 3 } }',
            "selector 'forest' has no setting 'n_trees'; there are 'max_depth'",
        ),
        (
            '"univariate"',
            '{ name = "forest", vary = { depth = [3] } }',
            "selector 'forest' has no setting 'depth'; did you mean 'max_depth'?",
        ),
        (
            '"univariate"',
            '{ name = "forest", settings = { n_features_to_select = 3 } }',
            "selector 'forest' has no setting 'n_features_to_select'",
        ),
        (
            '"univariate"',
            '{ name = "forest", keep = 100 }',
            "keep must be at most 26, the columns of 'wine' in scenario 'random', got "
            "100 for selector 'forest'.",
        ),
        (
            "max_epochs",
            "max_epoch",
            "downstream 'mlp' has no setting 'max_epoch'; did you mean 'max_epochs'?",
        ),
        (
            "n_trials = 0",
            'n_trials = 0\ndownstream = ["mpl"]',
            "there is no downstream 'mpl'; did you mean 'mlp'?",
        ),
        (
            "n_trials = 0",
            "n_trials = 0\nnoise_fraction = 0.95",
            "noise_fraction must be between 0 and 0.9, got 0.95.",
        ),
    ],
)
def test_what_does_not_exist_is_refused_before_any_work(
    run, tmp_path, old, new, message
):
    assert old in SMALL
    status, (line,) = run(SMALL.replace(old, new))
    assert status == 2
    assert line.startswith(f"sievebench: error: {message}")
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--datasets", "whine"], "has no dataset 'whine'; did you mean 'wine'?"),
        (["--scenarios", "none"], "has no scenario 'none'; there are 'random'."),
        (["--device", "gpu"], "device must be 'auto' or .* got 'gpu'"),
        (["--device", "xpu"], "device='xpu' is not available here"),
        (["--table", "t.xlsx"], "--table: t.xlsx must end in .csv or .parquet."),
        (["--table", "nowhere/t.csv"], "--table: there is no folder"),
    ],
)
def test_argument_that_does_not_fit_is_refused_before_any_work(
    run, tmp_path, words, message
):
    status, (line,) = run(SMALL, *words)
    assert status == 2
    assert not (tmp_path / "out").exists()
    assert re.search(message, line), line


@pytest.mark.usefixtures("no_work")
def test_data_folder_that_is_not_there_is_refused(run, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("FEATURESIEVE_DATA", str(tmp_path / "nowhere"))
    status, (line,) = run(SMALL)
    assert status == 2
    assert "FEATURESIEVE_DATA must name a folder that exists, got" in line
    assert "nowhere" in line
    assert main(["data", "list"]) == 2
    assert capsys.readouterr().err.strip() == line


@pytest.mark.usefixtures("no_work")
def test_folder_that_cannot_be_written_is_refused(run, tmp_path):
    (tmp_path / "file").write_text("")
    status, lines = run(SMALL, out=tmp_path / "file")
    assert status == 2
    assert lines[-1].startswith("sievebench: error: no record can be written into")
    assert len(lines) == 1


@pytest.mark.usefixtures("no_work")
@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
def test_folder_that_cannot_be_made_is_refused(run):
    status, (line,) = run(SMALL, out="/proc/nowhere")
    assert status == 2
    assert "/proc/nowhere/small/records" in line


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("text", ["", "[]", "null", '{"version": 1, "key": ""}'])
def test_damaged_record_is_named(run, tmp_path, text):
    path = Store(tmp_path / "out" / "small").write(
        RunRecord(CELL, "failed", reason="planted")
    )
    path.write_text(text)
    status, (line,) = run(SMALL)
    assert status == 2
    assert line.startswith(f"sievebench: error: {path} is no record")
    assert path.read_text() == text


def test_cells_that_are_not_done_are_counted_and_can_be_retried(
    run, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(ProcessRunner, "run", lambda *_: None)
    store = Store(tmp_path / "out" / "small")
    store.write(RunRecord(CELL, "skipped", reason="planted"))
    status, lines = run(SMALL)
    assert status == 0
    assert lines == ["1 of 1 cells are there (1 skipped)"]
    assert (
        main(["run", str(tmp_path / "small.toml"), "--out", str(tmp_path / "out")]) == 0
    )
    assert capsys.readouterr().out.splitlines()[-1] == (
        "Cells that are not done are run again with --retry skipped."
    )


def test_reason_of_a_failure_is_shown(run, tmp_path):
    text = SMALL.replace("max_epochs = 3", "max_epochs = -3")
    status, lines = run(text)
    assert status == 1
    (line,) = [line for line in lines if "failed" in line]
    (record,) = Store(tmp_path / "out" / "small").records()
    assert record.reason[:40] in line


@pytest.mark.parametrize(
    ("make", "out", "message"),
    [
        ("record", "t.xyz", "t.xyz must end in .csv or .parquet."),
        ("record", "nowhere/t.csv", "--out: there is no folder"),
        ("damaged", "t.csv", ".json is no record"),
        ("empty", "t.csv", "holds no records"),
    ],
)
def test_collect_refuses_in_one_line(tmp_path, capsys, make, out, message):
    store = Store(tmp_path / "small")
    store.make()
    if make != "empty":
        path = store.write(RunRecord(CELL, "failed", reason="planted"))
    if make == "damaged":
        path.write_text(json.dumps({"version": 1}))
    assert main(["collect", str(store.folder), "--out", str(tmp_path / out)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert not (tmp_path / out).exists()


def test_report_says_that_there_are_no_records(tmp_path, capsys):
    Store(tmp_path / "small").make()
    assert main(["report", str(tmp_path / "small"), "--list"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "small holds no records" in line
