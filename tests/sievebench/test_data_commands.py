"""``sievebench data``: what it prints, and its exit status."""

import pytest

from sievebench.cli import main


@pytest.fixture(autouse=True)
def empty_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("FEATURESIEVE_DATA", str(tmp_path / "data"))
    return tmp_path


def test_list_says_what_is_at_hand(capsys):
    assert main(["data", "list", "diabetes", "otto", "eye"]) == 0
    _, diabetes, otto, eye = capsys.readouterr().out.splitlines()
    assert diabetes.split()[:4] == ["diabetes", "442", "10", "-"]
    assert diabetes.endswith("with scikit-learn")
    assert "kaggle" in otto
    assert eye.endswith("to be downloaded")


def test_list_names_samples(capsys, monkeypatch, damaged_sample):
    monkeypatch.setenv("FEATURESIEVE_DATA", str(damaged_sample))
    assert main(["data", "list", "higgs"]) == 0
    assert "a sample of 35298 rows" in capsys.readouterr().out


@pytest.fixture
def damaged_sample(empty_folders):
    folder = empty_folders / "data"
    (folder / "tabular").mkdir(parents=True)
    (folder / "tabular" / "higgs_small_sample.parquet").write_bytes(b"not read")
    return folder


def test_check_finds_a_damaged_file(capsys, damaged_sample):  # noqa: ARG001
    assert main(["data", "check", "higgs", "wine", "eye"]) == 1
    printed = capsys.readouterr()
    assert "wine: good (whole, 178 × 13)" in printed.out
    assert "eye: not at hand" in printed.out
    assert "was expected" in printed.err


def test_fetch_says_where_to_get_what_no_program_can_fetch(capsys):
    assert main(["data", "fetch", "otto", "wine"]) == 1
    printed = capsys.readouterr()
    assert "otto: otto cannot be downloaded by a program" in printed.err
    assert "wine: at hand already" in printed.out


@pytest.mark.parametrize(
    ("words", "message"),
    [(["fetch"], "say which"), (["list", "wines"], "did you mean 'wine'")],
)
def test_wrong_words_are_refused(capsys, words, message):
    assert main(["data", *words]) == 2
    assert message in capsys.readouterr().err
