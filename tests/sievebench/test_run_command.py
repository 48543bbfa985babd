import json
import re
import sys

import pytest
from made_cells import SMALL, cell, planted
from made_workers import fail

from sievebench.cli import main
from sievebench.store import Store


@pytest.fixture
def run_words(tmp_path):
    """Return a function that gives the words which run an experiment."""

    def words(text=SMALL, *more, out=tmp_path / "out"):
        file = tmp_path / "small.toml"
        file.write_text(text)
        return ["run", str(file), "--out", str(out), *more]

    return words


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"wine"', '"whine"', "there is no data set 'whine'; did you mean 'wine'?"),
        ('"wine"', '"made:5x5"', "a made table must be 'made:ROWSxCOLUMNS'"),
        ('"random"', '"randm"', "there is no scenario 'randm'; did you mean 'random'?"),
        *(
            ('"univariate"', row, message)
            for row, message in (
                (
                    '"forrest:deep"',
                    "there is no selector 'forrest'; did you mean 'fore",
                ),
                (
                    '{ name = "forest", settings = { n_trees = 3 } }',
                    "selector 'forest' has no setting 'n_trees'; there are 'max_depth'",
                ),
                (
                    '{ name = "forest", vary = { depth = [3] } }',
                    "selector 'forest' has no setting 'depth'; did you mean 'max_dep",
                ),
                (
                    '{ name = "lasso", vary = { n_features_to_select = [3] } }',
                    "selector 'lasso' has no setting 'n_features_to_select'",
                ),
                (
                    '{ name = "forest", keep = 100 }',
                    "keep must be at most 26, the columns of 'wine' in scenario "
                    "'random', got 100 for selector 'forest'.",
                ),
            )
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
    run_words, refused, tmp_path, old, new, message
):
    assert old in SMALL
    line = refused(*run_words(SMALL.replace(old, new)))
    assert line.startswith(f"sievebench: error: {message}")
    assert not (tmp_path / "out").exists()


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
    run_words, refused, tmp_path, words, message
):
    line = refused(*run_words(SMALL, *words))
    assert not (tmp_path / "out").exists()
    assert re.search(message, line), line


def test_folder_that_cannot_be_written_or_made_is_refused(run_words, refused, tmp_path):
    (tmp_path / "file").write_text("")
    folders = [tmp_path / "file"]
    folders += ["/proc/nowhere"] if sys.platform == "linux" else []
    for folder in folders:
        line = refused(*run_words(out=folder))
        message = f"no record can be written into {folder}/small/records"
        assert line.startswith(f"sievebench: error: {message}")


def test_data_folder_that_is_not_there_is_refused(
    run_words, refused, monkeypatch, tmp_path
):
    monkeypatch.setenv("FEATURESIEVE_DATA", str(tmp_path / "nowhere"))
    line = refused(*run_words())
    assert "FEATURESIEVE_DATA must name a folder that exists, got" in line
    assert "nowhere" in line
    assert refused("data", "list") == line


@pytest.mark.parametrize("text", ["", "[]", "null", '{"version": 1, "key": ""}'])
def test_damaged_record_is_named(run_words, refused, tmp_path, text):
    path = Store(tmp_path / "out" / "small").write(planted(cell()))
    path.write_text(text)
    line = refused(*run_words())
    assert line.startswith(f"sievebench: error: {path} is no record")
    assert path.read_text() == text


def test_cells_that_are_not_done_are_counted_and_can_be_retried(
    run_words, tmp_path, capsys
):
    Store(tmp_path / "out" / "small").write(planted(cell(), "skipped"))
    assert main(run_words()) == 0
    said = capsys.readouterr()
    assert said.err.splitlines() == ["1 of 1 cells are there (1 skipped)"]
    assert said.out.splitlines()[-1] == (
        "Cells that are not done are run again with --retry skipped."
    )


def test_reason_of_a_failure_is_shown(run_words, monkeypatch, capsys):
    monkeypatch.setattr("sievebench.runner.processes.work_there", fail)
    assert main(run_words()) == 1
    lines = capsys.readouterr().err.splitlines()
    (line,) = [line for line in lines if "failed" in line]
    assert line.endswith("planted")


@pytest.mark.parametrize(
    ("make", "out", "message"),
    [
        ("record", "t.xyz", "t.xyz must end in .csv or .parquet."),
        ("record", "nowhere/t.csv", "--out: there is no folder"),
        ("damaged", "t.csv", ".json is no record"),
        ("empty", "t.csv", "holds no records"),
    ],
)
def test_collect_refuses_in_one_line(tmp_path, refused, make, out, message):
    store = Store(tmp_path / "small")
    store.make()
    if make != "empty":
        path = store.write(planted(cell()))
    if make == "damaged":
        path.write_text(json.dumps({"version": 1}))
    assert message in refused("collect", store.folder, "--out", tmp_path / out)
    if make == "empty":
        assert message in refused("report", store.folder, "--list")
    assert not (tmp_path / out).exists()
