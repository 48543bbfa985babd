"""``sievebench data``: what it prints, and its exit status."""

import io
import time
from dataclasses import replace

import numpy as np
import pytest
import scipy.io
from local_server import local_server

import sievebench.data._loading as loading
from sievebench.cli import main
from sievebench.data import find_entry


@pytest.fixture(autouse=True)
def empty_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("FEATURESIEVE_DATA", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    return tmp_path


def test_list_says_what_is_at_hand(capsys):
    assert main(["data", "list", "diabetes", "otto", "eye"]) == 0
    _, diabetes, otto, eye = capsys.readouterr().out.splitlines()
    assert diabetes.split()[:4] == ["diabetes", "442", "10", "-"]
    assert diabetes.endswith("with scikit-learn")
    assert "no: Kaggle wants an account" in otto
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
    assert "eye: no, to be downloaded" in printed.out
    assert "was expected" in printed.err


def test_fetch_says_where_to_get_what_no_program_can_fetch(capsys):
    assert main(["data", "fetch", "otto", "wine"]) == 1
    printed = capsys.readouterr()
    assert "otto: otto cannot be downloaded by a program: Kaggle" in printed.err
    assert "put it as tabular/otto.parquet" in printed.err
    assert "wine: at hand already" in printed.out


def test_cohort_whose_question_is_not_known_says_so(capsys):
    assert main(["data", "list", "KeohaneDM_2020"]) == 0
    assert "all 117 published samples are controls" in capsys.readouterr().out
    assert main(["data", "fetch", "KeohaneDM_2020"]) == 1
    assert "does not say which two groups" in capsys.readouterr().err


class Terminal(io.StringIO):
    """Standard error of a user who is watching."""

    def isatty(self):
        return True


def test_fetch_shows_a_bar_and_why_it_tries_again(monkeypatch, capsys):
    watched = Terminal()
    monkeypatch.setattr("sys.stderr", watched)
    body = io.BytesIO()
    scipy.io.savemat(body, {"X": np.zeros((6, 3)), "Y": np.arange(6) % 2})
    with local_server() as site:
        site.files["/a.mat"], site.failures["/a.mat"] = body.getvalue(), 1
        source = {"kind": "matlab", "url": f"{site.address}/a.mat"}
        entry = replace(
            find_entry("madelon"), n_rows=6, n_columns=3, source=source, relevant=()
        )
        monkeypatch.setattr(loading, "find_entry", lambda _: entry)
        monkeypatch.setattr(time, "sleep", lambda _: None)
        assert main(["data", "fetch", "madelon"]) == 0
    shown = watched.getvalue()
    assert "the server answers 500" in shown
    assert "attempt 2 of 4" in shown
    assert "(100%)" in shown
    assert shown.endswith("\r\033[K")
    assert "madelon.parquet" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [(["fetch"], "say which"), (["list", "wines"], "did you mean 'wine'")],
)
def test_wrong_words_are_refused(capsys, words, message):
    assert main(["data", *words]) == 2
    assert message in capsys.readouterr().err
